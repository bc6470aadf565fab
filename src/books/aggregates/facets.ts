/**
 * Facets: how many of the matching books have each author, keyword, language, publisher, decade or
 * format. A facet ignores its own filter, so that it shows what else could be chosen: a book counts
 * for all facets if it matches every condition, and for one facet if it fails that one's alone.
 */
import { suggestName, quote } from '../../base/text/error-message.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import type { IndexHost } from '../index/index-host.ts';
import { createBookCheck } from '../list/match-search.ts';
import type { MatchSearch } from '../list/match-search.ts';
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
import { findColumns, findTopFacets } from './table-answers.ts';
import type { FoundColumns } from './table-answers.ts';
import { ValueCounts } from './value-counts.ts';

type FacetsAnswer = {
  /** How many books match all conditions. */
  readonly total: number;
  readonly facets: Readonly<Partial<Record<Facet, readonly ValueCount[]>>>;
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
      + `${quote(name)}${suggestName(name, FACET_NAMES)}`);
  });
}

/** The facets of all books; undefined where an index fails. */
function* countByColumns(
  { collection }: SearchDeps, indexes: IndexHost, columns: FoundColumns,
  facets: readonly FacetRow[],
): Steps<FacetsAnswer | undefined> {
  yield* indexes.settle();
  const total = collection.size;
  const topByFacet = yield* findTopFacets(indexes, columns, facets, VALUES_MAX);
  return topByFacet === null ? undefined : { total, facets: topByFacet };
}

/** The inputs have the filter without the facets' own conditions; `filter` has them. */
function* countFacets(
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
