/**
 * Answers about all books that are made without reading any: from the tables and columns of values,
 * which know in how many books each stands. They are the answers that a scan gives
 * (facets.ts, suggestions.ts).
 */
import { encodeByteString } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { tokenize } from '../../base/text/words.ts';
import type { Word } from '../../base/text/words.ts';
import type { BookColumn } from '../engine/book-column.ts';
import type { ValueTable } from '../engine/value-table.ts';
import type { IndexHost } from '../index/index-host.ts';
import type { Facet } from '../query/query-parameters.ts';
import { findTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';
import { deriveTermPrefixes, joinWords, matchesWords } from '../query/words.ts';
import type { Clause } from '../query/words.ts';

const ASCII = /^[\x00-\x7f]*$/;

/** Where each facet is counted over all books, in its order. */
export type FacetSources = {
  readonly indexes: IndexHost;
  readonly valuesByFacet: readonly (readonly [Facet, BookColumn | ValueTable])[];
};

/** Null while some facet has no table or column. */
export function findFacetSources(
  indexes: IndexHost | null, facets: readonly Facet[],
): FacetSources | null {
  if (indexes === null) return null;
  // All are asked for before any is missed, so that all are made at once.
  const found = facets.map((facet) => [facet, findValues(indexes, facet)] as const);
  const valuesByFacet = found.flatMap(([facet, values]) =>
    values === null ? [] : [[facet, values] as const]);
  return valuesByFacet.length < facets.length ? null : { indexes, valuesByFacet };
}

function findValues(indexes: IndexHost, facet: Facet): BookColumn | ValueTable | null {
  if (facet === 'decade') return indexes.findColumn('datePublished');
  return facet === 'inLanguage' || facet === 'bookFormat'
    ? indexes.findColumn(facet) : indexes.findTable(facet);
}

/** The first `max` values of each facet; null where an index fails. */
export function* findTopFacets(
  { indexes, valuesByFacet }: FacetSources, max: number,
): Steps<Partial<Record<Facet, readonly ValueCount[]>> | null> {
  const topByFacet: Partial<Record<Facet, readonly ValueCount[]>> = {};
  for (const [facet, values] of valuesByFacet) {
    const top = yield* indexes.attempt(values, () => findTop(values.valueCounts(), max));
    if (top === null) return null;
    topByFacet[facet] = top;
  }
  return topByFacet;
}

/** What knows the authors and keywords of all books. */
export type SuggestionTables = {
  readonly indexes: IndexHost; readonly author: ValueTable; readonly keyword: ValueTable;
};

/** Null while a table is missing. */
export function findSuggestionTables(indexes: IndexHost | null): SuggestionTables | null {
  if (indexes === null) return null;
  const [author, keyword] = [indexes.findTable('author'), indexes.findTable('keyword')];
  return author === null || keyword === null ? null : { indexes, author, keyword };
}

/** The commonest authors that all of the words match, of which there is one at least. */
export function findTopAuthors(
  authors: ValueTable, words: readonly Clause[], max: number,
): Steps<readonly ValueCount[]> {
  // A name that matches has one of these, and so a term with one of the prefixes.
  const heads = (words[0] ?? []).flatMap((alternative) => alternative.slice(0, 1));
  const prefixes = heads.flatMap((head) => deriveTermPrefixes(head).prefixes.slice(0, 1));
  return authors.findTop(prefixes,
    (name) => mayHave(heads, name) && matchesWords(words, tokenize(name)), max);
}

/** Whether one of the words may be in the name: asked first, as tokens take 20 times as long. */
function mayHave(heads: readonly Word[], name: string): boolean {
  // Of initials a name may have joined words.
  if (!ASCII.test(name) || name.includes('.')) return true;
  const lower = name.toLowerCase();
  return heads.some(({ text }) => lower.includes(text));
}

/** The commonest keywords whose `joinWords` begins so. */
export function findTopKeywords(
  keywords: ValueTable, beginning: string, max: number,
): Steps<readonly ValueCount[]> {
  return keywords.findTop([encodeByteString(beginning)],
    (keyword) => joinWords(keyword).startsWith(beginning), max);
}
