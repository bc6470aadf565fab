import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { Clock, Timer } from '../../../src/base/clock.ts';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { WordIndex } from '../../../src/books/index/word-index.ts';
import type { SearchCaller } from '../../../src/books/index/book-search.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { getList } from '../../support/list-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

const NETWORK: SearchCaller = { isWanted: () => true, isPatient: false };
const SEEDS = IS_LONG ? 6 : 2;
const QUERIES = [
  'the', 'river war', 'lodz', '1', '19', '東', '東京', '京物語', 'e', 'ecl', 'lem', 'so', '9',
];

test('the index knows every book as it is, through changes, deletes and reused slots', async () => {
  let matches = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const { collection, index } = createIndexed(1 + below(random, 40));
    const books = new Map<string, NaiveBook>();
    for (let round = 0; round < 40; round += 1) {
      for (let count = below(random, 120); count >= 0; count -= 1) {
        const id = `id-${below(random, 400)}`;
        const book = randomBook(random, id);
        if (random() < 0.35) {
          collection.delete(id);
          books.delete(id);
        } else {
          collection.put(book);
          books.set(id, book);
        }
      }
      const q = pick(random, QUERIES);
      const found = await findIds(index, collection, `q=${encodeURIComponent(q)}`);
      const expected = naiveList([...books.values()], { q }).map(({ id }) => id);
      const told = `seed ${seed}, round ${round}: ${q}`;
      if (q === '京物語') assert.ok(expected.every((id) => found.includes(id)), told);
      else assert.deepEqual(found, expected, told);
      matches += expected.length;
    }
  }
  assert.ok(matches > 160 * SEEDS, `${matches} books were found`);
});

test('a book that changes while a query runs is among the candidates', async () => {
  const collection = new FakeCollection();
  for (let count = 0; count < 50; count += 1) {
    collection.put({ ...randomBook(createRandom(count), `id-${count}`), title: 'everywhere' });
  }
  // Every look at the clock ends a turn, and turns are taken by hand.
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs += 10, startTimer: () => ({ cancel: () => {} }) };
  const next: (() => void)[] = [];
  const turns = createTurns(clock, (run) => next.push(run));
  const index = new WordIndex({ collection, turns, clock, memtableBooks: 4 });
  const takeTurns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) {
      next.shift()?.();
      await someTurns(1);
    }
  };
  const first = findIds(index, collection, 'q=everywhere').catch(() => []);
  await takeTurns(2000);
  await first;
  const changes = new ConcurrentChanges(collection);
  const finding = index.find(parseBookQuery('q=everywhere').filter, changes, NETWORK);
  await takeTurns(4);
  for (const id of collection.ids.slice(0, 40)) {
    collection.put({ ...randomBook(createRandom(1), id), title: 'everywhere' });
  }
  await takeTurns(2000);
  assert.equal((await finding)?.slots.count(), 50);
});

test('a book that was changed meanwhile is a candidate, whatever the index says', async () => {
  const { collection, index } = createIndexed(4);
  for (const title of ['sought', 'other']) {
    collection.put({ ...randomBook(createRandom(1), title), title });
  }
  const { filter } = parseBookQuery('q=sought');
  for (const changedSlots of [new Set<number>(), new Set([1])]) {
    const found = await index.find(filter, { changedSlots }, NETWORK);
    assert.deepEqual([found?.slots.has(1), found?.count],
      [changedSlots.has(1), 1 + changedSlots.size]);
  }
});

test('a query waits two seconds for the index, then says when to come again', async () => {
  const { timers, clock, collection, next, turns } = createSlow();
  const index = new WordIndex({ collection, turns, clock });
  const refused = findIds(index, collection, 'q=the');
  await someTurns(1);
  assert.deepEqual(timers.map(({ delayMs }) => delayMs), [2000]);
  while (clock.monotonicMs() < 2000) next.shift()?.();
  timers[0]?.run();
  await assert.rejects(refused, { code: 'unavailable', details: { retryAfterS: 3 } });
  const found = findIds(index, collection, 'q=the');
  while (clock.monotonicMs() < 5000) next.shift()?.();
  for (let turn = 0; turn < 100; turn += 1) {
    await someTurns(1);
    next.shift()?.();
  }
  assert.ok((await found).length > 0, 'what was built while nobody waited is kept');
});

