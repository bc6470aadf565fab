/**
 * Finds where values end in the bytes of a stored book, which are JSON without space between tokens
 * (`resources/record.ts`). Pure.
 */
import { findStringEnd } from '../../base/json/parse.ts';

const QUOTE = 0x22;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const COMMA = 0x2c;

/** The index after the value whose first byte is at `start`. */
export function findValueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return findStringEnd(bytes, start + 1) + 1;
  if (first === BRACE || first === BRACKET) return findNestingEnd(bytes, start + 1);
  let at = start;
  while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== BRACE_END) at += 1;
  return at;
}

/** The index after the object or array that `start` is in. */
export function findNestingEnd(bytes: Buffer, start: number): number {
  let depth = 1;
  let at = start;
  for (; at < bytes.length && depth > 0; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at + 1);
    else if (byte === BRACE || byte === BRACKET) depth += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) depth -= 1;
  }
  return at;
}
