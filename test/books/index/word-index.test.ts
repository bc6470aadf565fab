import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createTurns } from '../../../src/base/turns.ts';
import type { Steps } from '../../../src/base/turns.ts';
import type { IndexHost } from '../../../src/books/index/index-host.ts';
import { Memtable } from '../../../src/books/index/memtable.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes, indexAll } from '../../support/index-all.ts';
import { IS_LONG } from '../../support/long.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { pick, randomBook } from '../../support/random-books.ts';
import { below, createRandom } from '../../support/random.ts';
import { runAll, someTurns, turnsUntil } from '../../support/turns.ts';

const SEEDS = IS_LONG ? 6 : 1;
const QUERIES = [
  'the', 'river war', 'lodz', '1', '19', '東', '東京', '京物語', 'e', 'ecl', 'lem', 'so', '9',
];

test('the index knows every book as it is, through changes, deletes and reused slots', () => {
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
      const found = findIds(index, collection, `q=${encodeURIComponent(q)}`);
      const expected = naiveList([...books.values()], { q }).map(({ id }) => id);
      const told = `seed ${seed}, round ${round}: ${q}`;
      if (q === '京物語') assert.ok(expected.every((id) => found.includes(id)), told);
      else assert.deepEqual(found, expected, told);
      matches += expected.length;
    }
  }
  assert.ok(matches > 160 * SEEDS, `${matches} books were found`);
});

test('a search does not wait for books that are not indexed: it tells which they are', () => {
  const { collection, index, manual } = createSteered(500);
  const { filter } = parseBookQuery('q=the');
  assert.equal(index.openWords(filter)?.unseen?.count(), 500);
  manual.runTurns(8);
  const search = index.openWords(filter);
  assert.ok(search !== null);
  const { unseen } = search;
  const unseenCount = unseen?.count() ?? 0;
  assert.ok(unseenCount > 0 && unseenCount < 500, `${unseenCount}`);
  const slots = runAll(search.find(), () => manual.runTurns(1));
  const matchesHere = (slot: number): boolean =>
    naiveList([JSON.parse(`${collection.bytesAt(slot)}`)], { q: 'the' }).length > 0;
  for (let slot = 0; slot < 500; slot += 1) {
    // One that is indexed meanwhile may be there or not.
    if (unseen?.has(slot) === true) continue;
    assert.equal(slots?.has(slot), matchesHere(slot), `slot ${slot}`);
  }
  assert.ok(slots !== null && slots.next(0) >= 0);
  assert.equal(unseen?.count(), unseenCount, 'what was told does not change afterwards');
  manual.runAllTurns();
  assert.equal(index.openWords(filter)?.unseen, null);
});

test('corrections come from the complete index, which they have made', () => {
  const { collection, index } = createSteered(500);
  collection.put({ ...randomBook(createRandom(1), 'last'), title: 'cathedral' });
  index.openWords(parseBookQuery('q=cathedrla').filter);
  // No other turn is taken.
  assert.deepEqual(runAll(index.findCorrections(['cathedrla'], 'anyText')),
    new Map([['cathedrla', 'cathedral']]));
  collection.put({ ...randomBook(createRandom(1), 'last'), title: 'cathedralx' });
  assert.deepEqual(runAll(index.findCorrections(['cathedrla'], 'anyText')),
    new Map([['cathedrla', 'cathedralx']]));
});

test('whoever waits for corrections no more leaves the rest to others', async () => {
  const { collection, index, manual } = createSteered(500);
  collection.put({ ...randomBook(createRandom(1), 'last'), title: 'cathedral' });
  index.openWords(parseBookQuery('q=cathedrla').filter);
  let isWanted = true;
  const left = manual.turns.run(index.findCorrections(['cathedrla'], 'anyText'), () => isWanted);
  const kept = manual.turns.run(index.findCorrections(['cathedrla'], 'anyText'));
  await manual.takeTurns(8);
  isWanted = false;
  assert.equal(await manual.runUntil(left), null);
  assert.deepEqual(await manual.runUntil(kept), new Map([['cathedrla', 'cathedral']]));
});

/** A catalog of random books, whose turns are taken by hand: a step in each. */
function createSteered(count: number) {
  const manual = new ManualTurns();
  const { turns, clock } = manual;
  const collection = new FakeCollection();
  for (let number = 0; number < count; number += 1) {
    collection.put(randomBook(createRandom(number), `id-${number}`));
  }
  const index = createIndexes({ collection, turns, clock, memtableBooks: 16 });
  return { collection, index, manual };
}

