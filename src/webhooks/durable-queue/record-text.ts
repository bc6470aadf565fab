/**
 * Reads a text in the bytes of a stored record without parsing the record. An unescaped quote is
 * never inside a string, so a mark such as `"event":"` is found where the member is. The text
 * begins behind the mark.
 */
export const QUOTE = 0x22;

const BACKSLASH = 0x5c;

/** Reads the text that begins at `start`. */
export function readText(bytes: Buffer, start: number): string {
  const text = bytes.toString('utf8', start, findTextEnd(bytes, start));
  return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text;
}

/** Reads the text that begins at `start`, which is ASCII without escapes: an id or a time. */
export function readPlainText(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

/** Finds the quote that ends the text which begins at `start`. */
export function findTextEnd(bytes: Buffer, start: number): number {
  let end = start;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}
