/**
 * JSON from outside. Parsing is the engine's; only when that fails, or nests too deep, our own
 * scanner reads the text again to say where it is broken and what was expected there. Where a
 * double would lose digits, `exact-parser.ts` makes the value.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { AppError } from '../errors.ts';
import { parseJsonText } from './exact-parser.ts';

export const JSON_DEPTH_MAX = 64;
/** The most values that a record may have; 2 MiB of `{}` would be 700,000, and 40 MB of memory. */
const RECORD_VALUES_MAX = 100_000;

/**
 * The value of a JSON text (RFC 8259) in UTF-8, with or without a byte order mark. Of members with
 * one name the last counts. Throws `malformed` with line and column (both from 1, columns in code
 * points) for anything else, and for nesting over 64 levels.
 */
export function parseJson(bytes: Buffer): unknown {
  return parse(bytes, false);
}

/**
 * The same for a record of a file, which is mostly one line: its first line is not named, as that
 * would be taken for a line of the file. Throws `malformed` for one of too many values, too.
 */
export function parseJsonRecord(bytes: Buffer): unknown {
  return parse(bytes, true);
}

function parse(bytes: Buffer, isRecord: boolean): unknown {
  // Most is ASCII, which becomes a string in half the time.
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8';
  if (encoding === 'utf8' && !isUtf8(bytes)) {
    const position = formatPosition(bytes, validUtf8Length(bytes), isRecord);
    throw new AppError('malformed', `not valid UTF-8 at ${position}`);
  }
  const text = withoutByteOrderMark(bytes);
  const excess = findExcess(text, isRecord ? RECORD_VALUES_MAX : Infinity);
  if (excess === 'values') {
    throw new AppError('malformed', `has more than ${RECORD_VALUES_MAX} values`);
  }
  if (excess === 'depth') throw malformed(text, isRecord, undefined);
  try {
    return parseJsonText(text.toString(encoding));
  } catch (cause) {
    throw malformed(text, isRecord, cause);
  }
}

/**
 * Parses a file that a person edits, such as settings. Throws as `parseJson` does, and `malformed`
 * for two members with one name: the first would be ignored without a word.
 */
export function parseJsonStrictly(bytes: Buffer): unknown {
  const value = parseJson(bytes);
  const text = withoutByteOrderMark(bytes);
  const problem = findProblem(text, true);
  if (problem === null) return value;
  const position = formatPosition(text, problem.offset, false);
  throw new AppError('malformed', `${position}: ${problem.detail}`);
}

/**
 * Whether these bytes are a JSON object or array; null: they nest too deep to say. It makes no
 * values: those of a megabyte of `{}` take 0.2 s and twenty times its memory, and the check 10 ms.
 */
export function isJsonContainer(bytes: Buffer): boolean | null {
  const text = withoutByteOrderMark(bytes);
  const first = text[skipSpace(text, 0)];
  if ((first !== OBJECT_OPEN && first !== ARRAY_OPEN) || !isUtf8(bytes)) return false;
  return findExcess(text, Infinity) === 'depth' ? null : findProblem(text, false) === null;
}

/**
 * Says where UTF-8 text is not valid JSON, as `parseJson` does; null: it is valid. It makes no
 * values.
 */
export function explainInvalidJson(bytes: Buffer): string | null {
  const text = withoutByteOrderMark(bytes);
  // Our scanner reads no deeper; the depth itself makes no JSON invalid.
  if (findExcess(text, Infinity) === 'depth') return 'not valid JSON';
  const problem = findProblem(text, false);
  return problem === null ? null : formatProblem(text, problem, false);
}

function malformed(text: Buffer, isRecord: boolean, cause: unknown): AppError {
  const problem = findProblem(text, false);
  if (problem === null) return new AppError('malformed', 'not valid JSON', {}, cause);
  return new AppError('malformed', formatProblem(text, problem, isRecord), {}, cause);
}

function formatProblem(
  text: Buffer, { offset, detail }: SyntaxProblem, isRecord: boolean,
): string {
  return `not valid JSON at ${formatPosition(text, offset, isRecord)}: ${detail}`;
}

export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const isMarked = bytes.length >= 3
    && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;

/**
 * Names the first thing that the text has too much of. Exact for valid JSON. For other text it may
 * say anything: that is rejected anyway.
 */
