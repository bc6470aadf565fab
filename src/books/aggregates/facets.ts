/**
 * Facets: how many of the matching books have each author, keyword, language, publisher, decade or
 * format. A facet ignores its own filter, so that it shows what else could be chosen: a book counts
 * for all facets if it matches every condition, and for one facet if it fails that one's alone.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import { quote } from '../../base/text/error-message.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import type { IndexHost } from '../index/index-host.ts';
import { createBookCheck } from '../list/match-search.ts';
import { openSearch, settleSearch } from '../list/open-search.ts';
import type { MatchSearch, SearchIndexes } from '../list/open-search.ts';
import { assertWanted, createExchangeCaller } from '../list/search-books.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { hasConditions, parseFilter, selectConditions } from '../query/book-filter.ts';
import type { BookFilter } from '../query/book-filter.ts';
import { COLUMN_ROWS } from '../query/book-values.ts';
import { FACETS, FACET_NAMES } from '../query/conditions.ts';
import type { Facet, FacetRow } from '../query/conditions.ts';
import { parseTypos } from '../query/parse-query.ts';
import { readFilterString } from '../query/query-parameters.ts';
import type { ValueCount } from '../query/value-count.ts';
import { answerMatches, countMatches } from './match-scan.ts';
import { findColumns, findTopOfFacet } from './table-answers.ts';
import type { FoundColumns } from './table-answers.ts';
import { ValueCounts } from './value-counts.ts';

type FacetCounts = Partial<Record<Facet, readonly ValueCount[]>>;

type FacetsAnswer = {
  /** How many books match all conditions. */
  readonly total: number;
  readonly facets: Readonly<FacetCounts>;
};

const VALUES_MAX = 20;

/** Handles `GET /api/books/facets`. Throws `malformed`. */
export async function sendFacets(deps: SearchDeps, exchange: Exchange): Promise<void> {
  const values = readFilterString(exchange.search);
  const facets = parseFacets(values.get('by')?.[0]);
  const filter = parseFilter(values);
  const mayCorrect = parseTypos(values.get('typos')?.[0]);
  const { indexes, turns } = deps;
  const columns = hasConditions(filter) ? null
    : findColumns(indexes, facets.map(({ column }) => column));
  if (indexes !== null && columns !== null) {
    const steps = countByColumns(deps, indexes, columns, facets);
    const answer = assertWanted(await turns.run(steps, createExchangeCaller(exchange).isWanted));
    if (answer !== undefined) return exchange.sendJson(200, answer);
  }
  await answerMatches(deps, exchange, {
    // Every book that counts for any facet matches this.
    filter: selectConditions(filter, ({ facet }) => !facets.some(({ name }) => name === facet)),
    mayCorrect,
  }, (search) => countFacets(search, filter, facets), ({ total, facets: counts }) =>
    total === 0 && Object.values(counts).every(({ length }) => length === 0));
}

function parseFacets(text: string | undefined): readonly FacetRow[] {
  if (text === undefined) return FACETS;
  return [...new Set(text.split(','))].map((name) => {
    const facet = FACETS.find((candidate) => candidate.name === name);
    if (facet !== undefined) return facet;
    throw malformed(`\`by\` must be some of ${FACET_NAMES.join(', ')}, by commas, not `
      + `${quote(name)}${didYouMean(name, FACET_NAMES)}`);
  });
}

/** The facets of all books; undefined where an index fails. */
function* countByColumns(
  { collection }: SearchDeps, indexes: IndexHost, columns: FoundColumns,
  facets: readonly FacetRow[],
): Steps<FacetsAnswer | undefined> {
  yield* indexes.takeInPending();
  const total = collection.size;
  const counts: FacetCounts = {};
  for (const facet of facets) {
    const top = yield* findTopOfFacet(indexes, columns[facet.column], facet, VALUES_MAX);
    if (top === null) return undefined;
    counts[facet.name] = top;
  }
  return { total, facets: counts };
}

/** The search has the filter without the facets' own conditions; `filter` has them. */
function* countFacets(
  search: MatchSearch, filter: BookFilter, facets: readonly FacetRow[],
): Steps<FacetsAnswer> {
  return (yield* countAmongSlots(search, filter, facets))
    ?? (yield* countByReading(search, filter, facets));
}

/**
 * The facets where the indexes know which books count, without reading any: in a tenth of the time
 * where many match. Null where they do not, and where a book changes meanwhile.
 */
function* countAmongSlots(
  search: MatchSearch, filter: BookFilter, facets: readonly FacetRow[],
): Steps<FacetsAnswer | null> {
  const { indexes, changes: { changedSlots } } = search;
  const columns = findColumns(indexes, facets.map(({ column }) => column));
  if (indexes === null || columns === null) return null;
  const base = yield* findKnownSlots(search, indexes);
  if (base === null) return null;
  const restrictions = new Map<Facet, BitSet>();
  for (const { name } of facets) {
    const own = selectConditions(filter, ({ facet }) => facet === name);
    if (!hasConditions(own)) continue;
    const query = { ...search.query, filter: own };
    const slots = yield* findKnownSlots(yield* openSearch({ ...search, query }), indexes);
    if (slots === null) return null;
    restrictions.set(name, slots);
  }
  const slotsWithout = (ignored: Facet | null): BitSet => {
    const slots = base.copy();
    for (const [name, restriction] of restrictions) if (name !== ignored) slots.retain(restriction);
    return slots;
  };
  const matching = slotsWithout(null);
  const counts: FacetCounts = {};
  for (const facet of facets) {
    const slots = restrictions.has(facet.name) ? slotsWithout(facet.name) : matching;
    const top = yield* findTopOfFacet(indexes, columns[facet.column], facet, VALUES_MAX, slots);
    if (top === null || changedSlots.size > 0) return null;
    counts[facet.name] = top;
  }
  return { total: matching.count(), facets: counts };
}

/** The slots that match; null where a book must be read to know it. */
function* findKnownSlots(search: MatchSearch, indexes: SearchIndexes): Steps<BitSet | null> {
  const { isExact, unsettled, slots } = yield* settleSearch(search, indexes);
  return isExact && unsettled === null ? slots : null;
}

function* countByReading(
  search: MatchSearch, filter: BookFilter, facets: readonly FacetRow[],
): Steps<FacetsAnswer> {
  const columns = facets.map(({ name, column, format = String }) => {
    const { readValues, isCaseless = false } = COLUMN_ROWS[column];
    const own = selectConditions(filter, ({ facet }) => facet === name);
    const counts = new ValueCounts({ topMax: VALUES_MAX, isCaseless });
    return { name, readValues, format, counts, own, matchesOwn: createBookCheck(own) };
  });
  const restrictions = columns.filter(({ own }) => hasConditions(own));
  let total = 0;
  yield* countMatches(search, columns.map(({ counts }) => counts), (bytes, isFirstPass) => {
    const failures = restrictions.filter(({ matchesOwn }) => !matchesOwn(bytes));
    if (failures.length > 1) return;
    if (failures.length === 0 && isFirstPass) total += 1;
    const countingColumns = failures.length === 0 ? columns : failures;
    for (const { counts, readValues, format } of countingColumns) {
      if (!counts.isDone) counts.add(readValues(bytes).map((value) => format(value)));
    }
  });
  return {
    total,
    facets: Object.fromEntries(columns.map(({ name, counts }) => [name, counts.top])),
  };
}
