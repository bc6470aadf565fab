/**
 * The corrections of a query: which of its mistyped words are taken for which words of the catalog.
 * `index/find-corrections.ts` finds them. Pure.
 */
import type { Word } from '../../base/text/words.ts';
import { tokenizeFolded } from '../../base/text/words.ts';
import type { Clause } from './words.ts';

/** The words of the catalog that replace words of `q`, which are the keys; both folded. */
export type Corrections = ReadonlyMap<string, string>;

export const NO_CORRECTIONS: Corrections = new Map();

const LETTERS_MIN = 4;
// Words of so many letters and more may have two mistakes, shorter ones one.
const LONG_WORD_LETTERS = 8;
const LETTERS = /^[\p{L}\p{M}]+$/u;

/**
 * The words of `q` that may be corrected. A number is none of them: its neighbour is another
 * number, not what was meant. Nor is a name with signs, nor a word of a script without spaces,
 * which the index has in pairs.
 */
export function findCorrectableWords(clauses: readonly Clause[]): readonly string[] {
  const texts = clauses.flat(2).filter(isCorrectable).map(({ text }) => text);
  return [...new Set(texts)];
}

/** The largest distance at which a word is corrected. */
export function correctionDistanceMax(word: string): number {
  return countLetters(word) < LONG_WORD_LETTERS ? 1 : 2;
}

/** The clauses with the corrections in the place of the words. */
export function correctClauses(
  clauses: readonly Clause[], corrections: Corrections,
): readonly Clause[] {
  if (corrections.size === 0) return clauses;
  const correctWord = (word: Word): Word => {
    const text = word.isUnspaced ? undefined : corrections.get(word.text);
    return text === undefined ? word : { ...word, text };
  };
  return clauses.map((clause) => clause.map((words) => words.map(correctWord)));
}

/** The header `X-Search-Corrected`, as names and values in turn; none without corrections. */
export function formatCorrectionHeader(corrections: Corrections): readonly string[] {
  if (corrections.size === 0) return [];
  const pairs = [...corrections].map((pair) => pair.map(encodeURIComponent).join('='));
  return ['X-Search-Corrected', pairs.join(', ')];
}

/**
 * The corrections that `[...corrections]` became in a cursor; null when they are not those of a
 * query with these clauses.
 */
export function parseCorrections(
  value: unknown, clauses: readonly Clause[],
): Corrections | null {
  if (!Array.isArray(value)) return null;
  const correctable = findCorrectableWords(clauses);
  const corrections = new Map<string, string>();
  for (const pair of value) {
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
