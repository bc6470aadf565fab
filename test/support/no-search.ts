/** A search without an index: every book is looked at. */
import type { BookSearch } from '../../src/books/index/book-search.ts';

export const noSearch: BookSearch = {
  find: () => Promise.resolve(null),
  findCorrections: () => Promise.resolve(new Map()),
};
