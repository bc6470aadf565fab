/**
 * The ISBN in a text of another program, which may hold several numbers and words around them:
 * `0-441-47812-3 978-0-441-47812-5`, `ISBN: 9780441478125 (pbk.)`, or the formula `="0441478123"`
 * that keeps spreadsheets from reading a number.
 */
import { parseIsbn } from '../../isbn.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

const SEPARATORS = /[\s,;:()[\]|/="]+/;
// Enough for each edition of a work, and little to look through.
const TEXT_LENGTH_MAX = 2000;

/** The title of a book of which the ISBN alone is known. */
export function createStandInTitle(isbn: string): string {
  return `ISBN ${isbn}`;
}

// `9.78E+12` or nine digits and more, but not the eight of an ISSN.
const LIKE_ISBN = /^[^0-9]*[0-9](?:[-. ]?[0-9]){8}|[0-9]E\+/i;

const ROUNDED_LENGTH_MAX = 20;
const ROUNDED = /^[0-9](?:[.,][0-9]+)?E\+[0-9]+$/i;

/** Whether the text is a number that a spreadsheet has rounded, `9.78E+12`: it tells no book. */
export function isRounded(text: string): boolean {
  return ROUNDED.test(text.trim());
}

/** Whether the text is that ISBN, rounded: `9.78E+12` or `9,7835E+12` of `9783522202602`. */
export function isRoundingOf(text: string, isbn: string): boolean {
  if (!isRounded(text) || text.length > ROUNDED_LENGTH_MAX) return false;
  const [digits = ''] = text.trim().split(/E/i);
  const digitCount = digits.replace(/[.,]/, '').length;
  return Number(text.replace(',', '.')).toPrecision(digitCount)
    === Number(isbn).toPrecision(digitCount);
}

/**
 * The first ISBN of the texts; whole where they hold nothing but it. Where there is none, a text
 * that was meant for an ISBN, which the model refuses.
 */
export function readIsbn(texts: readonly string[]): RowValue | undefined {
  const isbns = texts.map(findIsbns);
  const [first] = isbns.flatMap(({ found }) => found);
  if (first === undefined) {
    const refused = texts.find((text) => LIKE_ISBN.test(text));
    return refused === undefined ? undefined : part(refused);
  }
  const isAll = isbns.every(({ found, isAll: isAllOfText }) =>
    isAllOfText && found.every((isbn) => isbn === first));
  return isAll ? whole(first) : part(first);
}

function findIsbns(text: string): { readonly found: readonly string[]; readonly isAll: boolean } {
  if (text.length > TEXT_LENGTH_MAX) return { found: [], isAll: false };
  const single = parseIsbn(text);
  if (single !== null) return { found: [single], isAll: true };
  const words = text.split(SEPARATORS).filter((word) => word !== '');
  const isbns = words.map(parseIsbn);
  const found = isbns.filter((isbn) => isbn !== null);
  return { found, isAll: found.length === words.length };
}
