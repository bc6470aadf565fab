import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SlotOrder } from '../../../src/books/engine/slot-order.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { COLUMN_NAMES, EngineHarness, ORDER_KEYS } from '../../support/engine-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveList } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';
import { numbersOf } from '../../support/bit-numbers.ts';

const SEEDS = IS_LONG ? 200 : 2;
const ID_BOUND = 300;
const CONDITIONS = [
  { inLanguage: 'en' }, { bookFormat: 'EBook' }, { hasIsbn: 'true' }, { hasIsbn: 'false' },
  { publishedFrom: '1960-05', publishedTo: '1961' },
];
const MINUTE_MS = 60_000;
const AUTHOR_BYTES = measureAuthorBytes();

test('whatever changes before, while and after they are made, indexes are as if made anew', () => {
  let madeAmidChanges = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const shelf = new EngineHarness();
    shelf.change(random, below(random, 600), ID_BOUND);
    for (let round = 0; round < 40; round += 1) {
      askForSome(random, shelf);
      const makingCount = countMaking(shelf);
      for (let count = below(random, 12); count > 0; count -= 1) {
        shelf.change(random, below(random, 4), ID_BOUND);
        shelf.runTurns(below(random, 30));
      }
      if (countMaking(shelf) < makingCount) madeAmidChanges += 1;
      if (random() < 0.1) shelf.dropAll();
      if (random() < 0.3) shelf.runAllTurns();
      checkReady(shelf, `seed ${seed}, round ${round}`);
    }
    askForAll(shelf);
    shelf.runAllTurns();
    assert.equal(checkReady(shelf, `seed ${seed}`), ORDER_KEYS.length + COLUMN_NAMES.length);
  }
  assert.ok(madeAmidChanges > SEEDS, `${madeAmidChanges} were made`);
});

test('a book is pending from its change until a later turn, and stands where it did', () => {
  const shelf = createMadeShelf(50);
  const order = shelf.indexes.findOrder('title');
  const slotsBefore = slotsOf(order);
  shelf.put({ ...randomBook(createRandom(1), 'id-7'), title: 'zzz' });
  shelf.put({ ...randomBook(createRandom(1), 'id-7'), title: '!' });
  shelf.delete('id-9');
  shelf.put(randomBook(createRandom(1), 'new'));
  assert.deepEqual(pendingOf(shelf), [7, 9]);
  assert.deepEqual(slotsOf(order), slotsBefore);
  shelf.runAllTurns();
  assert.deepEqual(pendingOf(shelf), []);
  assert.equal(slotsOf(order)[0], 7);
  checkReady(shelf);
});

test('reports name what is made and what is ready, with bytes that are reserved from the start',
  () => {
    const shelf = createShelf(1000);
    const { indexes } = shelf;
    assert.deepEqual([indexes.listReports(), indexes.bytes], [[], 0]);
    assert.equal(indexes.findOrder('title'), null);
    assert.equal(indexes.findColumn('hasIsbn'), null);
    const making = indexes.listReports();
    assert.deepEqual(making.map(({ index, state }) => [index, state]),
      [['title', 'making'], ['hasIsbn-column', 'making']]);
    assert.deepEqual(making.map(({ bytes }) => bytes >= 4000), [true, true]);
    shelf.runAllTurns();
    const ready = indexes.listReports();
    assert.deepEqual(ready.map(({ index, state }) => [index, state]),
      [['title', 'ready'], ['hasIsbn-column', 'ready']]);
    const bytes = [indexes.findOrder('title')?.bytes, indexes.findColumn('hasIsbn')?.bytes];
    assert.deepEqual(ready.map((report) => report.bytes), bytes);
    assert.equal(indexes.bytes, Number(bytes[0]) + Number(bytes[1]));
  });

test('indexes that were dropped in the midst of being made are made again', () => {
  const shelf = createShelf(500);
  askForAll(shelf);
  shelf.runTurns(200);
  shelf.dropAll();
  assert.deepEqual(shelf.indexes.listReports(), []);
  shelf.change(createRandom(1), 100, ID_BOUND);
  askForAll(shelf);
  shelf.change(createRandom(2), 100, ID_BOUND);
  shelf.runAllTurns();
  assert.equal(checkReady(shelf), ORDER_KEYS.length + COLUMN_NAMES.length);
});

test('under memory pressure the index that was used longest ago is dropped first', () => {
  const shelf = createShelf(2000);
  for (const name of ['title', 'author', 'updatedAt'] as const) useOrder(shelf, name);
  useColumn(shelf, 'hasIsbn');
  useOrder(shelf, 'title');
  const dropOne = (): readonly string[] => {
    shelf.fit(shelf.indexes.bytes - 1);
    return namesOf(shelf);
  };
  assert.deepEqual(dropOne(), ['title', 'updatedAt', 'hasIsbn-column']);
  assert.deepEqual(dropOne(), ['title', 'hasIsbn-column']);
  assert.deepEqual(dropOne(), ['title']);
  assert.equal(shelf.collection.listenerCount, 1);
  assert.deepEqual(dropOne(), []);
  assert.equal(shelf.collection.listenerCount, 0, 'they listen no more');
});