test('nobody is told to come again in more than a minute', async () => {
  const { timers, clock, collection, next, turns } = createSlow(1000);
  const index = new WordIndex({ collection, turns, clock });
  const refused = findIds(index, collection, 'q=the');
  await someTurns(1);
  while (clock.monotonicMs() < 2000) next.shift()?.();
  timers[0]?.run();
  await assert.rejects(refused, { code: 'unavailable', details: { retryAfterS: 60 } });
  index.close();
});

test('a program that embeds us and a command wait until the index is built', async () => {
  const { timers, clock, collection, next, turns } = createSlow();
  const search = new WordIndex({ collection, turns, clock });
  const list = createBookList({ collection, turns, search });
  const embedded = list.list({ q: 'the' });
  const command = getList(list, 'q=the', { isControl: true });
  const leaver = { destroyed: false };
  const left = getList(list, 'q=the', { isControl: true, response: leaver });
  const network = getList(list, 'q=the');
  const refusals = Promise.all([
    assert.rejects(left, { code: 'timeout' }), assert.rejects(network, { code: 'unavailable' }),
  ]);
  // Far more turns than it takes; every timer fires as soon as it is due.
  for (let turn = 0; turn < 20_000 && clock.monotonicMs() < 5000; turn += 1) {
    next.shift()?.();
    leaver.destroyed ||= clock.monotonicMs() > 1000;
    for (const timer of timers.splice(0)) {
      if (timer.dueMs <= clock.monotonicMs()) timer.run();
      else timers.push(timer);
    }
    await someTurns(1);
  }
  for (let turn = 0; turn < 100; turn += 1) {
    next.shift()?.();
    await someTurns(1);
  }
  await refusals;
  const { books, total } = await embedded;
  assert.ok(total > 0);
  assert.deepEqual((await command).books.map(({ id }) => id), books.map(({ id }) => id));
});

/** A catalog of 500 books that take 10 ms each to index, so all take 5 s. */
function createSlow(bookMs = 10) {
  const timers: { delayMs: number; dueMs: number; run: () => void }[] = [];
  let nowMs = 0;
  const clock: Pick<Clock, 'monotonicMs' | 'startTimer'> = {
    monotonicMs: () => nowMs,
    startTimer(delayMs, run): Timer {
      timers.push({ delayMs, dueMs: nowMs + delayMs, run });
      return { cancel: () => {} };
    },
  };
  const collection = new FakeCollection();
  for (let count = 0; count < 500; count += 1) {
    collection.put(randomBook(createRandom(count), `id-${count}`));
  }
  collection.onRead = () => { nowMs += bookMs; };
  const next: (() => void)[] = [];
  const turns = createTurns(clock, (run) => next.push(run));
  return { timers, clock, collection, next, turns };
}

test('what needs no words neither builds the index nor waits for it', async () => {
  const { collection, index } = createIndexed(4);
  collection.put(randomBook(createRandom(1), 'id-1'));
  const changes = new ConcurrentChanges(collection);
  for (const search of ['', 'isbn=9780441172719', 'inLanguage=en', 'publishedTo=1960', 'q=-',
    'publisher=ace', 'keyword.not=war', 'hasIsbn=true', 'bookFormat=EBook', 'author=&author=',
  ]) {
    assert.equal(await index.find(parseBookQuery(search).filter, changes, NETWORK), null);
  }
  assert.equal(collection.listenerCount, 1, 'only our own');
  index.close();
});

