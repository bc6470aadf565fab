/**
 * Answers about all books that are made without reading any: from the tables and columns of values,
 * which know in how many books each stands. They are the answers that a scan gives
 * (facets.ts, suggestions.ts).
 */
import { encodeByteString } from '../../base/text/fold.ts';
import type { Steps } from '../../base/turns.ts';
import { tokenize } from '../../base/text/words.ts';
import type { Word } from '../../base/text/words.ts';
import type { ValueTable } from '../engine/value-table.ts';
import type { Facet } from '../query/query-parameters.ts';
import { findTop } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';
import { deriveTermPrefixes, joinWords, matchesWords } from '../query/words.ts';
import type { Clause } from '../query/words.ts';

const ASCII = /^[\x00-\x7f]*$/;

/** Where the values of each facet are counted, over all books. */
type FacetSource = { valueCounts(): Iterable<ValueCount> };

/** The first `max` values of each facet. */
export function* findTopFacets(
  facets: readonly Facet[], sources: Readonly<Record<Facet, FacetSource>>, max: number,
): Steps<Partial<Record<Facet, readonly ValueCount[]>>> {
  const top: Partial<Record<Facet, readonly ValueCount[]>> = {};
  for (const facet of facets) top[facet] = yield* findTop(sources[facet].valueCounts(), max);
  return top;
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
  if (!ASCII.test(name)) return true;
  const lower = name.toLowerCase();
  return heads.some(({ text }) => lower.includes(text));
}

/** The commonest keywords that begin with the words of the text. */
export function findTopKeywords(
  keywords: ValueTable, text: string, max: number,
): Steps<readonly ValueCount[]> {
  const beginning = joinWords(text);
  return keywords.findTop([encodeByteString(beginning)],
    (keyword) => joinWords(keyword).startsWith(beginning), max);
}
