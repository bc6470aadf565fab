/**
 * Shows a writer the books of a list before they are written, where its format needs that: an
 * answer of a million books is found again for it, not held. A book that is written meanwhile may
 * be shown as it was, or not at all.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ID_SORT, isIdSort } from '../query/book-sort.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { compareId, readId } from '../query/stored-fields.ts';
import type { BookSource, BookTextWriter } from './book-source.ts';
import { assertWanted } from './search-books.ts';
import type { SearchCaller } from './search-books.ts';

/** Finds the books of a query; `close` is to be called once they have been read. */
type FindBooks = (query: BookQuery) => Promise<{
  readonly source: BookSource; readonly close: () => void;
}>;

// To look at so many takes some milliseconds at most.
const BOOKS_PER_TURN = 512;

/** Throws `timeout` once the caller has left. */
export async function prepareWriter(
  writer: BookTextWriter, query: BookQuery, caller: SearchCaller, findBooks: FindBooks,
): Promise<void> {
  if (writer.prepare === undefined) return;
  const { sort, limit, after } = query;
  const page: Buffer[] = [];
  await readEach(await findBooks(query), caller, (book) => {
    writer.prepare?.([book]);
    if (limit !== null) page.push(book);
  });
  if (isIdSort(sort)) return;
  // Only in its own order can a page, or what follows a cursor, be found again.
  if (limit !== null) {
    writer.prepareInIdOrder?.(page.sort((left, right) => compareId(left, readId(right))));
  } else if (after === null) {
    await readEach(await findBooks({ ...query, sort: ID_SORT }), caller,
      (book) => writer.prepareInIdOrder?.([book]));
  }
}

async function readEach(
  { source, close }: Awaited<ReturnType<FindBooks>>, caller: SearchCaller,
  read: (book: Buffer) => void,
): Promise<void> {
  try {
    let count = 0;
    for (const book of source) {
      read(book);
      count += 1;
      if (count % BOOKS_PER_TURN !== 0) continue;
      await nextTurn();
      assertWanted(caller.isWanted() ? true : null);
    }
  } finally {
    close();
  }
}
