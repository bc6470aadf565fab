import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatherPace } from '../../src/store/gather-pace.ts';

/** Turns until the batch is over, `arrivals[turn]` transactions being there by then. */
function countTurns(counts: (turn: number) => number, turnMs: number, bytesEach = 500): number {
  const pace = new GatherPace();
  for (let turn = 0; ; turn += 1) {
    const count = counts(turn);
    if (pace.isOver(count, count * bytesEach, turn * turnMs)) return turn;
  }
}

test('a lone writer is waited on for two turns, a crowd for two after the last', () => {
  assert.equal(countTurns(() => 1, 0.01), 2);
  assert.equal(countTurns((turn) => Math.min(turn + 1, 8), 0.01), 9);
});

test('writers that never pause are not waited for beyond a few milliseconds', () => {
  assert.equal(countTurns((turn) => turn + 1, 1), 6);
  assert.ok(countTurns((turn) => turn + 1, 0) < 100);
});

test('a batch that is large goes at once', () => {
  assert.equal(countTurns(() => 1, 0.01, 8 << 20), 0);
});

test('each batch is paced anew', () => {
  const pace = new GatherPace();
  const ask = (count: number, nowMs: number) => pace.isOver(count, count, nowMs);
  assert.deepEqual([ask(5, 0), ask(5, 1), ask(5, 2)], [false, false, true]);
  assert.deepEqual([ask(3, 100), ask(3, 101), ask(3, 102)], [false, false, true]);
});
