/**
 * Numbers that order texts, so that they can be sorted as numbers are. Pure.
 *
 * Titles begin alike ("the history of …"), so their first letters tell little. Splitters, which are
 * texts of a sample, divide all texts into ranges of about the same number, and what is common to
 * both ends of a range is common to all its texts. The head of a text is the number of its range
 * and the five bytes that follow what is common; its tail is the six bytes after these.
 *
 *   head = (2 × range, or 2 × splitter + 1 for the text that is a splitter) × 257⁵ + five digits
 *   tail = six digits; 0 for the text that is a splitter
 *   digit = the byte + 1, or 0 after the end, so that a text sorts before its continuations
 *
 * Texts are ordered as their heads and then as their tails. If both are the same and the last digit
 * of the tail is 0, all of them have ended and are equal; else they have to be compared.
 */
import { assert } from '../../base/assert.ts';

/** So that heads are safe integers. */
export const SPLITTERS_MAX = 2047;

const HEAD_DIGITS = 5;
const TAIL_DIGITS = 6;
const DIGIT_BASE = 257;
const RANGE_FACTOR = DIGIT_BASE ** HEAD_DIGITS;

/** Writes the head and the tail of a text at an index of the two lists. */
type WriteHead = (
  text: string, heads: Float64Array, tails: Float64Array, index: number,
) => void;

/** For byte strings (`encodeByteString`); `splitters` rise, and none stands there twice. */
export function createHeadWriter(splitters: readonly string[]): WriteHead {
  assert(splitters.length <= SPLITTERS_MAX);
  // How many bytes the texts of each range have in common.
  const commonLengths = [0, ...splitters.map((splitter, index) =>
    countCommonBytes(splitter, splitters[index + 1] ?? ''))];
  return (text, heads, tails, index) => {
    let range = 0;
    for (let end = splitters.length; range < end;) {
      const middle = (range + end) >>> 1;
      if ((splitters[middle] ?? '') < text) range = middle + 1;
      else end = middle;
    }
    if (splitters[range] === text) {
      heads[index] = (2 * range + 1) * RANGE_FACTOR;
      tails[index] = 0;
      return;
    }
    const start = commonLengths[range] ?? 0;
    heads[index] = 2 * range * RANGE_FACTOR + encodeDigits(text, start, start + HEAD_DIGITS);
    const tailStart = start + HEAD_DIGITS;
    tails[index] = encodeDigits(text, tailStart, tailStart + TAIL_DIGITS);
  };
}

/** Whether all texts with the same head and this tail are equal. */
export function isWholeText(tail: number): boolean {
  return tail % DIGIT_BASE === 0;
}

function encodeDigits(text: string, start: number, end: number): number {
  let digits = 0;
  for (let index = start; index < end; index += 1) {
    digits = digits * DIGIT_BASE + (index < text.length ? text.charCodeAt(index) + 1 : 0);
  }
  return digits;
}

function countCommonBytes(left: string, right: string): number {
  let count = 0;
  while (count < left.length && left[count] === right[count]) count += 1;
  return count;
}
