/**
 * The corrections of a query: which of its mistyped words are taken for which words of the catalog.
 * The words of `author` are corrected among those of authors. `index/find-corrections.ts` finds the
 * corrections. Pure.
 */
import type { Word } from '../../base/text/words.ts';
import { tokenizeFolded } from '../../base/text/words.ts';
import type { BookFilter } from './book-filter.ts';
import type { Clause } from './words.ts';

/** The conditions whose words are corrected, by where these are looked for. */
export const CORRECTED_PLACES = ['anyText', 'author'] as const;
export type CorrectedPlace = (typeof CORRECTED_PLACES)[number];

/** The words of the catalog that replace words of a condition, which are the keys; both folded. */
export type WordCorrections = ReadonlyMap<string, string>;
export type Corrections = ReadonlyMap<CorrectedPlace, WordCorrections>;

export const NO_CORRECTIONS: Corrections = new Map();

const LETTERS_MIN = 4;
// Words of so many letters and more may have two mistakes, shorter ones one.
const LONG_WORD_LETTERS = 8;
const LETTERS = /^[\p{L}\p{M}]+$/u;

/**
 * The words looked for in the place that may be corrected. A number is none of them: its neighbour
 * is another number, not what was meant. Nor is a name with signs, nor a word of a script without
 * spaces, which the index has in pairs.
 */
export function findCorrectableWords(
  { words }: Pick<BookFilter, 'words'>, place: CorrectedPlace,
): readonly string[] {
  const clauses = words.filter(({ row }) => row.place === place).flatMap(({ wanted }) => wanted);
  const texts = clauses.flat(3).filter(isCorrectable).map(({ text }) => text);
  return [...new Set(texts)];
}

/** The largest distance at which a word is corrected. */
export function correctionDistanceMax(word: string): number {
  return countLetters(word) < LONG_WORD_LETTERS ? 1 : 2;
}

/** The clauses with the corrections in the place of the words. */
export function correctClauses(
  clauses: readonly Clause[], corrections: WordCorrections,
): readonly Clause[] {
  const correctWord = (word: Word): Word => {
    const text = word.isUnspaced ? undefined : corrections.get(word.text);
    return text === undefined ? word : { ...word, text };
  };
  return clauses.map((clause) => clause.map((words) => words.map(correctWord)));
}

/** The header `X-Search-Corrected`, as names and values in turn; none without corrections. */
export function formatCorrectionHeader(corrections: Corrections): readonly string[] {
  if (corrections.size === 0) return [];
  const pairs = listPairs(corrections).map((pair) => pair.map(encodeURIComponent).join('='));
  // Two conditions may have the same word.
  return ['X-Search-Corrected', [...new Set(pairs)].join(', ')];
}

/** Each corrected word with its correction, those of `q` first. */
export function listPairs(
  corrections: Corrections,
): readonly (readonly [word: string, correction: string])[] {
  return CORRECTED_PLACES.flatMap((place) => [...corrections.get(place) ?? []]);
}

/** The corrections as a cursor has them; see `parseCorrections`. */
export function toCursorMember(corrections: Corrections): readonly unknown[] {
  return [...corrections].map(([place, words]) => [place, ...words]);
}

/**
 * The corrections that `toCursorMember` made a member of a cursor; null when they are not those of
 * a query with this filter.
 */
export function parseCorrections(
  value: unknown, filter: Pick<BookFilter, 'words'>,
): Corrections | null {
  if (!Array.isArray(value)) return null;
  const corrections = new Map<CorrectedPlace, WordCorrections>();
  for (const member of value) {
    const [name, ...pairs]: readonly unknown[] = Array.isArray(member) ? member : [];
    const place = CORRECTED_PLACES.find((one) => one === name);
    const words = place === undefined
      ? null : parsePairs(pairs, findCorrectableWords(filter, place));
    if (place === undefined || words === null) return null;
    corrections.set(place, words);
  }
  return corrections;
}

function parsePairs(
  pairs: readonly unknown[], correctable: readonly string[],
): WordCorrections | null {
  const corrections = new Map<string, string>();
  for (const pair of pairs) {
    const [word, correction]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof word !== 'string' || !correctable.includes(word)) return null;
    if (typeof correction !== 'string' || !isSpacedWord(correction)) return null;
    corrections.set(word, correction);
  }
  return corrections;
}

function isCorrectable({ text, isUnspaced }: Word): boolean {
  return !isUnspaced && countLetters(text) >= LETTERS_MIN && LETTERS.test(text);
}

function isSpacedWord(text: string): boolean {
  return tokenizeFolded(text).some((token) => token.text === text && !token.isUnspaced);
}

function countLetters(text: string): number {
  return [...text].length;
}
