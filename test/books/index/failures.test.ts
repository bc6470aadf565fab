/** What becomes of queries when an index fails, whichever it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Steps } from '../../../src/base/turns.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList } from '../../../src/books/list/book-list.ts';
import type { IndexHost } from '../../../src/books/index/index-host.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createAggregateClient } from '../../support/aggregate-harness.ts';
import { EngineHarness } from '../../support/engine-harness.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveQuery } from '../../support/naive-list.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';

const BOOKS = 300;
const MINUTE_MS = 60_000;
const BROKEN = new Error('broken');
const CASES: readonly {
  readonly name: string; readonly query: NaiveQuery;
  readonly ask: (indexes: IndexHost) => unknown;
}[] = [
  {
    name: 'words', query: { q: 'the' },
    ask: (indexes) => indexes.openWords(parseBookQuery('q=the').filter),
  },
  { name: 'title', query: { sort: 'title' }, ask: (indexes) => indexes.findOrder('title') },
  {
    name: 'inLanguage-column', query: { inLanguage: 'en' },
    ask: (indexes) => indexes.findColumn('inLanguage'),
  },
  { name: 'author-column', query: {}, ask: (indexes) => indexes.findColumn('author') },
];

for (const { name, query, ask } of CASES) {
  test(`while ${name} cannot be made, books are read, and it is told once`, async () => {
    const shelf = createShelf();
    const { indexes } = shelf;
    ask(indexes);
    breakOneRead(shelf);
    assert.deepEqual([shelf.failures, indexes.listReports()], [[[name, BROKEN]], []]);
    for (let round = 0; round < 3; round += 1) await checkList(shelf, query);
    ask(indexes);
    shelf.runAllTurns();
    assert.deepEqual(indexes.listReports(), [], 'it is not made again at once');
    shelf.clock.standStill(MINUTE_MS);
    ask(indexes);
    shelf.runAllTurns();
    assert.deepEqual(indexes.listReports().map(({ index, state }) => [index, state]),
      [[name, 'ready']]);
    await checkList(shelf, query);
    assert.equal(shelf.failures.length, 1);
  });

  test(`where ${name} cannot take in a change, it is made anew`, async () => {
    const shelf = createShelf();
    const { indexes } = shelf;
    ask(indexes);
    shelf.runAllTurns();
    shelf.change(createRandom(2), 5, BOOKS);
    breakOneRead(shelf);
    assert.deepEqual([shelf.failures, indexes.listReports()], [[[name, BROKEN]], []]);
    await checkList(shelf, query);
    shelf.clock.standStill(MINUTE_MS);
    ask(indexes);
    shelf.runAllTurns();
    assert.equal(indexes.listReports()[0]?.state, 'ready');
    await checkList(shelf, query);
  });
}

test('indexes that fail of one book are told together', () => {
  const shelf = createShelf();
  for (const { ask } of CASES) ask(shelf.indexes);
  shelf.runAllTurns();
  shelf.change(createRandom(2), 5, BOOKS);
  breakOneRead(shelf);
  assert.deepEqual(shelf.failures, [[...CASES.map(({ name }) => name), BROKEN]]);
  assert.equal(shelf.collection.listenerCount, 0);
});

test('an index that fails while it answers is done without', async () => {
  const shelf = createShelf();
  const { indexes } = shelf;
  const query = { q: 'the', inLanguage: 'en', sort: 'title' };
  await checkList(shelf, query);
  shelf.runAllTurns();
  const order = indexes.findOrder('title');
  const column = indexes.findColumn('inLanguage');
  assert.ok(order !== null && column !== null);
  order.snapshot = () => { throw BROKEN; };
  column.match = failingSteps;
  await checkList(shelf, { sort: 'title' });
  await checkList(shelf, query);
  assert.deepEqual(shelf.failures, [['title', BROKEN], ['inLanguage-column', BROKEN]]);
});

test('facets and suggestions read the books when a column fails', async () => {
  const shelf = createShelf();
  const { collection, indexes, turns } = shelf;
  const ask = createAggregateClient({ collection, indexes, turns });
  for (const path of ['facets?by=author', 'suggest?q=a']) {
    const expected = await shelf.runUntil(ask(path));
    shelf.runAllTurns();
    const dictionary = indexes.findColumn('author')?.dictionary;
    assert.ok(dictionary !== undefined);
    dictionary.findTop = failingSteps;
    assert.deepEqual(await shelf.runUntil(ask(path)), expected);
    assert.equal(indexes.findColumn('author'), null);
    shelf.clock.standStill(MINUTE_MS);
  }
  assert.deepEqual(shelf.failures, [['author-column', BROKEN], ['author-column', BROKEN]]);
});

test('statistics read the books when a column fails, and all columns that were read are told',
  async () => {
    const shelf = createShelf();
    const { collection, indexes, turns } = shelf;
    const ask = createAggregateClient({ collection, indexes, turns });
    const expected = await shelf.runUntil(ask('statistics?by=year'));
    shelf.runAllTurns();
    const column = indexes.findColumn('rating');
    assert.ok(column !== null);
    column.firstValueAt = () => { throw BROKEN; };
    assert.deepEqual(await shelf.runUntil(ask('statistics?by=year')), expected);
    assert.equal(indexes.findColumn('rating'), null);
    assert.deepEqual(shelf.failures,
      [['finishedOn-column', 'numberOfPages-column', 'rating-column', BROKEN]]);
  });

function* failingSteps(): Steps<never> {
  throw BROKEN;
}

function createShelf(): EngineHarness {
  const shelf = new EngineHarness();
  const random = createRandom(1);
  for (let index = 0; index < BOOKS; index += 1) shelf.put(randomBook(random, `id-${index}`));
  return shelf;
}

/** Does all that goes on in the background, whose first look at a book fails. */
function breakOneRead(shelf: EngineHarness): void {
  const { collection } = shelf;
  collection.onRead = () => {
    collection.onRead = () => {};
    throw BROKEN;
  };
  shelf.runAllTurns();
}

/** Asks for books, and compares them with a naive list. */
async function checkList(shelf: EngineHarness, query: NaiveQuery): Promise<void> {
  const { collection, indexes, turns, books } = shelf;
  const list: BookList = createBookList({ collection, indexes, turns });
  const { books: found } = await shelf.runUntil(list.list({ ...query, typos: 'off' }));
  assert.deepEqual(found.map(({ id }) => id), naiveList([...books.values()], query)
    .map(({ id }) => id));
}