test('what the word index takes counts: when it has grown, others are dropped', () => {
  const { filter } = parseBookQuery('q=the');
  const other = createShelf(2000);
  other.indexes.openWords(filter);
  other.runAllTurns();
  const shelf = createShelf(2000);
  for (const key of ORDER_KEYS) useOrder(shelf, key);
  shelf.bytesMax = shelf.indexes.bytes + other.indexes.bytes - 1;
  shelf.indexes.openWords(filter);
  shelf.runAllTurns();
  const names = namesOf(shelf);
  assert.deepEqual([names.includes(ORDER_KEYS[0] ?? ''), names.at(-1)], [false, 'words']);
});

test('an index is made in the place of one that nobody has asked for in the last minute', () => {
  const shelf = createShelf(2000);
  useOrder(shelf, 'author');
  shelf.bytesMax = shelf.indexes.bytes + 1000;
  shelf.clock.tickMs = 0;
  assert.notEqual(shelf.indexes.findOrder('author'), null);
  shelf.clock.standStill(MINUTE_MS);
  assert.equal(shelf.indexes.findOrder('title'), null);
  assert.deepEqual(namesOf(shelf), ['author'], 'it was in use within the minute');
  shelf.clock.standStill(1);
  assert.equal(shelf.indexes.findOrder('title'), null);
  assert.deepEqual(namesOf(shelf), ['title']);
});

test('no index is dropped for one that has no room even so', () => {
  const shelf = createShelf(2000);
  useOrder(shelf, 'author');
  // Titles are expected to take more.
  shelf.bytesMax = 8999;
  shelf.clock.standStill(2 * MINUTE_MS);
  assert.equal(shelf.indexes.findOrder('title'), null);
  assert.deepEqual(namesOf(shelf), ['author']);
});

test('a column that takes more than was free is given up until the catalog is smaller', () => {
  const shelf = createAuthorShelf();
  useOrder(shelf, 'title');
  shelf.bytesMax = shelf.indexes.bytes + 50_000;
  assert.equal(shelf.indexes.findColumn('author'), null);
  shelf.runAllTurns();
  assert.deepEqual(namesOf(shelf), ['title'], 'no other is dropped for it');
  assert.equal(shelf.indexes.findColumn('author'), null);
  assert.deepEqual(namesOf(shelf), ['title'], 'nor is it made again');
  shelf.clock.standStill(MINUTE_MS);
  useOrder(shelf, 'title');
  assert.equal(shelf.indexes.findColumn('author'), null);
  assert.deepEqual(namesOf(shelf), ['title'], 'it needs more room than there is');
  for (let index = 100; index < 1000; index += 1) shelf.delete(`id-${index}`);
  shelf.runAllTurns();
  shelf.clock.standStill(MINUTE_MS);
  useOrder(shelf, 'title');
  useColumn(shelf, 'author');
});

test('a column that was given up for others is made once they are not in use', () => {
  const shelf = createAuthorShelf();
  useOrder(shelf, 'title');
  shelf.bytesMax = AUTHOR_BYTES + 1000;
  shelf.indexes.findColumn('author');
  shelf.runAllTurns();
  for (let count = 0; count < 5; count += 1) {
    assert.equal(shelf.indexes.findColumn('author'), null);
    assert.deepEqual(namesOf(shelf), ['title']);
  }
  shelf.clock.standStill(2 * MINUTE_MS);
  useColumn(shelf, 'author');
});

test('a column that grows takes the place of what nobody has asked for in the last minute', () => {
  const shelf = createAuthorShelf();
  useOrder(shelf, 'title');
  shelf.bytesMax = AUTHOR_BYTES + 1000;
  shelf.clock.standStill(2 * MINUTE_MS);
  useColumn(shelf, 'author');
  assert.deepEqual(namesOf(shelf), ['author-column']);
});

test('the word index counts the books that are in no segment yet', () => {
  const shelf = createShelf(50);
  shelf.indexes.openWords(parseBookQuery('q=the').filter);
  const before = shelf.indexes.bytes;
  shelf.runTurns(20);
  assert.ok(shelf.indexes.bytes > before, `${shelf.indexes.bytes} bytes`);
  shelf.fit(shelf.indexes.bytes - 1);
  assert.deepEqual(namesOf(shelf), []);
});

test('without room nothing is made, and nobody listens to the collection for it', () => {
  const shelf = createShelf(2000);
  shelf.bytesMax = 8999;
  askForAll(shelf);
  assert.deepEqual(namesOf(shelf).filter((name) => !name.endsWith('-column')), []);
  shelf.bytesMax = 100;
  shelf.indexes.fit();
  askForAll(shelf);
  assert.deepEqual(namesOf(shelf), []);
  assert.equal(shelf.collection.listenerCount, 0);
});

