import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/base/turns.ts';
import { createAggregateClient } from '../../support/aggregate-harness.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { noSearch } from '../../support/no-search.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

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
    let nowMs = 0;
    collection.onRead = () => { nowMs += 0.02; };
    const next: (() => void)[] = [];
    const turns = createTurns({ monotonicMs: () => nowMs }, (run) => next.push(run));
    const ask = createAggregateClient({ collection, turns, search: noSearch });
    let isDone = false;
    const answer = ask(path).then(() => { isDone = true; });
    for (let turn = 0; !isDone; turn += 1) {
      assert.ok(turn < 20_000, 'it ends');
      const turnStartMs = nowMs;
      next.shift()?.();
      assert.ok(nowMs - turnStartMs <= TURN_MS_MAX, `${nowMs - turnStartMs} ms in a turn`);
      await someTurns(1);
    }
    await answer;
    assert.ok(nowMs >= 40, `${nowMs} ms in all`);
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
    const ask = createAggregateClient({ collection, turns, search: noSearch });
    await assert.rejects(ask(path, response), { code: 'timeout' });
    assert.ok(looks > 0 && looks < 100, `${looks} looks`);
    assert.equal(collection.listenerCount, 0);
  });
}
