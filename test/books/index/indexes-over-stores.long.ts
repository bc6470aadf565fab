/** The indexes over real stores: after a compaction, and where other nodes write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList } from '../../../src/books/list/book-list.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { createIndexes } from '../../support/index-all.ts';
import { openWith } from '../../support/open-store.ts';
import { ORDER_KEYS } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { SharedStoreRig } from '../../support/shared-store-rig.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { someTurns } from '../../support/turns.ts';

const CONDITIONS = [{ inLanguage: 'en' }, { bookFormat: 'EBook' }, { hasIsbn: 'true' }];
const rig = new SharedStoreRig();

test('after compactions the indexes are those of the books', async () => {
  const { store } = await openWith(new SimulatedFiles());
  const list = createList(store);
  const random = createRandom(1);
  const books = new Map<string, NaiveBook>();
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < 60; count += 1) await change(random, [store], books);
    const compaction = store.compact();
    for (let count = 0; count < 20; count += 1) await change(random, [store], books);
    await compaction;
    await checkList(list, books, `round ${round}`);
  }
  await store.close();
});

test('the indexes of a node follow what other nodes write', async () => {
  const stores = [await rig.open(), await rig.open()];
  const lists = stores.map(createList);
  const random = createRandom(2);
  const books = new Map<string, NaiveBook>();
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 60; count += 1) await change(random, stores, books);
    await rig.until(() => stores.every((store) => holdsAll(store, books)));
    for (const list of lists) await checkList(list, books, `round ${round}`);
  }
});

function createList(store: OpenedStore): BookList {
  const options = { collection: store.collection('books'), turns: createTurns(systemClock) };
  return createBookList({ ...options, indexes: createIndexes(options) });
}

/** Adds, replaces or deletes a book through one of the stores. */
async function change(
  random: Random, stores: readonly OpenedStore[], books: Map<string, NaiveBook>,
): Promise<void> {
  const store = stores[below(random, stores.length)];
  assert.ok(store !== undefined);
  const id = `id-${below(random, 80)}`;
  if (random() < 0.3 && books.delete(id)) {
    await store.transact((transaction) => transaction.delete('books', id));
    return;
  }
  const book = randomBook(random, id);
  books.set(id, book);
  await store.transact((transaction) => transaction.put('books', id, JSON.stringify(book)));
}

function holdsAll(store: OpenedStore, books: ReadonlyMap<string, NaiveBook>): boolean {
  const collection = store.collection('books');
  return collection.size === books.size && [...books.values()].every((book) =>
    collection.find(book.id)?.bytes.toString() === JSON.stringify(book));
}

/** Asks for all by each order, with and without conditions, by the indexes. */
async function checkList(
  list: BookList, books: ReadonlyMap<string, NaiveBook>, told: string,
): Promise<void> {
  for (const key of ORDER_KEYS) {
    for (const condition of [{}, ...CONDITIONS]) {
      const query = { ...condition, sort: `-${key}` };
      await list.list({ ...query, limit: 100 });
      // Made, and nothing pending, by then.
      await someTurns(100);
      const { plan } = await list.explain({ ...query, limit: 100 });
      assert.match(plan, /^(order-walk|sorted-matches)$/, told);
      const { books: found, total } = await list.list({ ...query, limit: 100 });
      assert.deepEqual(found, naiveList([...books.values()], query), `${told}: ${key}`);
      assert.equal(total, found.length, told);
    }
  }
}