test('after close none is there, and none is made', () => {
  const shelf = createMadeShelf(50);
  useColumn(shelf, 'hasIsbn');
  shelf.put(randomBook(createRandom(1), 'id-7'));
  shelf.indexes.close();
  shelf.indexes.close();
  askForAll(shelf);
  shelf.runAllTurns();
  assert.deepEqual([shelf.indexes.listReports(), shelf.indexes.bytes], [[], 0]);
  assert.deepEqual(pendingOf(shelf), []);
  assert.equal(shelf.collection.listenerCount, 0);
});

function createShelf(count: number): EngineHarness {
  const shelf = new EngineHarness();
  const random = createRandom(count);
  for (let index = 0; index < count; index += 1) shelf.put(randomBook(random, `id-${index}`));
  return shelf;
}

/** A shelf whose column of authors takes more than is expected. */
function createAuthorShelf(): EngineHarness {
  const shelf = new EngineHarness();
  for (let index = 0; index < 1000; index += 1) {
    const authors = [{ name: `Author ${index}`.repeat(9) }];
    shelf.put({ ...randomBook(createRandom(1), `id-${index}`), authors });
  }
  return shelf;
}

function measureAuthorBytes(): number {
  const shelf = createAuthorShelf();
  useColumn(shelf, 'author');
  return shelf.indexes.bytes;
}

function createMadeShelf(count: number): EngineHarness {
  const shelf = createShelf(count);
  useOrder(shelf, 'title');
  return shelf;
}

function useOrder(shelf: EngineHarness, key: typeof ORDER_KEYS[number]): void {
  shelf.indexes.findOrder(key);
  shelf.runAllTurns();
  assert.notEqual(shelf.indexes.findOrder(key), null);
}

function useColumn(shelf: EngineHarness, name: typeof COLUMN_NAMES[number]): void {
  shelf.indexes.findColumn(name);
  shelf.runAllTurns();
  assert.notEqual(shelf.indexes.findColumn(name), null);
}

function askForAll({ indexes }: EngineHarness): void {
  for (const key of ORDER_KEYS) indexes.findOrder(key);
  for (const name of COLUMN_NAMES) indexes.findColumn(name);
}

function askForSome(random: Random, { indexes }: EngineHarness): void {
  for (const key of ORDER_KEYS) if (random() < 0.1) indexes.findOrder(key);
  for (const name of COLUMN_NAMES) if (random() < 0.1) indexes.findColumn(name);
}

function namesOf({ indexes }: EngineHarness): readonly string[] {
  return indexes.listReports().map(({ index }) => index);
}

function countMaking({ indexes }: EngineHarness): number {
  return indexes.listReports().filter(({ state }) => state === 'making').length;
}

/** Holds each index that is ready to the books but those of pending slots; how many there are. */
function checkReady(shelf: EngineHarness, told = ''): number {
  const { collection, indexes, books } = shelf;
  const pending = new Set(pendingOf(shelf));
  const settled = [...books.values()].filter(({ id }) => !pending.has(collection.findSlot(id)));
  const ready = new Set(indexes.listReports().filter(({ state }) => state === 'ready')
    .map(({ index }) => index));
  for (const key of ORDER_KEYS.filter((name) => ready.has(name))) {
    const ids = slotsOf(indexes.findOrder(key)).filter((slot) => !pending.has(slot))
      .map((slot) => collection.idAt(slot));
    assert.deepEqual(ids, naiveList(settled, { sort: key }).map(({ id }) => id), `${told}: ${key}`);
  }
  for (const condition of CONDITIONS) {
    const { filter } = parseBookQuery(new URLSearchParams(condition).toString());
    const name = filter.values[0]?.row.column ?? 'hasIsbn';
    if (!ready.has(`${name}-column`)) continue;
    const column = indexes.findColumn(name);
    assert.ok(column !== null);
    const sets = filter.values.map((one) => new Set(numbersOf(runAll(column.match(one)))));
    const slots = [...sets[0] ?? []].filter((slot) =>
      !pending.has(slot) && sets.every((set) => set.has(slot)));
    const expected = naiveList(settled, condition).map(({ id }) => collection.findSlot(id));
    assert.deepEqual(slots, expected.sort((left, right) => left - right), `${told}: ${name}`);
  }
  return ready.size;
}

function pendingOf({ indexes }: EngineHarness): readonly number[] {
  const pending = indexes.copyPending();
  return pending === null ? [] : numbersOf(pending);
}

function slotsOf(order: SlotOrder | null): readonly number[] {
  assert.ok(order !== null);
  const slots: number[] = [];
  const all = order.snapshot();
  all.findFirst(0, all.end, (slot) => slots.push(slot) < 0);
  return slots;
}
