/** What becomes of searches when the index does not fit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { BoundedWordIndex } from '../../../src/books/index/bounded-word-index.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

const BOOKS = 3000;
const MEMTABLE_BOOKS = 64;
// All of them would need some 37 kB.
const BYTES_MAX = 20_000;
const TURN_MS_MAX = 5;
const QUERIES = [{ q: 'the' }, { q: 'river war' }, { author: 'le' }, { q: '東京' }, { q: 'lodz' }];

test('books too many for the index are found by their words all the same', async () => {
  const { books, collection, search, list } = createShelf(systemClock);
  for (const query of QUERIES) {
    const { books: found, total } = await list.list(query);
    const expected = naiveList(books, query);
    assert.deepEqual(found.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort());
    assert.equal(total, expected.length);
    assert.ok(search.bytes <= BYTES_MAX, `${search.bytes} bytes`);
  }
  assert.deepEqual([search.isTooLarge, search.bytes], [true, 0]);
  assert.equal(collection.listenerCount, 0, 'an index that is not there is told no changes');
});

test('an index is being made from its first need on, then ready, and null when it is given up',
  async () => {
    let nowMs = 0;
    // Every look at the clock ends a turn, and turns are taken by hand.
    const clock = { monotonicMs: () => nowMs += 10, startTimer: () => ({ cancel: () => {} }) };
    const next: (() => void)[] = [];
    const { books, collection, search, list } = createShelf(clock, (run) => next.push(run));
    for (const { id } of books.slice(BOOKS / 8)) collection.delete(id);
    const states = [search.state];
    const takeTurns = async (isOver: () => boolean): Promise<void> => {
      for (let turn = 0; !isOver(); turn += 1) {
        assert.ok(turn < 50_000, 'it ends');
        if (states.at(-1) !== search.state) states.push(search.state);
        next.shift()?.();
        await someTurns(1);
      }
    };
    const ask = async (): Promise<void> => {
      let isDone = false;
      const answer = list.list({ q: 'the' }).then(() => { isDone = true; });
      await takeTurns(() => isDone);
      await answer;
    };
    await ask();
    collection.put({ ...books[0], id: 'id-0000', title: 'changed' });
    await takeTurns(() => next.length === 0);
    for (const book of books) collection.put(book);
    await ask();
    assert.deepEqual(states, [null, 'making', 'ready', null]);
    search.close();
    assert.equal(search.state, null);
  });

test('once few enough books are left there is an index again', async () => {
  const { books, collection, search, list } = createShelf(systemClock);
  await list.list({ q: 'the' });
  assert.ok(search.isTooLarge);
  const rest = books.slice(0, BOOKS / 8);
  for (const { id } of books.slice(rest.length)) collection.delete(id);
  for (const query of QUERIES) {
    const expected = naiveList(rest, query).map(({ id }) => id);
    assert.deepEqual((await list.list(query)).books.map(({ id }) => id), expected);
  }
  assert.equal(search.isTooLarge, false);
  assert.ok(search.bytes > 0, 'it is in use');
  for (const book of books.slice(rest.length)) collection.put(book);
  for (const query of QUERIES) {
    assert.equal((await list.list(query)).total, naiveList(books, query).length);
  }
  assert.equal(search.bytes, 0, 'and it is gone when it has grown too large while in use');
});

test('mistyped words are corrected only while there is an index', async () => {
  const { books, collection, search, list } = createShelf(systemClock);
  assert.deepEqual((await list.list({ q: 'rivre' })).corrections, {});
  assert.ok(search.isTooLarge);
  for (const { id } of books.slice(BOOKS / 8)) collection.delete(id);
  const { corrections, total } = await list.list({ q: 'rivre' });
  assert.deepEqual(corrections, { rivre: 'river' });
  assert.equal(total, naiveList(books.slice(0, BOOKS / 8), { q: 'river' }).length);
});

/** A look at a book takes 0.02 ms here, and nothing else takes any time. */
test('a search without an index holds the loop no longer than one with it', async () => {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs, startTimer: () => ({ cancel: () => {} }) };
  const next: (() => void)[] = [];
  const { books, collection, search, list } = createShelf(clock, (run) => next.push(run));
  collection.onRead = () => { nowMs += 0.02; };
  let totals: readonly number[] | null = null;
  const answers = Promise.all(QUERIES.map((query) => list.list(query)))
    .then((found) => { totals = found.map(({ total }) => total); });
  for (let turn = 0; totals === null; turn += 1) {
    assert.ok(turn < 50_000, 'it ends');
    const startMs = nowMs;
    next.shift()?.();
    assert.ok(nowMs - startMs <= TURN_MS_MAX, `${nowMs - startMs} ms in a turn`);
    await someTurns(1);
  }
  await answers;
  assert.deepEqual(totals, QUERIES.map((query) => naiveList(books, query).length));
  assert.equal(search.isTooLarge, true);
});

function createShelf(
  clock: Pick<Clock, 'monotonicMs' | 'startTimer'>,
  yieldTurn?: (next: () => void) => void,
): {
  books: readonly NaiveBook[]; collection: FakeCollection; search: BoundedWordIndex;
  list: ReturnType<typeof createBookList>;
} {
  const collection = new FakeCollection();
  const random = createRandom(5);
  const books = Array.from({ length: BOOKS }, (_, count) =>
    randomBook(random, `id-${String(count).padStart(4, '0')}`));
  for (const book of books) collection.put(book);
  const turns = createTurns(clock, yieldTurn);
  const search = new BoundedWordIndex({
    collection, turns, clock, memtableBooks: MEMTABLE_BOOKS, bytesMax: BYTES_MAX,
  });
  return { books, collection, search, list: createBookList({ collection, turns, search }) };
}
