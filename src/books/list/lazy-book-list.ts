/** The list of books, whose queries and scans are loaded with the first one. */
import { lazyImport } from '../../base/lazy-import.ts';
import type { BookList, BookListOptions } from './book-list.ts';

const loadService = lazyImport(() => import('./book-list.ts'));

export function createLazyBookList(options: BookListOptions): BookList {
  let list: BookList | null = null;
  const useList = <Result>(
    use: (list: BookList) => Result | Promise<Result>,
  ): Result | Promise<Result> =>
    loadService(({ createBookList }) => use(list ??= createBookList(options)));
  return {
    handle: (exchange) => useList(({ handle }) => handle(exchange)),
    list: async (query) => useList((bookList) => bookList.list(query)),
  };
}
