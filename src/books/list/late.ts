/** The list of books, whose queries and scans are loaded with the first one. */
import { late } from '../../base/late.ts';
import type { BookList, BookListOptions } from './service.ts';

const withService = late(() => import('./service.ts'));

export function createLateBookList(options: BookListOptions): BookList {
  let list: BookList | null = null;
  const withList = <Result>(
    use: (list: BookList) => Result | Promise<Result>,
  ): Result | Promise<Result> =>
    withService(({ createBookList }) => use(list ??= createBookList(options)));
  return {
    handle: (exchange) => withList(({ handle }) => handle(exchange)),
    list: async (query) => withList((made) => made.list(query)),
  };
}
