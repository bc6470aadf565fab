/**
 * Facets: how many of the matching books have each author, keyword, language, publisher, decade or
 * format. A facet ignores its own filter, so that it shows what else could be chosen: a book counts
 * for all facets if it matches every condition, and for one facet if it fails that one's alone.
 */
import { suggestName, quote } from '../../base/text/error-message.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import { createBookCheck } from '../list/match-search.ts';
import type { MatchSearch } from '../list/match-search.ts';
import { assertWanted, createExchangeCaller } from '../list/search-books.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { ID_SORT } from '../query/book-sort.ts';
import { hasConditions, parseFilter, selectConditions } from '../query/book-filter.ts';
import type { BookFilter } from '../query/book-filter.ts';
import { COLUMN_ROWS } from '../query/book-values.ts';
import { FACETS, FACET_NAMES } from '../query/conditions.ts';
import type { Facet, FacetRow } from '../query/conditions.ts';
import { NO_CORRECTIONS, formatCorrectionHeader } from '../query/corrections.ts';
import { parseTypos } from '../query/parse-query.ts';
import { readFilterString } from '../query/query-parameters.ts';
import type { ValueCount } from '../query/value-count.ts';
import { countMatches, searchMatches } from './match-scan.ts';
import { findFacetSources, findTopFacets } from './table-answers.ts';
import type { FacetSources } from './table-answers.ts';
import { ValueCounts } from './value-counts.ts';

type FacetsAnswer = {
  /** How many books match all conditions. */
  readonly total: number;
  readonly facets: Readonly<Partial<Record<Facet, readonly ValueCount[]>>>;
};

const VALUES_MAX = 20;

/** Handles `GET /api/books/facets`. Throws `malformed`. */
export async function sendFacets(deps: SearchDeps, exchange: Exchange): Promise<void> {
  const values = readFilterString(exchange.search, ['by', 'typos']);
  const facets = parseFacets(values.get('by')?.[0]);
  const filter = parseFilter(values);
  const query = {
    // Every book that counts for any facet matches this.
    filter: selectConditions(filter, ({ facet }) =>
      !facets.some(({ name }) => name === facet)),
    sort: ID_SORT, corrections: NO_CORRECTIONS,
    mayCorrect: parseTypos(values.get('typos')?.[0] ?? 'on'),
  };
  const caller = createExchangeCaller(exchange);
  const sources = hasConditions(filter) ? null : findFacetSources(deps.indexes, facets);
  if (sources !== null) {
    const steps = countByColumns(deps, sources);
    const answer = assertWanted(await deps.turns.run(steps, caller.isWanted));
    if (answer !== undefined) return exchange.sendJson(200, answer);
  }
  const { result, query: { corrections }, changes } = await searchMatches(deps, query, caller,
    (search) => countFacets(search, filter, facets),
    ({ total, facets: counts }) =>
      total === 0 && Object.values(counts).every(({ length }) => length === 0));
  changes.stop();
  exchange.sendJson(200, result, formatCorrectionHeader(corrections));
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
  { collection }: SearchDeps, sources: FacetSources,
): Steps<FacetsAnswer | undefined> {
  yield* sources.indexes.settle();
  const total = collection.size;
  const facets = yield* findTopFacets(sources, VALUES_MAX);
  return facets === null ? undefined : { total, facets };
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
