import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { findWhole } from '../../../src/books/list/find-books.ts';
import { openSearch } from '../../../src/books/list/open-search.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createOftenCompleteIndexes } from '../../support/index-all.ts';
import { walkPages } from '../../support/list-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { foundByWords, pageSteps } from '../../support/page-steps.ts';
import { randomBook, randomQuery, searchOf } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';

const IDS = 150;
const SEEDS = IS_LONG ? 200 : 4;
const ROUNDS = IS_LONG ? 50 : 12;

// Every look at the clock ends a turn here, and between two turns somebody writes.
for (const withIndex of [false, true]) {
  test(`writes in the midst of a search lose and double nothing, index: ${withIndex}`, async () => {
    let lasted = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = createRandom(seed);
      const collection = new FakeCollection();
      const books = new Map<string, NaiveBook>();
      let unchanged = new Set<string>();
      const write = (): void => {
        const id = change(random, collection, books);
        unchanged.delete(id);
      };
      for (let count = 0; count < 300; count += 1) write();
      let writesLeft = 0;
      let nowMs = 0;
      const clock = { monotonicMs: () => nowMs += 10 };
      const turns = createTurns(clock, (next) => {
        setImmediate(() => {
          if (writesLeft > 0) write();
          writesLeft -= 1;
          next();
        });
      });
      const indexes = !withIndex ? null
        : createOftenCompleteIndexes({ collection, turns, clock, memtableBooks: 16 });
      const list = createBookList({ collection, turns, indexes });
      for (let round = 0; round < ROUNDS; round += 1) {
        const query = randomQuery(random);
        const limit = random() < 0.3 ? '' : `limit=${1 + below(random, 30)}&`;
        unchanged = new Set(books.keys());
        const before = new Map(books);
        writesLeft = 60;
        const totals: number[] = [];
        const found = (await walkPages(list, limit + searchOf(query), () => {}, totals))
          .map(({ id }) => id);
        const told = `seed ${seed}, round ${round}: ${limit}${decodeURIComponent(searchOf(query))}`;
        const expected = naiveList([...before.values()], query).map(({ id }) => id)
          .filter((id) => unchanged.has(id));
        assert.deepEqual(found.filter((id) => unchanged.has(id)), expected, told);
        if (limit === '') {
          assert.equal(new Set(found).size, found.length, told);
          assert.deepEqual(totals, [found.length], told);
        }
        lasted += expected.length;
      }
    }
    assert.ok(lasted > 80 * SEEDS, `${lasted} books lasted`);
  });
}

test('a book deleted and added again in another slot while matches are read comes once', () => {
  const collection = new FakeCollection();
  const slots = new BitSet();
  const book = (id: string): NaiveBook =>
    ({ ...randomBook(createRandom(1), id), title: 'everywhere' });
  for (let slot = 0; slot < 40; slot += 1) {
    collection.put(book(`id-${slot + 10}`));
    slots.add(slot);
  }
  const steps = pageSteps({
    collection, search: 'q=everywhere&sort=title', limit: null,
    changes: new ConcurrentChanges(collection),
    indexes: foundByWords(slots),
  });
  let isFirst = true;
  const page = runAll(steps, () => {
    if (!isFirst) return;
    isFirst = false;
    collection.delete('id-10');
    collection.delete('id-49');
    collection.put(book('id-10'));
    assert.equal(collection.findSlot('id-10'), 39, 'it stands where the search still comes to');
  });
  assert.equal(isFirst, false);
  assert.deepEqual(page.entries.map(({ id }) => id), collection.ids);
  assert.equal(page.total, 39);
});

test('a book that moves to other slots again and again comes once', () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = createRandom(seed);
    const collection = new FakeCollection();
    const slots = new BitSet();
    const put = (id: string, title: string): void =>
      collection.put({ ...randomBook(createRandom(1), id), title });
    put('id-10', 'nowhere');
    for (let slot = 1; slot < 80; slot += 1) {
      put(`id-${slot + 10}`, slot < 40 ? 'everywhere' : 'nowhere');
      if (slot < 40) slots.add(slot);
    }
    const steps = pageSteps({
      collection, search: 'q=everywhere', limit: null, changes: new ConcurrentChanges(collection),
      indexes: foundByWords(slots),
    });
    let last = 89;
    const page = runAll(steps, () => {
      if (last < 50) return;
      collection.delete('id-10');
      collection.delete(`id-${last}`);
      put('id-10', 'everywhere');
      assert.equal(collection.findSlot('id-10'), last - 10);
      // Where it stood another stands, and others change after it.
      put(`id-${last}-0`, 'nowhere');
      for (let count = below(random, 10); count > 0; count -= 1) {
        put(`id-${last}-${count}`, 'everywhere');
      }
      last -= 1;
    });
    const ids = page.entries.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, `seed ${seed}`);
    assert.equal(page.total, ids.length);
  }
});

test('a slot that gets another book during a scan of the whole comes once', () => {
  const collection = new FakeCollection();
  const book = (id: string): NaiveBook => randomBook(createRandom(1), id);
  for (let number = 10; number < 50; number += 1) collection.put(book(`id-${number}`));
  const changes = new ConcurrentChanges(collection);
  const steps = findWhole(runAll(openSearch({
    collection, query: parseBookQuery('sort=title'), changes, indexes: null,
  })));
  let isFirst = true;
  const { slots, total } = runAll(steps, () => {
    if (!isFirst) return;
    isFirst = false;
    collection.delete('id-10');
    collection.put(book('id-60'));
    assert.equal(collection.findSlot('id-60'), 0);
  });
  collection.delete('id-60');
  const found = [...slots].map((slot) => changes.take(slot));
  assert.equal(found.filter((bytes) => bytes !== undefined).length, total);
});

test('a candidate that changed since the index was asked is read again, and counted so', () => {
  const collection = new FakeCollection();
  const slots = new BitSet();
  for (let slot = 0; slot < 3; slot += 1) {
    collection.put({ ...randomBook(createRandom(1), `id-${slot}`), title: 'everywhere' });
    slots.add(slot);
  }
  const changes = new ConcurrentChanges(collection);
  collection.put({ ...randomBook(createRandom(1), 'id-1'), title: 'nowhere' });
  const page = runAll(pageSteps({
    collection, search: 'q=everywhere', limit: 5, changes,
    indexes: foundByWords(slots),
  }));
  assert.deepEqual(page.entries.map(({ id }) => id), ['id-0', 'id-2']);
  assert.equal(page.total, 2);
});

function change(
  random: Random, collection: FakeCollection, books: Map<string, NaiveBook>,
): string {
  const id = `id-${below(random, IDS)}`;
  if (random() < 0.3) {
    books.delete(id);
    collection.delete(id);
  } else {
    const book = randomBook(random, id);
    books.set(id, book);
    collection.put(book);
  }
  return id;
}
