/**
 * Answers about all books that are made without reading any: from the columns of values, which know
 * in how many books each stands. They are the answers that a scan gives (facets.ts,
 * suggestions.ts). Statistics find their columns here, too (statistics.ts).
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import { ASCII, encodeByteString } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { tokenize } from '../../base/text/words.ts';
import type { Word } from '../../base/text/words.ts';
import type { ValueColumn } from '../engine/value-column.ts';
import type { SearchIndexes } from '../list/open-search.ts';
import type { ColumnName } from '../query/book-values.ts';
import type { FacetRow } from '../query/conditions.ts';
import { findTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';
import { deriveTermPrefixes, isBegun, matchesWords } from '../query/words.ts';
import type { Clause } from '../query/words.ts';

// To unite a number takes up to 0.5 µs.
const NUMBERS_PER_YIELD = 256;

/** The columns that were asked for by their names. */
export type FoundColumns<Name extends ColumnName = ColumnName> =
  Readonly<Record<Name, ValueColumn>>;

/** Null while a column is missing. */
export function findColumns<Name extends ColumnName>(
  indexes: SearchIndexes | null, names: readonly Name[],
): FoundColumns<Name> | null {
  if (indexes === null) return null;
  // All are asked for before any is missed, so that all are made at once.
  const columns: Partial<Record<ColumnName, ValueColumn | null>> = {};
  for (const name of names) columns[name] = indexes.findColumn(name);
  const isComplete = (found: typeof columns): found is FoundColumns<Name> =>
    names.every((name) => found[name] !== null);
  return isComplete(columns) ? columns : null;
}

/**
 * The first `max` values of a facet: of all books, or of those in some slots. Null where the index
 * fails. Of some slots it is void once a book changes.
 */
export function findTopOfFacet(
  indexes: SearchIndexes, column: ValueColumn, { format }: FacetRow, max: number,
  slots: BitSet | null = null,
): Steps<readonly ValueCount[] | null> {
  const { dictionary } = column;
  return indexes.askOrDrop([column], function* () {
    const tally = slots === null ? undefined : yield* column.countAmong(slots);
    return yield* format === undefined ? dictionary.findTop(max, null, tally)
      : findTopUnited(dictionary.valueCounts(tally), format, max);
  });
}

/** The first `max` of what numbers are counted as. */
function* findTopUnited(
  numbers: Iterable<ValueCount>, format: (value: number) => string, max: number,
): Steps<readonly ValueCount[]> {
  const counts = new Map<string, number>();
  let looks = 0;
  for (const { value, count } of numbers) {
    looks += 1;
    if (looks % NUMBERS_PER_YIELD === 0) yield;
    const text = format(Number(value));
    counts.set(text, (counts.get(text) ?? 0) + count);
  }
  return yield* findTop(Array.from(counts, ([value, count]) => ({ value, count })), max);
}

/** The commonest authors that all of the words match, of which there is one at least. */
export function findTopAuthors(
  { dictionary }: ValueColumn, words: readonly Clause[], max: number,
): Steps<readonly ValueCount[]> {
  // A name that matches has one of these, and so a term with one of the prefixes.
  const heads = (words[0] ?? []).flatMap((alternative) => alternative.slice(0, 1));
  const prefixes = heads.flatMap((head) => deriveTermPrefixes(head).prefixes.slice(0, 1));
  const accepts = (name: string): boolean =>
    mayHave(heads, name) && matchesWords(words, tokenize(name));
  return dictionary.findTop(max, { prefixes, accepts });
}

/** Whether one of the words may be in the name: asked first, as tokens take 20 times as long. */
function mayHave(heads: readonly Word[], name: string): boolean {
  // A name may have joined words of initials.
  if (!ASCII.test(name) || name.includes('.')) return true;
  const lower = name.toLowerCase();
  return heads.some(({ text }) => lower.includes(text));
}

/** The commonest keywords whose `joinWords` begins so. */
export function findTopKeywords(
  { dictionary }: ValueColumn, beginning: string, max: number,
): Steps<readonly ValueCount[]> {
  const accepts = (keyword: string): boolean => isBegun(keyword, beginning);
  return dictionary.findTop(max, { prefixes: [encodeByteString(beginning)], accepts });
}