function findExcess(text: Buffer, valuesMax: number): 'depth' | 'values' | null {
  let depth = 0;
  let valueCount = 1;
  for (let offset = 0; offset < text.length; offset += 1) {
    const byte = text[offset];
    if (byte === QUOTE) {
      offset = findStringEnd(text, offset + 1);
    } else if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return 'depth';
      valueCount += 1;
    } else if (byte === OBJECT_CLOSE || byte === ARRAY_CLOSE) {
      depth -= 1;
    } else if (byte === COMMA) {
      valueCount += 1;
    }
    if (valueCount > valuesMax) return 'values';
  }
  return null;
}

type SyntaxProblem = { readonly offset: number; readonly detail: string };

/** The first thing in valid UTF-8 `text` that is not JSON, or null. */
function findProblem(text: Buffer, isStrict: boolean): SyntaxProblem | null {
  try {
    const end = skipSpace(text, scanValue(text, skipSpace(text, 0), 0, isStrict));
    if (end === text.length) return null;
    return { offset: end, detail: describeMismatch(text, end, 'the end') };
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return thrown.problem;
    throw thrown;
  }
}

class JsonSyntaxError extends Error {
  readonly problem: SyntaxProblem;

  constructor(offset: number, detail: string) {
    super(detail);
    this.problem = { offset, detail };
  }
}

/** The offset after the value that begins at `offset`. */
function scanValue(text: Buffer, offset: number, depth: number, isStrict: boolean): number {
  const byte = text[offset];
  if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
    if (depth === JSON_DEPTH_MAX) {
      throw new JsonSyntaxError(offset, `nested over ${JSON_DEPTH_MAX} levels deep`);
    }
    return byte === OBJECT_OPEN
      ? scanObject(text, offset, depth + 1, isStrict)
      : scanArray(text, offset, depth + 1, isStrict);
  }
  if (byte === QUOTE) return scanString(text, offset);
  if (byte === 0x2d || isDigit(byte)) return scanNumber(text, offset);
  for (const word of WORDS) {
    if (byte === word[0] && word.every((letter, index) => text[offset + index] === letter)) {
      return offset + word.length;
    }
  }
  throw createMismatch(text, offset, 'a value');
}

const WORDS = ['true', 'false', 'null'].map((word) => [...Buffer.from(word)]);

function scanObject(text: Buffer, start: number, depth: number, isStrict: boolean): number {
  const names = isStrict ? new Set<string>() : null;
  let offset = skipSpace(text, start + 1);
  if (text[offset] === OBJECT_CLOSE) return offset + 1;
  for (;;) {
    if (text[offset] !== QUOTE) {
      throw createMismatch(text, offset, 'a member name in double quotes');
    }
    const nameEnd = scanString(text, offset);
    if (names !== null) addName(names, text, offset, nameEnd);
    offset = skipSpace(text, nameEnd);
    if (text[offset] !== COLON) throw createMismatch(text, offset, '":"');
    offset = skipSpace(text, scanValue(text, skipSpace(text, offset + 1), depth, isStrict));
    if (text[offset] === OBJECT_CLOSE) return offset + 1;
    if (text[offset] !== COMMA) throw createMismatch(text, offset, '"," or "}"');
    offset = skipSpace(text, offset + 1);
  }
}

function addName(names: Set<string>, text: Buffer, start: number, end: number): void {
  const name = String(JSON.parse(text.toString('utf8', start, end)));
  if (names.has(name)) {
    throw new JsonSyntaxError(start, `the member ${JSON.stringify(name)} stands twice`);
  }
  names.add(name);
}

function scanArray(text: Buffer, start: number, depth: number, isStrict: boolean): number {
  let offset = skipSpace(text, start + 1);
  if (text[offset] === ARRAY_CLOSE) return offset + 1;
  for (;;) {
    offset = skipSpace(text, scanValue(text, offset, depth, isStrict));
    if (text[offset] === ARRAY_CLOSE) return offset + 1;
    if (text[offset] !== COMMA) throw createMismatch(text, offset, '"," or "]"');
    offset = skipSpace(text, offset + 1);
  }
}

