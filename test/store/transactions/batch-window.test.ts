import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchWindow } from '../../../src/store/transactions/batch-window.ts';

/** Turns until the window is over, `counts` telling how many transactions are there at each. */
function countTurns(counts: (turn: number) => number, bytesEach = 500): number {
  const window = new BatchWindow();
  for (let turn = 0; ; turn += 1) {
    const count = counts(turn);
    if (window.closesThisTurn(count, count * bytesEach)) return turn;
  }
}

test('waits until nobody has come for two turns', () => {
  assert.equal(countTurns(() => 1), 2);
  assert.equal(countTurns((turn) => Math.min(turn + 1, 4)), 5);
  assert.equal(countTurns((turn) => [1, 2, 2, 3][turn] ?? 3), 5);
});

test('waits for nobody longer than a few turns', () => {
  assert.equal(countTurns((turn) => turn + 1), 7);
});

test('closes at once when the batch is large', () => {
  assert.equal(countTurns(() => 1, 8 << 20), 0);
});

test('opens anew for each batch', () => {
  const window = new BatchWindow();
  const ask = (count: number) => window.closesThisTurn(count, count);
  assert.deepEqual([ask(5), ask(5), ask(5)], [false, false, true]);
  assert.deepEqual([ask(5), ask(6), ask(6), ask(6)], [false, false, false, true]);
});
