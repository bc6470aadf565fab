import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatherPace } from '../../../src/store/transactions/batch-window.ts';

/** Turns until a batch is over, `counts` telling how many are there at each. */
function countTurns(
  counts: (turn: number) => number, turnMs: number, syncMs: number, bytesEach = 500,
): number {
  const pace = new GatherPace();
  for (let sync = 0; sync < 50; sync += 1) pace.noteSync(syncMs);
  for (let turn = 0; ; turn += 1) {
    const count = counts(turn);
    if (pace.isOver(count, count * bytesEach, turn * turnMs)) return turn;
  }
}

test('a lone writer is waited on for two turns, a crowd for two after the last', () => {
  assert.equal(countTurns(() => 1, 0.01, 10), 2);
  assert.equal(countTurns((turn) => Math.min(turn + 1, 8), 0.01, 10), 9);
});

test('nobody is waited for longer than a quarter of a sync, nor than a few milliseconds', () => {
  assert.equal(countTurns((turn) => turn + 1, 1, 10), 3);
  assert.equal(countTurns((turn) => turn + 1, 0.1, 0.2), 3);
  assert.equal(countTurns((turn) => turn + 1, 1, 1000), 6);
  assert.ok(countTurns((turn) => turn + 1, 0, 10) < 100);
});

test('a batch that is large goes at once', () => {
  assert.equal(countTurns(() => 1, 0.01, 10, 8 << 20), 0);
});

test('each batch is paced anew', () => {
  const pace = new GatherPace();
  pace.noteSync(100);
  const ask = (count: number, nowMs: number) => pace.isOver(count, count, nowMs);
  assert.deepEqual([ask(5, 0), ask(5, 1), ask(5, 2)], [false, false, true]);
  assert.deepEqual([ask(3, 100), ask(3, 101), ask(3, 102)], [false, false, true]);
});
