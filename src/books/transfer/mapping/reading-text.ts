/** Texts of what a book is to its reader, as the programs of readers write them. */
import type { ReadingStatus } from '../../reading-status.ts';
import { splitPieces } from './field-text.ts';
import type { TextReader } from './field-text.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

/** A program's words for the statuses of a book, in lower case. */
export type StatusWords = ReadonlyMap<string, ReadingStatus>;

/** The value of a field that a program fills though nobody said anything. */
export const NOTHING: RowValue = whole(null);

const DECIMAL = /^[0-9]{1,6}(?:[.,][0-9]{1,6})?$/;
const COUNT = /^[0-9]{1,6}$/;

/** The status that one of the words names. */
export function findStatus(words: StatusWords, text: string): ReadingStatus | undefined {
  return words.get(text.toLowerCase());
}

/** A reader of texts that are one of the words. */
export function createStatusReader(words: StatusWords): TextReader {
  return (text) => {
    const status = findStatus(words, text);
    return status === undefined ? undefined : whole(status);
  };
}

/** `***`, `★★★☆☆` and `★★★½`. */
const STARS = /^([*★⭐]{1,5})([¼½¾]?)[☆✩]{0,4}$/u;
/** `4½`, `4 ½` and `½`. */
const WITH_FRACTION = /^([0-9]?) ?([¼½¾])$/;
const FRACTIONS: ReadonlyMap<string, number> = new Map([['¼', 0.25], ['½', 0.5], ['¾', 0.75]]);
const OF_SCALE = /^([0-9]{1,2}(?:[.,][0-9]{1,2})?) ?\/ ?(5|10)$/;
const STARS_MAX = 5;

/**
 * A rating in stars, also `4½`, `4/5` and `8/10`; 0 is what programs write where nobody gave one.
 */
export function readRating(text: string): RowValue | undefined {
  const [, stars, starFraction = ''] = STARS.exec(text) ?? [];
  if (stars !== undefined) return whole([...stars].length + (FRACTIONS.get(starFraction) ?? 0));
  const [, digit, fraction = ''] = WITH_FRACTION.exec(text) ?? [];
  if (digit !== undefined) return whole(Number(digit) + (FRACTIONS.get(fraction) ?? 0));
  const [, points, scale] = OF_SCALE.exec(text) ?? [];
  if (points !== undefined) {
    return whole(Number(points.replace(',', '.')) * STARS_MAX / Number(scale));
  }
  if (!DECIMAL.test(text)) return undefined;
  const number = Number(text.replace(',', '.'));
  return number === 0 ? NOTHING : whole(number);
}

/** How often a book was read; 0 is what programs write who were not told. */
export function readReadCount(text: string): RowValue | undefined {
  if (!COUNT.test(text)) return undefined;
  const count = Number(text);
  return count === 0 ? NOTHING : whole(count);
}

/** Whether a reader has copies of the book, by their number, which more than one says more than. */
export function readCopies(text: string): RowValue | undefined {
  if (!COUNT.test(text)) return undefined;
  const count = Number(text);
  if (count === 0) return NOTHING;
  return count === 1 ? whole(true) : part(true);
}

/** The names of shelves in a text, with commas between them. */
export function splitShelves(text: string): readonly string[] {
  return splitPieces(text, ',').map((name) => name.trim()).filter((name) => name !== '');
}
