import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { Facts } from '../../../src/webhooks/members/filters/facts.ts';
import {
  parseSearchQuery, splitSearchParameters, type SearchQuery, type SearchedRecord,
} from '../../../src/webhooks/records/search-query.ts';
import { createSearches, type SearchWalk } from '../../../src/webhooks/records/searches.ts';

/** Records whose payload is `{"n":<number>}`, from the last number down to 0. */
class NumberWalk implements SearchWalk<number> {
  looked = 0;
  #next: number;

  constructor(count: number) {
    this.#next = count;
  }

  next(): SearchedRecord<number> | null {
    if (this.#next === 0) return null;
    this.#next -= 1;
    this.looked += 1;
    const number = this.#next;
    const bytes = Buffer.from(`{"n":"n${number}"}`);
    return {
      encodedParts: [bytes],
      read: () => ({
        ids: [], texts: [], readPayload: () => bytes,
        createFacts: () => new Facts({ payload: () => ({ n: number }), event: () => null }),
      }),
      decode: () => number,
    };
  }

  position(): { id: string; at: string } {
    return { id: String(this.#next), at: `at ${this.#next}` };
  }

  isStillListed(): boolean { return true; }
}

function parse(search: string): SearchQuery {
  return parseSearchQuery(splitSearchParameters(search), ['payload']);
}

const isWanted = (): boolean => true;

test('a page ends when it is full, and is complete if nothing comes after it', async () => {
  const clock = { monotonicMs: () => 0 };
  const searches = createSearches({ clock, turns: createTurns(clock) });
  const query = parse('q=n');
  assert.deepEqual(await searches.findPage(new NumberWalk(3), query, 2, isWanted),
    { items: [2, 1], stoppedAt: { id: '1', at: 'at 1' } });
  assert.deepEqual(await searches.findPage(new NumberWalk(2), query, 2, isWanted),
    { items: [1, 0], stoppedAt: null });
  assert.deepEqual(await searches.findPage(new NumberWalk(1), query, 2, isWanted),
    { items: [0], stoppedAt: null });
});

test('a page ends after 250 ms, wherever the search is, and goes on from there', async () => {
  let nowMs = 0;
  const clock = { monotonicMs: () => (nowMs += 1) };
  const searches = createSearches({ clock, turns: createTurns(clock) });
  const walk = new NumberWalk(1_000_000);
  const page = await searches.findPage(walk, parse('q=nowhere'), 2, isWanted);
  assert.ok(page !== null && page.stoppedAt !== null);
  assert.deepEqual(page.items, []);
  assert.ok(walk.looked > 100 && walk.looked < 100_000, String(walk.looked));
  assert.equal(page.stoppedAt.id, String(1_000_000 - walk.looked));
  assert.ok(nowMs >= 250 && nowMs < 400, String(nowMs));
});

test('four searches run at once; the next is refused until they have ended', async () => {
  let goOn = (): void => {};
  const clock = { monotonicMs: () => performance.now() };
  const turns = createTurns(clock, (next) => {
    goOn = next;
  });
  const searches = createSearches({ clock, turns });
  const query = parse('q=nowhere');
  const start = (): Promise<unknown> =>
    searches.findPage(new NumberWalk(1_000_000), query, 1, () => !isOver);
  let isOver = false;
  const running = [start(), start(), start(), start()];
  await assert.rejects(start(), (thrown) => thrown instanceof AppError
    && thrown.code === 'unavailable' && thrown.details.retryAfterS === 1);
  // Nobody waits for them any more.
  isOver = true;
  goOn();
  assert.deepEqual(await Promise.all(running), [null, null, null, null]);
  assert.deepEqual(await searches.findPage(new NumberWalk(0), query, 1, isWanted),
    { items: [], stoppedAt: null });
});

test('a search is many short steps, even within one large record', async () => {
  const texts = JSON.stringify({ texts: Array.from({ length: 50_000 }, (_, n) => `text ${n}`) });
  const payload = Buffer.from(texts);
  const record = {
    encodedParts: null, decode: () => 1,
    read: () => ({
      ids: [], texts: [], readPayload: () => payload,
      createFacts: () => new Facts({ payload: () => null, event: () => null }),
    }),
  };
  let steps = 0;
  const turns = createTurns({ monotonicMs: () => 0 });
  const searches = createSearches({
    clock: { monotonicMs: () => 0 },
    turns: {
      ...turns,
      run: (work, wanted) => turns.run((function* () {
        for (let step = work.next(); ; step = work.next()) {
          if (step.done === true) return step.value;
          steps += 1;
          yield;
        }
      })(), wanted),
    },
  });
  let isFirst = true;
  const walk = {
    next: () => {
      const next = isFirst ? record : null;
      isFirst = false;
      return next;
    },
    position: () => ({ id: '1', at: '' }),
    isStillListed: () => true,
  };
  const page = await searches.findPage(walk, parse('q=nowhere'), 1, isWanted);
  assert.deepEqual(page, { items: [], stoppedAt: null });
  assert.ok(steps >= 100, String(steps));
});
