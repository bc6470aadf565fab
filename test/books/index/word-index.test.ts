import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { WordIndex } from '../../../src/books/index/word-index.ts';
import type { Candidates, SearchCaller } from '../../../src/books/index/book-search.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { indexAll } from '../../support/index-all.ts';
import { IS_LONG } from '../../support/long.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

const CALLER: SearchCaller = { isWanted: () => true };
const SEEDS = IS_LONG ? 6 : 1;
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

test('a search does not wait for books that are not indexed: it tells which they are', async () => {
  const { collection, index, takeTurns } = createSteered(500);
  const { filter } = parseBookQuery('q=the');
  const find = async (): Promise<Candidates> => {
    const finding = index.find(filter, CALLER);
    await takeTurns(8);
    const found = await finding;
    if (found === null) throw new Error('the index gave nothing');
    return found;
  };
  const first = await find();
  assert.equal(first.unindexed?.count(), 500);
  const { unindexed, slots } = await find();
  const unindexedCount = unindexed?.count() ?? 0;
  assert.ok(unindexedCount > 0 && unindexedCount < 500, `${unindexedCount}`);
  const matchesHere = (slot: number): boolean =>
    naiveList([JSON.parse(`${collection.bytesAt(slot)}`)], { q: 'the' }).length > 0;
  for (let slot = 0; slot < 500; slot += 1) {
    // One that is indexed meanwhile may be there or not.
    if (unindexed?.has(slot) === true) continue;
    assert.equal(slots.has(slot), matchesHere(slot), `slot ${slot}`);
  }
  assert.ok(slots.next(0) >= 0);
  await takeTurns(2000);
  const last = await find();
  assert.equal(last.unindexed, null);
  index.close();
});

test('what is told of books that are not indexed does not change afterwards', async () => {
  const { index, takeTurns } = createSteered(100);
  const finding = index.find(parseBookQuery('q=the').filter, CALLER);
  await takeTurns(2000);
  assert.equal((await finding)?.unindexed?.count(), 100);
  index.close();
});

test('corrections wait for the complete index, as long as somebody waits for them', async () => {
  const { collection, index, takeTurns, timers } = createSteered(500);
  collection.put({ ...randomBook(createRandom(1), 'last'), title: 'cathedral' });
  const { filter } = parseBookQuery('q=cathedrla');
  let isWanted = true;
  const kept = index.findCorrections(filter, CALLER);
  const left = index.findCorrections(filter, { isWanted: () => isWanted });
  let isLeftDone = false;
  const leaving = left.then(() => { isLeftDone = true; });
  await takeTurns(8);
  for (const run of timers.splice(0)) run();
  await takeTurns(8);
  assert.equal(isLeftDone, false);
  isWanted = false;
  for (const run of timers.splice(0)) run();
  await takeTurns(8);
  assert.equal(isLeftDone, true);
  await takeTurns(3000);
  assert.deepEqual(await kept, new Map([['cathedrla', 'cathedral']]));
  assert.deepEqual(await left, new Map());
  await leaving;
  index.close();
});

/** A catalog of random books, whose turns are taken by hand: a step in each. */
function createSteered(count: number) {
  const timers: (() => void)[] = [];
  const manual = new ManualTurns();
  const { turns } = manual;
  manual.clock.startTimer = (_delayMs, run) => {
    timers.push(run);
    return { cancel: () => {} };
  };
  const collection = new FakeCollection();
  for (let number = 0; number < count; number += 1) {
    collection.put(randomBook(createRandom(number), `id-${number}`));
  }
  const index = new WordIndex({ collection, turns, clock: manual.clock, memtableBooks: 16 });
  const takeTurns = (turnsMax: number): Promise<void> => manual.takeTurns(turnsMax);
  return { timers, collection, index, turns, takeTurns };
}

test('what needs no words does not build the index', async () => {
  const { collection, index } = createIndexed(4);
  collection.put(randomBook(createRandom(1), 'id-1'));
  for (const search of ['', 'isbn=9780441172719', 'inLanguage=en', 'publishedTo=1960', 'q=-',
    'publisher=', 'hasIsbn=true', 'bookFormat=EBook', 'author=&author=',
  ]) {
    assert.equal(await index.find(parseBookQuery(search).filter, CALLER), null);
  }
  assert.equal(collection.listenerCount, 0);
  index.close();
});

// The first books fill a memtable and become a segment, or all of them stay in it.
for (const memtableBooks of [1, 100]) {
  test(`any of several names, keywords or ISBNs will do, ${memtableBooks} books`, async () => {
    const { collection, index } = createIndexed(memtableBooks);
    const stamp = '2026-01-01T00:00:00.000Z';
    const put = (id: string, name: string, keywords: readonly string[], isbn?: string): void =>
      collection.put({
        id, createdAt: stamp, updatedAt: stamp, title: 'war',
        authors: [{ name }, { name: 'Ann Lee' }],
        ...isbn === undefined ? {} : { isbn },
        publisher: `House of ${name}`, keywords,
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
      ['publisher=house+society', 'ab'],
      ['publisher=house+society&publisher=office', 'abc'],
      ['publisher=lee', ''],
      ['author=house', ''],
      ['q=house', ''],
      ['publisher=%E6%9D%91%E4%B8%8A%E6%98%A5', 'd', false],
      ['keyword.not=crime', 'cdef'],
      ['keyword.not=CRIME&keyword.not=war+crime&q=war', 'cde'],
      ['keyword.not=nothing', 'abcdef'],
      ['keyword=crime&keyword.not=poetry&publisher=house', 'a'],
      ['author=lee&isbn=9780441172719&isbn=9780306406157', 'ac'],
      ['author=society&author=office&keyword=poetry&q=war', 'bc'],
    ];
    for (const [search, ids, isExact = true] of cases) {
      assert.equal((await findIds(index, collection, search)).join(''), ids, search);
      const found = await index.find(parseBookQuery(search).filter, CALLER);
      assert.equal(found?.isExact, isExact, search);
    }
  });
}

test('a closed index lets go of the collection, and of whoever waits for it', async () => {
  const { collection, index } = createIndexed(4);
  for (let count = 0; count < 3000; count += 1) {
    collection.put(randomBook(createRandom(count), `id-${count}`));
  }
  const waiting = indexAll(index);
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

/** The books that the complete index finds. */
async function findIds(
  index: WordIndex, collection: FakeCollection, search: string,
): Promise<string[]> {
  await indexAll(index);
  const found = await index.find(parseBookQuery(search).filter, CALLER);
  const ids: string[] = [];
  if (found === null) throw new Error('the index gave nothing');
  for (let slot = found.slots.next(0); slot >= 0; slot = found.slots.next(slot + 1)) {
    ids.push(collection.idAt(slot) ?? 'an empty slot');
  }
  return ids.sort();
}
