/**
 * Numbers that order texts, so that they can be sorted as numbers are. Pure.
 *
 * Titles begin alike ("the history of …"), so their first letters tell little. Splitters, which are
 * texts of a sample, divide all texts into ranges of about the same number, and what is common to
 * both ends of a range is common to all its texts. The head of a text is the number of its range
 * and the five bytes that follow what is common.
 *
 *   head = (2 × range, or 2 × splitter + 1 for the text that is a splitter) × 257⁵ + five digits
 *   digit = the byte + 1, or 0 after the end, so that a text sorts before its continuations
 *
 * Texts of different heads are ordered as their heads. Texts of one head are equal if its last
 * digit is 0, as all of them have ended; else they have to be compared.
 */
import { assert } from '../../base/assert.ts';

/** So that heads are safe integers. */
export const SPLITTERS_MAX = 2047;

const DIGITS = 5;
const DIGIT_BASE = 257;
const RANGE_FACTOR = DIGIT_BASE ** DIGITS;

/** Encodes byte strings (`encodeByteString`); `splitters` rise, and none stands there twice. */
export function createHeadEncoder(splitters: readonly string[]): (text: string) => number {
  assert(splitters.length <= SPLITTERS_MAX);
  // How many bytes the texts of each range have in common.
  const commonLengths = [0, ...splitters.map((splitter, index) =>
    countCommonBytes(splitter, splitters[index + 1] ?? ''))];
  return (text) => {
    let range = 0;
    for (let end = splitters.length; range < end;) {
      const middle = (range + end) >>> 1;
      if ((splitters[middle] ?? '') < text) range = middle + 1;
      else end = middle;
    }
    if (splitters[range] === text) return (2 * range + 1) * RANGE_FACTOR;
    return 2 * range * RANGE_FACTOR + encodeDigits(text, commonLengths[range] ?? 0);
  };
}

/** Whether all texts with this head are equal. */
export function isWholeText(head: number): boolean {
  return head % DIGIT_BASE === 0;
}

function encodeDigits(text: string, start: number): number {
  let digits = 0;
  for (let index = start; index < start + DIGITS; index += 1) {
    digits = digits * DIGIT_BASE + (index < text.length ? text.charCodeAt(index) + 1 : 0);
  }
  return digits;
}

function countCommonBytes(left: string, right: string): number {
  let count = 0;
  while (count < left.length && left[count] === right[count]) count += 1;
  return count;
}
