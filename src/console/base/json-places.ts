/** Finds the values of a JSON text by their JSON Pointers, and what makes a text no JSON. Pure. */
import { parseJson } from './json-text.ts';

/** The first character of a value, and the one after its last. */
export type JsonPlace = { readonly start: number; readonly end: number };

/** Why a text is no JSON, and where. Lines and columns begin with 1. */
type JsonMistake = {
  readonly offset: number; readonly line: number; readonly column: number; readonly reason: string;
};

/** By JSON Pointers. */
type JsonPlaces = ReadonlyMap<string, JsonPlace>;

/** Finds the place of the value, or of the nearest one around it that is there. */
export function findPlace(places: JsonPlaces, pointer: string): JsonPlace | null {
  for (let shorter = pointer; ; shorter = shorter.slice(0, shorter.lastIndexOf('/'))) {
    const place = places.get(shorter);
    if (place !== undefined) return place;
    if (shorter === '') return null;
  }
}

export function findLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Also a member that stands twice is a mistake: one of the two would be lost in silence. */
export function locateJson(text: string): JsonPlaces | JsonMistake {
  const scan = new JsonScan(text);
  try {
    scan.readText();
    return scan.places;
  } catch (thrown) {
    const reason = thrown instanceof JsonMistakeError ? thrown.message : 'it is nested too deeply';
    const { offset } = scan;
    const line = findLine(text, offset);
    return { offset, line, column: offset - text.lastIndexOf('\n', offset - 1), reason };
  }
}

/**
 * `parseJson`, but its SyntaxError says where the text is wrong, as the server's errors do; `label`
 * is what the user calls the text.
 */
export function parseTypedJson(text: string, label: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    const mistake = locateJson(text);
    if (!isMistake(mistake)) throw thrown;
    const { line, column, reason } = mistake;
    throw new SyntaxError(
      `${label} is not valid JSON at line ${line}, column ${column}: ${reason}.`);
  }
}

export function isMistake(result: JsonPlaces | JsonMistake): result is JsonMistake {
  return 'reason' in result;
}

class JsonMistakeError extends Error {}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class JsonScan {
  readonly places = new Map<string, JsonPlace>();
  readonly #text: string;
  offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readText(): void {
    this.#readValue('');
    if (this.offset < this.#text.length) this.#fail('nothing may follow the end of the document');
  }

  /** Reads a value, and the space on both of its sides. */
  #readValue(pointer: string): void {
    this.#skipSpace();
    const start = this.offset;
    const first = this.#text[start];
    if (first === '{') this.#readObject(pointer);
    else if (first === '[') this.#readArray(pointer);
    else if (first === '"') this.#readString();
    else if (this.#match(LITERAL) === null) this.#fail('a value is missing here');
    this.places.set(pointer, { start, end: this.offset });
    this.#skipSpace();
  }

  #readObject(pointer: string): void {
    const names = new Set<string>();
    this.#readList('}', () => {
      const start = this.offset;
      if (this.#text[start] !== '"') this.#fail('the name of a member is missing here');
      const name: string = JSON.parse(this.#readString());
      if (names.has(name)) {
        this.offset = start;
        this.#fail(`the member "${name}" stands here for the second time`);
      }
      names.add(name);
      this.#skipSpace();
      if (!this.#take(':')) this.#fail('a colon is missing here');
      this.#readValue(`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    });
  }

  #readArray(pointer: string): void {
    let count = 0;
    this.#readList(']', () => {
      this.#readValue(`${pointer}/${count}`);
      count += 1;
    });
  }

  #readList(end: string, readItem: () => void): void {
    this.offset += 1;
    this.#skipSpace();
    if (this.#take(end)) return;
    do {
      this.#skipSpace();
      if (this.#text[this.offset] === end) this.#fail('a comma may not stand before the end');
      readItem();
    } while (this.#take(','));
    if (!this.#take(end)) this.#fail(`a comma or ${end} is missing here`);
  }

  #readString(): string {
    return this.#match(STRING) ?? this.#fail('this text has no end, or has characters that must be '
      + 'escaped');
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #take(character: string): boolean {
    if (this.#text[this.offset] !== character) return false;
    this.offset += 1;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.offset;
    const text = pattern.exec(this.#text)?.[0] ?? null;
    this.offset += text?.length ?? 0;
    return text;
  }

  #fail(reason: string): never {
    throw new JsonMistakeError(reason);
  }
}
