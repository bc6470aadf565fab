/**
 * Text within text: a URL in a query is percent-encoded (RFC 3986 §2.1), JSON in a JSON string is
 * escaped (RFC 8259 §7). Both are read here at once: a search has to find a text however it is
 * wrapped. Characters beyond ASCII stay encoded: no search is for them.
 */

/** `offsets[i]` is where character `i` of `text` begins in what was unescaped. */
export type UnescapedText = { readonly text: string; readonly offsets: Uint32Array };

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const ASCII_MAX = 0x7f;
const SPACE = 0x20;
/** `"`, `/` and a backslash stand for themselves behind one. */
const PLAIN_ESCAPES: ReadonlySet<number> = new Set([0x22, 0x2f, BACKSLASH]);
/** `b`, `f`, `n`, `r` and `t`: white space of some kind. */
const SPACE_ESCAPES: ReadonlySet<number> = new Set([0x62, 0x66, 0x6e, 0x72, 0x74]);

/** Removes one layer of escapes; null: `text` has none. */
export function unescapeText(text: string): UnescapedText | null {
  if (!text.includes('%') && !text.includes('\\')) return null;
  const codes = new Uint16Array(text.length);
  const offsets = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length += 1) {
    offsets[length] = at;
    const escape = readEscape(text, at);
    codes[length] = escape < 0 ? text.charCodeAt(at) : escape & ASCII_MAX;
    at += escape < 0 ? 1 : escape >> LENGTH_SHIFT;
  }
  if (length === text.length) return null;
  const bytes = Buffer.from(codes.buffer, 0, length * Uint16Array.BYTES_PER_ELEMENT);
  return { text: bytes.toString('utf16le'), offsets: offsets.subarray(0, length) };
}

// An escape is a number, which takes no memory: its ASCII character below, its length above.
const LENGTH_SHIFT = 8;
const NO_ESCAPE = -1;

function packEscape(code: number, length: number): number {
  return code > ASCII_MAX ? NO_ESCAPE : code | (length << LENGTH_SHIFT);
}

function readEscape(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === PERCENT) return readHex(text, at + 1, 2);
  if (first !== BACKSLASH) return NO_ESCAPE;
  const code = text.charCodeAt(at + 1);
  if (PLAIN_ESCAPES.has(code)) return packEscape(code, 2);
  if (SPACE_ESCAPES.has(code)) return packEscape(SPACE, 2);
  return code === LETTER_U ? readHex(text, at + 2, 4) : NO_ESCAPE;
}

/** `digits` hexadecimal digits at `at`, behind the first characters of their escape. */
function readHex(text: string, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index += 1) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return NO_ESCAPE;
    value = value * 16 + digit;
  }
  return packEscape(value, digits === 2 ? 3 : 6);
}

/** -1 for a code that is no digit, also beyond the end of a text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