function scanString(text: Buffer, start: number): number {
  for (let offset = start + 1; offset < text.length; offset += 1) {
    const byte = text[offset];
    if (byte === QUOTE) return offset + 1;
    if (byte !== undefined && byte < 0x20) {
      throw new JsonSyntaxError(offset, 'a control character in a string must be escaped');
    }
    if (byte === BACKSLASH) offset = scanEscape(text, offset);
  }
  throw createMismatch(text, text.length, 'the closing quote of a string');
}

/** The offset of the last byte of the escape that begins at `offset`. */
function scanEscape(text: Buffer, offset: number): number {
  const kind = text[offset + 1];
  if (kind !== undefined && ESCAPED.includes(kind)) return offset + 1;
  const isUnicode = kind === LETTER_U;
  if (isUnicode && [2, 3, 4, 5].every((index) => isHexDigit(text[offset + index]))) {
    return offset + 5;
  }
  throw new JsonSyntaxError(offset, isUnicode
    ? 'expected four hexadecimal digits after \\u' : 'not an escape that JSON knows');
}

const ESCAPED = [...Buffer.from('"\\/bfnrt')];
const LETTER_U = 0x75;

function isHexDigit(byte: number | undefined): boolean {
  // Bit 5 makes a small letter of a capital one.
  const letter = (byte ?? 0) | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

function scanNumber(text: Buffer, start: number): number {
  const first = text[start] === 0x2d ? start + 1 : start;
  let offset = scanDigits(text, first);
  if (text[first] === 0x30 && offset > first + 1) {
    throw new JsonSyntaxError(start, 'a number must not begin with 0');
  }
  if (text[offset] === 0x2e) offset = scanDigits(text, offset + 1);
  if (text[offset] === 0x65 || text[offset] === 0x45) {
    const hasSign = text[offset + 1] === 0x2b || text[offset + 1] === 0x2d;
    offset = scanDigits(text, offset + (hasSign ? 2 : 1));
  }
  return offset;
}

function scanDigits(text: Buffer, start: number): number {
  let offset = start;
  while (isDigit(text[offset])) offset += 1;
  if (offset === start) throw createMismatch(text, start, 'a digit');
  return offset;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** The offset of the quote that closes the string of valid JSON whose first byte is at `start`. */
export function findStringEnd(text: Buffer, start: number): number {
  let offset = start;
  for (; offset < text.length; offset += 1) {
    const byte = text[offset];
    if (byte === QUOTE) return offset;
    if (byte === BACKSLASH) offset += 1;
  }
  return offset;
}

export function skipSpace(text: Buffer, start: number): number {
  let offset = start;
  while (offset < text.length && isSpace(text[offset])) offset += 1;
  return offset;
}

/** Whether a byte is white space between tokens (RFC 8259 §2). */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function createMismatch(text: Buffer, offset: number, what: string): JsonSyntaxError {
  return new JsonSyntaxError(offset, describeMismatch(text, offset, what));
}

function describeMismatch(text: Buffer, offset: number, what: string): string {
  if (offset >= text.length) return `expected ${what}, found the end of the text`;
  // Up to four bytes hold one code point, which is all that is shown of it.
  const [character = ''] = text.toString('utf8', offset, offset + 4);
  return `expected ${what}, found ${JSON.stringify(character)}`;
}

/** The line and the column, in code points, of an offset; both from 1. See `parseJsonRecord`. */
function formatPosition(bytes: Buffer, offset: number, isRecord: boolean): string {
  let line = 1;
  let lineStart = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < offset; at = bytes.indexOf(0x0a, at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  const before = bytes.toString('utf8', lineStart, offset);
  let column = 1;
  for (const _ of before) column += 1;
  return isRecord && line === 1 ? `column ${column}` : `line ${line}, column ${column}`;
}

/** How many leading bytes are whole, valid UTF-8 sequences; for bytes that are not all valid. */
function validUtf8Length(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  // The longest prefix that is valid, save perhaps for a sequence cut at its end.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isUtf8(wholeSequences(bytes, middle))) low = middle;
    else high = middle - 1;
  }
  return wholeSequences(bytes, low).length;
}

function wholeSequences(bytes: Buffer, end: number): Buffer {
  for (let back = 1; back <= 3 && back <= end; back += 1) {
    const byte = bytes[end - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    return bytes.subarray(0, sequenceLength(byte) > back ? end - back : end);
  }
  return bytes.subarray(0, end);
}

function sequenceLength(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}
