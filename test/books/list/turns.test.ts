import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { WordIndex } from '../../../src/books/index/word-index.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { getList } from '../../support/list-harness.ts';
import { noSearch } from '../../support/no-search.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

const TURN_MS_MAX = 5;
const SEARCHES = [
  'inLanguage=en', 'inLanguage=en&limit=5', 'sort=title', 'sort=-title&limit=9', 'sort=updatedAt',
  'sort=datePublished&limit=100', 'publishedTo=1960&sort=-id', 'isbn=9780441172719',
];

test('of sorted answers without limit two are under way at a time', async () => {
  const collection = new FakeCollection();
  for (let count = 0; count < 100; count += 1) {
    collection.put(randomBook(createRandom(count), `id-${count}`));
  }
  // Every look at the clock ends a turn.
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs += 10, startTimer: () => ({ cancel: () => {} }) };
  let underWay = 0;
  let underWayMax = 0;
  const walk = collection.walk.bind(collection);
  collection.walk = (start) => {
    underWay += 1;
    underWayMax = Math.max(underWayMax, underWay);
    const given = walk(start);
    const next = (): number => {
      const slot = given.next();
      if (slot < 0) underWay -= 1;
      return slot;
    };
    return { ...given, next };
  };
  const list = createBookList({
    collection, turns: createTurns(clock), search: noSearch,
  });
  const answers = await Promise.all(Array.from({ length: 6 }, () => list.list({ sort: 'title' })));
  assert.deepEqual(answers.map(({ total }) => total), Array.from({ length: 6 }, () => 100));
  assert.deepEqual([underWay, underWayMax], [0, 2]);
});

/** A look at a book takes 0.02 ms here, and nothing else takes any time. */
test('no search holds the loop over 5 ms, nor do many at once', async () => {
  for (const searches of [...SEARCHES.map((search) => [search]), [...SEARCHES, 'q=war', 'q=e']]) {
    const collection = new FakeCollection();
    const random = createRandom(1);
    for (let count = 0; count < 2000; count += 1) collection.put(randomBook(random, `id-${count}`));
    let nowMs = 0;
    let looks = 0;
    collection.onRead = () => {
      nowMs += 0.02;
      looks += 1;
    };
    const clock = { monotonicMs: () => nowMs, startTimer: () => ({ cancel: () => {} }) };
    const next: (() => void)[] = [];
    const turns = createTurns(clock, (run) => next.push(run));
    const search = new WordIndex({ collection, turns, clock });
    const list = createBookList({ collection, turns, search });
    let isDone = false;
    let spentMs = 0;
    // Sending is not part of the search; it waits for its reader.
    const answers = Promise.all(searches.map((one) => getList(list, one, {
      betweenPieces: () => { nowMs = spentMs; },
    }))).then(() => { isDone = true; });
    for (let turn = 0; !isDone; turn += 1) {
      assert.ok(turn < 20_000, 'it ends');
      spentMs = nowMs;
      next.shift()?.();
      assert.ok(nowMs - spentMs <= TURN_MS_MAX, `${nowMs - spentMs} ms in a turn`);
      spentMs = nowMs;
      await someTurns(1);
    }
    await answers;
    assert.ok(looks >= 2000, `${looks} looks`);
  }
});
