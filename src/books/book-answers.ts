/** Makes what answers queries of many books, over one host of indexes. */
import { createConcurrencyLimiter } from '../base/turns.ts';
import { IndexHost } from './index/index-host.ts';
import type { IndexHostOptions } from './index/index-host.ts';
import { createBookList } from './list/book-list.ts';
import type { BookList, ExplainOptions } from './list/book-list.ts';
import type { Aggregates } from './aggregates/aggregate-routes.ts';
import { sendDuplicates } from './aggregates/duplicates.ts';
import { sendFacets } from './aggregates/facets.ts';
import { sendStatistics } from './aggregates/statistics.ts';
import { sendSuggestions } from './aggregates/suggestions.ts';

export type BookAnswersOptions = IndexHostOptions & ExplainOptions;

export type BookAnswers = {
  readonly list: BookList; readonly aggregates: Aggregates; readonly indexes: IndexHost;
};

// Facets and suggestions hold up to 48 MiB while they count: 16 for each of author, keyword and
// publisher or title, as the others have few values.
const SCANS_MAX = 2;

export function createBookAnswers(options: BookAnswersOptions): BookAnswers {
  const { collection, turns } = options;
  const indexes = new IndexHost(options);
  const deps = { collection, turns, indexes, limiter: createConcurrencyLimiter(SCANS_MAX) };
  return {
    indexes,
    list: createBookList({ ...options, indexes }),
    aggregates: {
      sendFacets: (exchange) => sendFacets(deps, exchange),
      sendStatistics: (exchange) => sendStatistics(deps, exchange),
      sendSuggestions: (exchange) => sendSuggestions(deps, exchange),
      sendDuplicates: (exchange) => sendDuplicates(deps, exchange),
    },
  };
}
