/** What a list answers while the word index is being built. Turns are taken by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList } from '../../../src/books/list/book-list.ts';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { findMatches } from '../../../src/books/list/match-search.ts';
import { openSearch } from '../../../src/books/list/open-search.ts';
import { ID_SORT } from '../../../src/books/query/book-sort.ts';
import type { ValueRow } from '../../../src/books/query/conditions.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { readId } from '../../../src/books/query/stored-fields.ts';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { changeBooks } from '../../support/changing-catalog.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes } from '../../support/index-all.ts';
import { getList } from '../../support/list-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { foundByWords, pageSteps } from '../../support/page-steps.ts';
import { below, createRandom } from '../../support/random.ts';
import { randomBook, randomQuery, searchOf } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';

const SEEDS = IS_LONG ? 60 : 4;
const BOOKS = 90;

test('any query finds what a naive list finds while the index is half built', async () => {
  let partial = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const catalog = createSteeredCatalog();
    catalog.startIndexing();
    for (let round = 0; round < 10; round += 1) {
      changeBooks(random, catalog, BOOKS);
      await catalog.takeTurns(below(random, 6));
      const query = randomQuery(random);
      const limit = random() < 0.5 ? '' : `limit=${1 + below(random, 9)}&`;
      const search = limit + searchOf({ ...query, typos: 'off' });
      const told = `seed ${seed}, round ${round}: ${decodeURIComponent(search)}`;
      const expected = naiveList([...catalog.books.values()], query);
      const answer = await catalog.ask(search);
      assert.equal(answer.total, expected.length, told);
      assert.deepEqual(answer.books, expected.slice(0, answer.books.length), told);
    }
    partial += catalog.partialFinds.length;
  }
  assert.ok(partial > 4 * SEEDS, `${partial} answers from a part of the catalog`);
});

test('a condition that no index knows is checked by reading, though an index answers others',
  () => {
    const collection = new FakeCollection();
    for (const id of ['a', 'b']) put(collection, id, 'else');
    const row: ValueRow = {
      name: 'id', in: 'query', schema: { kind: 'string' }, description: '',
      parse: (text) => text, readValues: (bytes) => [readId(bytes)],
    };
    const search = runAll(openSearch({
      collection, changes: new ConcurrentChanges(collection),
      indexes: foundByWords(BitSet.of([0, 1])),
      query: { filter: { words: [], values: [{ row, wanted: ['b'] }] }, sort: ID_SORT },
    }));
    const found: number[] = [];
    runAll(findMatches(search, {
      readsBooks: false,
      take(_, slot) {
        found.push(slot);
        return true;
      },
    }));
    assert.deepEqual(found, [1]);
  });

test('a word is not corrected by what a part of the catalog has', async () => {
  const catalog = createSteeredCatalog();
  put(catalog.collection, 'a', 'barry');
  for (let number = 0; number < BOOKS; number += 1) put(catalog.collection, `b${number}`, 'else');
  // The nearest word, as most books have it: they are indexed last.
  for (let number = 0; number < 5; number += 1) put(catalog.collection, `c${number}`, 'harry');
  catalog.startIndexing();
  await catalog.takeTurns(3);
  const answer = await catalog.ask('q=garry&limit=9');
  assert.equal(answer.headers['x-search-corrected'], 'garry=harry');
  assert.equal(answer.total, 5);
  assert.equal(catalog.partialFinds.length, 1);
});

test('a word of a book that is not indexed yet is found, and not corrected', async () => {
  const catalog = createSteeredCatalog();
  for (let number = 0; number < BOOKS; number += 1) put(catalog.collection, `b${number}`, 'harry');
  put(catalog.collection, 'c', 'hary');
  catalog.startIndexing();
  await catalog.takeTurns(3);
  const answer = await catalog.ask('q=hary');
  assert.deepEqual([answer.total, answer.headers['x-search-corrected']], [1, undefined]);
  assert.equal(catalog.partialFinds.length, 1);
  assert.equal(catalog.isComplete(), false, 'it does not wait for the complete index');
});

test('a candidate that is not indexed is read, and counted so', () => {
  const collection = new FakeCollection();
  put(collection, 'a', 'everywhere');
  put(collection, 'b', 'nowhere');
  const [slots, unseen] = [new BitSet(), new BitSet()];
  slots.addBelow(2);
  unseen.add(1);
  const page = runAll(pageSteps({
    collection, search: 'q=everywhere', limit: 5, changes: new ConcurrentChanges(collection),
    indexes: foundByWords(slots, unseen),
  }));
  assert.deepEqual(page.entries.map(({ id }) => id), ['a']);
  assert.equal(page.total, 1);
});

function createSteeredCatalog() {
  const collection = new FakeCollection();
  const books = new Map<string, NaiveBook>();
  const manual = new ManualTurns();
  const { turns, clock } = manual;
  const indexes = createIndexes({ collection, turns, clock, memtableBooks: 16 });
  /** How many books were not indexed, for each search that met some that were. */
  const partialFinds: number[] = [];
  const openWords = indexes.openWords.bind(indexes);
  indexes.openWords = (filter) => {
    const search = openWords(filter);
    const unknown = indexes.copyPending() ?? new BitSet();
    unknown.unite(search?.unseen ?? new BitSet());
    const unknownCount = search === null ? 0 : unknown.count();
    if (unknownCount > 0 && unknownCount < collection.size) partialFinds.push(unknownCount);
    return search;
  };
  const list: BookList = createBookList({ collection, turns, indexes });
  return {
    collection, books, turns, indexes, partialFinds,
    startIndexing: () => openWords(parseBookQuery('q=nothing').filter),
    isComplete: () => indexes.listReports().some(({ state }) => state === 'ready'),
    takeTurns: (count: number): Promise<void> => manual.takeTurns(count),
    ask: (query: string) => manual.runUntil(getList(list, query)),
  };
}

function put(collection: FakeCollection, id: string, title: string): void {
  const { createdAt, updatedAt } = randomBook(createRandom(1), id);
  collection.put({ id, createdAt, updatedAt, title, authors: [] });
}