test('the index finds books by any of several authors, keywords or ISBNs', async () => {
  const { collection, index } = createIndexed(2);
  const stamp = '2026-01-01T00:00:00.000Z';
  const put = (id: string, name: string, keywords: readonly string[], isbn?: string): void =>
    collection.put({
      id, createdAt: stamp, updatedAt: stamp, title: 'war',
      authors: [{ name }, { name: 'Ann Lee' }],
      ...isbn === undefined ? {} : { isbn }, keywords,
    });
  put('a', 'Society 1914-1918', ['Crime'], '9780441172719');
  put('b', 'Society 19141918', ['crime', 'poetry']);
  put('c', 'Jo Office', ['POETRY'], '9780306406157');
  put('d', '村上春樹', [], '9791090636071');
  put('e', 'Numbers 1-2 3-4 5-6 7-8 9-10', []);
  // A book whose authors have the words of one search only together.
  put('f', 'Jo Lem', ['war crime']);
  const cases: readonly (readonly [search: string, ids: string, isExact?: boolean])[] = [
    ['author=society&author=office', 'abc'],
    ['author=1914-1918+society&author=jo+office', 'abc'],
    ['author=1914-1918+office&author=nobody', ''],
    ['author=jo+lem&author=lee+office', 'cf'],
    ['author=%E6%9D%91%E4%B8%8A&author=lem', 'df'],
    ['author=%E6%9D%91%E4%B8%8A%E6%98%A5&author=lem', 'df', false],
    ['q=%E6%9D%91%E4%B8%8A%E6%98%A5&author=lem&author=ann', 'd', false],
    ['author=numbers+1-2+3-4+5-6+7-8+9-10&author=lem', 'ef', false],
    ['keyword=crime&keyword=poetry', 'abc'],
    ['author=lee&keyword=crime&keyword=none', 'ab'],
    ['author=lee&isbn=9780441172719&isbn=9780306406157', 'ac'],
    ['author=society&author=office&keyword=poetry&q=war', 'bc'],
  ];
  for (const [search, ids, isExact = true] of cases) {
    assert.equal((await findIds(index, collection, search)).join(''), ids, search);
    const changes = new ConcurrentChanges(collection);
    const found = await index.find(parseBookQuery(search).filter, changes, NETWORK);
    changes.stop();
    assert.equal(found?.isExact, isExact, search);
  }
});

test('a closed index lets go of the collection, and of whoever waits for it', async () => {
  const { collection, index } = createIndexed(4);
  for (let count = 0; count < 3000; count += 1) {
    collection.put(randomBook(createRandom(count), `id-${count}`));
  }
  const waiting = findIds(index, collection, 'q=the');
  await someTurns(1);
  index.close();
  index.close();
  await assert.rejects(waiting, { code: 'unavailable' });
  let reads = 0;
  collection.onRead = () => { reads += 1; };
  await someTurns(5);
  assert.equal(reads, 0);
  await assert.rejects(findIds(index, collection, 'q=the'), { code: 'unavailable' });
});

test('an index stays small: 60 bytes a book', async () => {
  const { collection, index } = createIndexed(512);
  const random = createRandom(9);
  for (let count = 0; count < 6000; count += 1) collection.put(randomBook(random, `id-${count}`));
  await findIds(index, collection, 'q=the');
  assert.ok(index.bytes < 60 * 6000, `${index.bytes} bytes`);
  assert.ok(index.bytes > 6000, 'and it is there');
});

function createIndexed(
  memtableBooks: number,
): { collection: FakeCollection; index: WordIndex } {
  const collection = new FakeCollection();
  const turns = createTurns(systemClock);
  const index = new WordIndex({ collection, turns, clock: systemClock, memtableBooks });
  return { collection, index };
}

async function findIds(
  index: WordIndex, collection: FakeCollection, search: string,
): Promise<string[]> {
  const changes = new ConcurrentChanges(collection);
  const found = await index.find(parseBookQuery(search).filter, changes, NETWORK);
  changes.stop();
  const ids: string[] = [];
  if (found === null) throw new Error('the index gave nothing');
  for (let slot = found.slots.next(0); slot >= 0; slot = found.slots.next(slot + 1)) {
    ids.push(collection.idAt(slot) ?? 'an empty slot');
  }
  assert.equal(found.count, ids.length);
  return ids.sort();
}
