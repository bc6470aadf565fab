/** The list of books, whose queries and scans are loaded at the first request for it. */
import { lazyImport } from '../../base/lazy-import.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import type { BookList, BookListOptions, ExplainOptions, IndexOptions } from './book-list.ts';

const loadService = lazyImport(() => import('./book-list.ts'));

export function createLazyBookList(
  options: BookListOptions & ExplainOptions & IndexOptions,
): BookList {
  let list: BookList | null = null;
  const useList = <Result>(
    use: (list: BookList) => MaybePromise<Result>,
  ): MaybePromise<Result> =>
    loadService(({ createBookList }) => use(list ??= createBookList(options)));
  return {
    handle: (exchange) => useList(({ handle }) => handle(exchange)),
    sendAs: (exchange, output) => useList(({ sendAs }) => sendAs(exchange, output)),
    list: async (query) => useList((bookList) => bookList.list(query)),
    explain: async (query) => useList((bookList) => bookList.explain(query)),
  };
}
