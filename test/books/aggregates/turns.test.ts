import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/base/turns.ts';
import { createAggregateClient } from '../../support/aggregate-harness.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { ManualTurns } from '../../support/manual-turns.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';

const TURN_MS_MAX = 5;
const PATHS = ['facets', 'suggest?q=r', 'duplicates?by=title'];

function createBooks(count: number): FakeCollection {
  const collection = new FakeCollection();
  const random = createRandom(1);
  for (let index = 0; index < count; index += 1) {
    collection.put(randomBook(random, `id-${index}`));
  }
  return collection;
}

for (const path of PATHS) {
  test(`${path} holds the loop no longer than 5 ms, a look taking 0.02`, async () => {
    const collection = createBooks(2000);
    const manual = new ManualTurns(0);
    const startMs = manual.clock.now();
    collection.onRead = () => manual.clock.standStill(0.02);
    const ask = createAggregateClient({ collection, turns: manual.turns, indexes: null });
    await manual.runUntil(ask(path));
    const { longestTurnMs } = manual;
    assert.ok(longestTurnMs <= TURN_MS_MAX, `${longestTurnMs} ms in a turn`);
    const allMs = manual.clock.now() - startMs;
    assert.ok(allMs >= 40, `${allMs} ms in all`);
  });

  test(`${path} is given up once the client has left`, async () => {
    const collection = createBooks(500);
    const response = { destroyed: false };
    let looks = 0;
    collection.onRead = () => {
      looks += 1;
      response.destroyed = true;
    };
    // Every look at the clock ends a turn.
    let nowMs = 0;
    const turns = createTurns({ monotonicMs: () => nowMs += 10 });
    const ask = createAggregateClient({ collection, turns, indexes: null });
    await assert.rejects(ask(path, response), { code: 'timeout' });
    assert.ok(looks > 0 && looks < 100, `${looks} looks`);
    assert.equal(collection.listenerCount, 0);
  });
}
