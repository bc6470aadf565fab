/** A catalog of random books that change, beside the same books for a naive model. */
import { systemClock } from '../../src/base/clock.ts';
import { createTurns } from '../../src/base/turns.ts';
import type { SearchDeps } from '../../src/books/list/search-books.ts';
import { FakeCollection } from './fake-collection.ts';
import { createOftenCompleteIndexes } from './index-all.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';

export type ChangingCatalog = SearchDeps & {
  readonly collection: FakeCollection;
  readonly books: Map<string, NaiveBook>;
};

/**
 * An empty catalog, with an index of small memtables, which every second search finds complete, or
 * without one.
 */
export function createChangingCatalog(withIndex: boolean): ChangingCatalog {
  const collection = new FakeCollection();
  const turns = createTurns(systemClock);
  const indexes = !withIndex ? null
    : createOftenCompleteIndexes({ collection, turns, memtableBooks: 8 });
  return { collection, turns, indexes, books: new Map() };
}

/** Adds, replaces and deletes some books. */
export function changeBooks(
  random: Random, { collection, books }: ChangingCatalog, count: number,
): void {
  for (let index = 0; index < count; index += 1) {
    const id = `id-${below(random, 90)}`;
    if (random() < 0.25) {
      books.delete(id);
      collection.delete(id);
      continue;
    }
    const book = randomBook(random, id);
    books.set(id, book);
    collection.put(book);
  }
}
