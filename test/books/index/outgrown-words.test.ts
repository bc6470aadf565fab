/** What becomes of searches when the word index does not fit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { createTurns } from '../../../src/base/turns.ts';
import type { IndexHostOptions, IndexReport } from '../../../src/books/index/index-host.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes } from '../../support/index-all.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { naiveList } from '../../support/naive-list.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { longTest } from '../../support/long.ts';

const BOOKS = 3000;
const MEMTABLE_BOOKS = 16;
// All of them would need some 100 kB while the index is made, and an eighth of them 28.
const BYTES_MAX = 36_000;
const TURN_MS_MAX = 5;
const REAL: Pick<IndexHostOptions, 'clock' | 'turns'> = {
  clock: systemClock, turns: createTurns(systemClock),
};
const QUERIES = [{ q: 'the' }, { q: 'river war' }, { author: 'le' }, { q: '東京' }, { q: 'lodz' }];

longTest('books too many for the index are found by their words all the same', async () => {
  const { books, collection, indexes, list } = createShelf();
  for (const query of QUERIES) {
    const { books: found, total } = await list.list(query);
    const expected = naiveList(books, query);
    assert.deepEqual(found.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort());
    assert.equal(total, expected.length);
    assert.ok(indexes.bytes <= BYTES_MAX, `${indexes.bytes} bytes`);
  }
  assert.deepEqual([indexes.hasOutgrownWords, indexes.bytes], [true, 0]);
  assert.equal(collection.listenerCount, 0, 'an index that is not there is told no changes');
});

test('an index is being made from its first need on, then ready, and gone when it is given up',
  async () => {
    const manual = new ManualTurns();
    const { books, collection, indexes, list } = createShelf(manual);
    for (const { id } of books.slice(BOOKS / 8)) collection.delete(id);
    const readState = (): IndexReport['state'] | undefined => indexes.listReports()[0]?.state;
    const states = [readState()];
    const watch = (): void => {
      if (states.at(-1) !== readState()) states.push(readState());
    };
    await manual.runUntil(list.list({ q: 'the' }), watch);
    collection.put({ ...books[0], id: 'id-0000', title: 'changed' });
    while (!manual.isIdle) {
      watch();
      await manual.takeTurns(1);
    }
    for (const book of books) collection.put(book);
    while (!manual.isIdle) {
      watch();
      await manual.takeTurns(1);
    }
    assert.deepEqual(states, [undefined, 'making', 'ready', undefined]);
  });

longTest('once few enough books are left there is an index again', async () => {
  const { books, collection, indexes, list } = createShelf();
  await list.list({ q: 'the' });
  assert.ok(indexes.hasOutgrownWords);
  const rest = books.slice(0, BOOKS / 8);
  for (const { id } of books.slice(rest.length)) collection.delete(id);
  for (const query of QUERIES) {
    const expected = naiveList(rest, query).map(({ id }) => id);
    assert.deepEqual((await list.list(query)).books.map(({ id }) => id), expected);
  }
  assert.equal(indexes.hasOutgrownWords, false);
  assert.ok(indexes.bytes > 0, 'it is in use');
  for (const book of books.slice(rest.length)) collection.put(book);
  for (const query of QUERIES) {
    assert.equal((await list.list(query)).total, naiveList(books, query).length);
  }
  assert.equal(indexes.bytes, 0, 'and it is gone when it has grown too large while in use');
});

test('mistyped words are corrected only while there is an index', async () => {
  const { books, collection, indexes, list } = createShelf();
  assert.deepEqual((await list.list({ q: 'rivre' })).corrections, {});
  assert.ok(indexes.hasOutgrownWords);
  for (const { id } of books.slice(BOOKS / 8)) collection.delete(id);
  const { corrections, total } = await list.list({ q: 'rivre' });
  assert.deepEqual(corrections, { rivre: 'river' });
  assert.equal(total, naiveList(books.slice(0, BOOKS / 8), { q: 'river' }).length);
});

/** A look at a book takes 0.02 ms here, and nothing else takes any time. */
longTest('a search without an index holds the loop no longer than one with it', async () => {
  const manual = new ManualTurns(0);
  const { books, collection, indexes, list } = createShelf(manual);
  collection.onRead = () => manual.clock.standStill(0.02);
  const answers = await manual.runUntil(Promise.all(QUERIES.map((query) => list.list(query))));
  const totals = answers.map(({ total }) => total);
  assert.ok(manual.longestTurnMs <= TURN_MS_MAX, `${manual.longestTurnMs} ms in a turn`);
  assert.deepEqual(totals, QUERIES.map((query) => naiveList(books, query).length));
  assert.equal(indexes.hasOutgrownWords, true);
});

function createShelf({ clock, turns } = REAL) {
  const collection = new FakeCollection();
  const random = createRandom(5);
  const books = Array.from({ length: BOOKS }, (_, count) =>
    randomBook(random, `id-${String(count).padStart(4, '0')}`));
  for (const book of books) collection.put(book);
  const indexes = createIndexes({
    collection, turns, clock, memtableBooks: MEMTABLE_BOOKS, bytesMax: BYTES_MAX,
  });
  return { books, collection, indexes, list: createBookList({ collection, turns, indexes }) };
}