test('what needs no words does not build the index', () => {
  const { collection, index } = createIndexed(4);
  collection.put(randomBook(createRandom(1), 'id-1'));
  for (const search of ['', 'isbn=9780441172719', 'inLanguage=en', 'publishedTo=1960', 'q=-',
    'publisher=', 'hasIsbn=true', 'bookFormat=EBook', 'author=&author=',
  ]) {
    assert.equal(index.openWords(parseBookQuery(search).filter), null);
  }
  assert.equal(collection.listenerCount, 0);
  index.close();
});

// The first books fill a memtable and become a segment, or all of them stay in it.
for (const memtableBooks of [1, 100]) {
  test(`any of several names, keywords or ISBNs will do, ${memtableBooks} books`, () => {
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
      ['author=lee&isbn=9780441172719&isbn=9780306406157', 'ac', false],
      ['author=society&author=office&keyword=poetry&q=war', 'bc'],
    ];
    for (const [search, ids, isExact = true] of cases) {
      assert.equal(findIds(index, collection, search).join(''), ids, search);
      const { filter } = parseBookQuery(search);
      assert.equal(index.openWords(filter)?.isExact, isExact, search);
    }
  });
}

test('closed indexes let go of the collection, and of whoever waits for them', async () => {
  const { collection, index, turns } = createIndexed(4);
  for (let count = 0; count < 3000; count += 1) {
    collection.put(randomBook(createRandom(count), `id-${count}`));
  }
  const { filter } = parseBookQuery('q=the');
  index.openWords(filter);
  const waiting = turns.run(index.findCorrections(['rivre'], 'anyText'));
  await someTurns(1);
  index.close();
  index.close();
  assert.deepEqual(await waiting, new Map());
  let reads = 0;
  collection.onRead = () => { reads += 1; };
  await someTurns(5);
  assert.deepEqual([reads, collection.listenerCount, index.openWords(filter)], [0, 0, null]);
});

test('an index stays small: 60 bytes a book', () => {
  const { collection, index } = createIndexed(512);
  const random = createRandom(9);
  for (let count = 0; count < 6000; count += 1) collection.put(randomBook(random, `id-${count}`));
  findIds(index, collection, 'q=the');
  assert.ok(index.bytes < 60 * 6000, `${index.bytes} bytes`);
  assert.ok(index.bytes > 6000, 'and it is there');
});

function createIndexed(memtableBooks: number) {
  const collection = new FakeCollection();
  const turns = createTurns(systemClock);
  return { collection, turns, index: createIndexes({ collection, turns, memtableBooks }) };
}

/** The books that the complete index finds. */
function findIds(index: IndexHost, collection: FakeCollection, search: string): string[] {
  indexAll(index);
  const slots = runAll(index.openWords(parseBookQuery(search).filter)?.find() ?? noSteps());
  const ids: string[] = [];
  if (slots === null) throw new Error('the index gave nothing');
  for (let slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
    ids.push(collection.idAt(slot) ?? 'an empty slot');
  }
  return ids.sort();
}

function* noSteps(): Steps<null> {
  return null;
}

const TIME = '2026-01-01T00:00:00.000Z';
const STAMPS = { id: 'id', createdAt: TIME, updatedAt: TIME };

test('what is mostly of deleted books is made anew and takes less', async () => {
  const collection = new FakeCollection();
  const index = createIndexes({ collection, turns: createTurns(systemClock), memtableBooks: 8 });
  const put = (number: number): void => collection.put({
    ...STAMPS, id: `id-${String(number).padStart(3, '0')}`,
    title: `one${number} two${number} three${number}`,
  });
  for (let number = 0; number < 64; number += 1) put(number);
  index.openWords(parseBookQuery('q=nothing').filter);
  await turnsUntil(() => index.listReports()[0]?.state === 'ready');
  const segmentBytes = (): number => index.bytes - new Memtable().bytes;
  const full = segmentBytes();
  for (const id of collection.ids.slice(4)) collection.delete(id);
  for (let number = 100; number < 108; number += 1) put(number);
  await turnsUntil(() => segmentBytes() < full / 2);
});
