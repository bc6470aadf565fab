/**
 * Parses JSON texts without losing digits (exact-number.ts). The engine's parser reads every text:
 * it says whether the text is valid. Ours makes the value where a number needs its text; it takes
 * about twice as long, does not recurse, and relies on the text being valid.
 *
 * Measured: to look for such numbers takes 0.2 µs for a text of 130 bytes, which the engine parses
 * in 0.5 µs, and 1.3 ms for 1 MiB of such texts, which it parses in 3.6 ms.
 */
import { ExactNumber, parseNumber } from '../exact-number.ts';
import type { JsonValue } from '../schema.ts';

/** Matches before a number in JSON. In a string it may match before any digits. */
const START = String.raw`(?:["\s]:|[,[\s]|^)`;
/** Numbers that are more than an integer of at most 15 digits. */
const LONG_NUMBER = new RegExp(`${START}(?:-?\\d+[.eE]|-?\\d{16}|-0)`);
/** Numbers that may lose digits: long ones, exponents, zeros at the end and after the point, -0. */
const LOSSY_NUMBER = new RegExp(
  `${START}(-?(?:[\\d.]{16}|\\d+(?:\\.\\d*0(?!\\d)|(?:\\.\\d+)?[eE]|\\.0{6}|(?<=-0)(?!\\.)))`
    + '[-+.\\deE]*)', 'g');

/**
 * The value of a JSON text, however deep it nests; numbers may be `ExactNumber`. Throws the
 * SyntaxError of `JSON.parse`.
 */
export function parseJsonText(text: string): JsonValue {
  if (!LONG_NUMBER.test(text) || !losesDigits(text)) return JSON.parse(text);
  assertJson(text);
  return new ExactParser(text).parse() as JsonValue;
}

// A function of its own: nothing may hold the value meanwhile.
function assertJson(text: string): void {
  JSON.parse(text);
}

/** Whether a double would lose digits of a number, or of one in a string. */
function losesDigits(text: string): boolean {
  for (const [, number = ''] of text.matchAll(LOSSY_NUMBER)) {
    if (parseNumber(number) instanceof ExactNumber) return true;
  }
  return false;
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const ARRAY_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const ARRAY_CLOSE = 0x5d;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;

type Container = unknown[] | Record<string, unknown>;

/** Reads one valid JSON text: white space, commas and most colons tell nothing in it. */
class ExactParser {
  readonly #text: string;
  #at = 0;
  /** The root stands in an array of its own. */
  readonly #roots: unknown[] = [];
  #container: Container = this.#roots;
  readonly #outerContainers: Container[] = [];
  /** The name of the member whose value is next. */
  #name = '';

  constructor(text: string) {
    this.#text = text;
  }

  parse(): unknown {
    const text = this.#text;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) this.#readString();
      else if (code === MINUS || isDigit(code)) this.#readNumber();
      else if (code === OBJECT_OPEN) this.#open({});
      else if (code === ARRAY_OPEN) this.#open([]);
      else if (code === OBJECT_CLOSE || code === ARRAY_CLOSE) this.#close();
      else if (code === LOWER_T) this.#addWord(true);
      else if (code === LOWER_F) this.#addWord(false);
      else if (code === LOWER_N) this.#addWord(null);
      else this.#at += 1;
    }
    return this.#roots[0];
  }

  #open(container: Container): void {
    this.#add(container);
    this.#outerContainers.push(this.#container);
    this.#container = container;
    this.#at += 1;
  }

  #close(): void {
    this.#container = this.#outerContainers.pop() ?? this.#roots;
    this.#at += 1;
  }

  #addWord(value: boolean | null): void {
    this.#add(value);
    this.#at += String(value).length;
  }

  #readNumber(): void {
    const start = this.#at;
    while (isInNumber(this.#text.charCodeAt(this.#at))) this.#at += 1;
    this.#add(parseNumber(this.#text.slice(start, this.#at)));
  }

  #readString(): void {
    const text = this.#text;
    const start = this.#at;
    let end = text.indexOf('"', start + 1);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    const content = text.slice(start + 1, end);
    const value = content.includes('\\') ? String(JSON.parse(`"${content}"`)) : content;
    this.#at = end + 1;
    if (!Array.isArray(this.#container) && this.#skipColon()) this.#name = value;
    else this.#add(value);
  }

  #skipColon(): boolean {
    let at = this.#at;
    while (this.#text.charCodeAt(at) <= SPACE) at += 1;
    if (this.#text.charCodeAt(at) !== COLON) return false;
    this.#at = at + 1;
    return true;
  }

  #add(value: unknown): void {
    const container = this.#container;
    if (Array.isArray(container)) {
      container.push(value);
    } else if (this.#name === '__proto__') {
      // A member like any other, as the engine has it.
      Object.defineProperty(container, this.#name, {
        value, writable: true, enumerable: true, configurable: true,
      });
    } else {
      container[this.#name] = value;
    }
  }
}

const SPACE = 0x20;

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

function isInNumber(code: number): boolean {
  return isDigit(code) || code === POINT || code === LOWER_E || code === UPPER_E || code === MINUS
    || code === PLUS;
}

/** Whether the quote at `end` belongs to an escape. */
function isEscaped(text: string, end: number): boolean {
  let count = 0;
  while (text.charCodeAt(end - 1 - count) === BACKSLASH) count += 1;
  return count % 2 === 1;
}
