/**
 * Answers questions about many books at once: the list, facets, suggestions and duplicates, with
 * the indexes that help. All of it is loaded at the first query, as an idle server does without it.
 */
import { lazyImport } from '../base/lazy-import.ts';
import type { MaybePromise } from '../base/when-done.ts';
import type { BookAnswers, BookAnswersOptions } from './book-answers.ts';
import type { Aggregates } from './aggregates/aggregate-routes.ts';
import type { IndexHost } from './index/index-host.ts';
import type { BookList } from './list/book-list.ts';

const loadAnswers = lazyImport(() => import('./book-answers.ts'));

/** The indexes as metrics and the status see them. */
export type IndexStatus = Pick<IndexHost, 'listReports' | 'hasOutgrownWords'>;

export type BookQueries = {
  readonly list: BookList;
  readonly aggregates: Aggregates;
  readonly indexes: IndexStatus;
  /** Drops the indexes, and makes none any more. */
  readonly close: () => void;
};

export function createBookQueries(options: BookAnswersOptions): BookQueries {
  let answers: BookAnswers | null = null;
  let isClosed = false;
  const ask = <Result>(
    answer: (answers: BookAnswers) => MaybePromise<Result>,
  ): MaybePromise<Result> => loadAnswers(({ createBookAnswers }) => {
    answers ??= createBookAnswers(options);
    if (isClosed) answers.indexes.close();
    return answer(answers);
  });
  return {
    list: {
      sendJson: (exchange) => ask(({ list }) => list.sendJson(exchange)),
      sendAs: (exchange, output) => ask(({ list }) => list.sendAs(exchange, output)),
      list: async (query) => ask(({ list }) => list.list(query)),
      explain: async (query) => ask(({ list }) => list.explain(query)),
    },
    aggregates: {
      sendFacets: (exchange) => ask(({ aggregates }) => aggregates.sendFacets(exchange)),
      sendStatistics: (exchange) => ask(({ aggregates }) => aggregates.sendStatistics(exchange)),
      sendSuggestions: (exchange) => ask(({ aggregates }) => aggregates.sendSuggestions(exchange)),
      sendDuplicates: (exchange) => ask(({ aggregates }) => aggregates.sendDuplicates(exchange)),
    },
    indexes: {
      listReports: () => answers?.indexes.listReports() ?? [],
      get hasOutgrownWords() { return answers?.indexes.hasOutgrownWords ?? false; },
    },
    close() {
      isClosed = true;
      answers?.indexes.close();
    },
  };
}
