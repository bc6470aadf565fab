import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { createTurns } from '../../../src/base/turns.ts';
import type { Steps, Turns } from '../../../src/base/turns.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes } from '../../support/index-all.ts';
import { getList } from '../../support/list-harness.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { below, createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';

const TURN_MS_MAX = 5;
// A hundred looks or so: where the turns fall decides it.
const STEP_MS_MAX = 2.5;
const SEARCHES = [
  'inLanguage=en', 'inLanguage=en&limit=5', 'sort=title', 'sort=-title&limit=9', 'sort=updatedAt',
  'sort=datePublished&limit=100', 'publishedTo=1960&sort=-id', 'isbn=9780441172719',
];
const INDEXED_SEARCHES = [
  'sort=title&limit=20', 'sort=-author&limit=50', 'sort=updatedAt', 'sort=-datePublished&limit=20',
  'inLanguage=en&sort=-createdAt,title&limit=20', 'inLanguage=pt&hasIsbn=true&limit=5',
  'q=war&sort=title&limit=20',
];
const BOOKS = 2000;
// Books that change while a query runs.
const PENDING = 500;

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
    const next = given.next.bind(given);
    given.next = () => {
      const slot = next();
      if (slot < 0) underWay -= 1;
      return slot;
    };
    return given;
  };
  const list = createBookList({
    collection, turns: createTurns(clock), indexes: null,
  });
  const answers = await Promise.all(Array.from({ length: 6 }, () => list.list({ sort: 'title' })));
  assert.deepEqual(answers.map(({ total }) => total), Array.from({ length: 6 }, () => 100));
  assert.deepEqual([underWay, underWayMax], [0, 2]);
});

test('no search holds the loop over 5 ms, nor do many at once', async () => {
  for (const searches of [...SEARCHES.map((search) => [search]), [...SEARCHES, 'q=war', 'q=e']]) {
    const measured = await createShelf(false).measure(searches);
    checkTurns(measured, 'by scans');
    const { looks } = measured;
    assert.ok(looks >= BOOKS, `${looks} looks`);
  }
});

test('nor does it by the indexes while they are made, nor when they are behind the changes',
  async () => {
    const shelf = createShelf(true);
    const random = createRandom(2);
    const change = (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        shelf.collection.put(randomBook(random, `id-${below(random, BOOKS)}`));
      }
    };
    const first = await shelf.measure(INDEXED_SEARCHES);
    checkTurns(first, `nothing was there`);
    for (let turn = 0; turn < 3000; turn += 1) shelf.runTurn();
    for (const search of INDEXED_SEARCHES) {
      const told = decodeURIComponent(search);
      const settled = await shelf.measure([search]);
      checkTurns(settled, `${told}`);
      const isPage = search.includes('limit');
      assert.ok(!isPage || settled.looks < BOOKS / 2, `${settled.looks} looks: ${told}`);
      change(PENDING);
      const behind = await shelf.measure([search], () => change(2));
      checkTurns(behind, `behind: ${told}`);
      for (let turn = 0; turn < 3000; turn += 1) shelf.runTurn();
    }
    change(PENDING);
    const together = await shelf.measure(INDEXED_SEARCHES, () => change(2));
    checkTurns(together, `together`);
  });

type TurnsMeasure = {
  readonly longestMs: number; readonly longestStepMs: number; readonly looks: number;
};

/** A turn lasts 3 ms and what its last step takes more. */
function checkTurns({ longestMs, longestStepMs }: TurnsMeasure, told: string): void {
  assert.ok(longestMs <= TURN_MS_MAX, `${longestMs} ms in a turn: ${told}`);
  assert.ok(longestStepMs <= STEP_MS_MAX, `${longestStepMs} ms in a step: ${told}`);
}

type TurnsShelf = {
  readonly collection: FakeCollection;
  readonly runTurn: () => void;
  /** The longest turn and the longest step until all are answered, and the looks at books. */
  readonly measure: (searches: readonly string[], beforeTurn?: () => void) =>
    Promise<TurnsMeasure>;
};

/** A look at a book takes 0.02 ms here, and nothing else takes any time. */
function createShelf(withIndexes: boolean): TurnsShelf {
  const collection = new FakeCollection();
  const random = createRandom(1);
  for (let count = 0; count < BOOKS; count += 1) collection.put(randomBook(random, `id-${count}`));
  const manual = new ManualTurns(0);
  const { clock } = manual;
  let looks = 0;
  collection.onRead = () => {
    clock.standStill(0.02);
    looks += 1;
  };
  let longestStepMs = 0;
  const watch = function* <T>(steps: Steps<T>): Steps<T> {
    for (;;) {
      const startMs = clock.now();
      const step = steps.next();
      longestStepMs = Math.max(longestStepMs, clock.now() - startMs);
      if (step.done === true) return step.value;
      yield;
    }
  };
  const turns: Turns = {
    run: (steps, isWanted) => manual.turns.run(watch(steps), isWanted),
    runLater: (steps, isWanted) => manual.turns.runLater(watch(steps), isWanted),
  };
  const indexes = withIndexes ? createIndexes({ collection, turns, clock }) : null;
  const list = createBookList({ collection, turns, indexes });
  return {
    collection,
    runTurn: () => manual.runTurns(1),
    async measure(searches, beforeTurn = () => {}) {
      looks = 0;
      longestStepMs = 0;
      manual.longestTurnMs = 0;
      await manual.runUntil(Promise.all(searches.map((one) => getList(list, one))), beforeTurn);
      return { longestMs: manual.longestTurnMs, longestStepMs, looks };
    },
  };
}
