import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConcurrencyLimiter, createTurns } from '../../src/base/turns.ts';
import type { Turns, Steps } from '../../src/base/turns.ts';

const TURN_MS_MAX = 5;

/** A loop of which each turn is run by hand, on a clock that only work moves. */
function createLoop(): {
  turns: Turns; spend: (ms: number) => void; turn: () => number; isIdle: () => boolean;
} {
  let nowMs = 0;
  const next: (() => void)[] = [];
  const turns = createTurns({ monotonicMs: () => nowMs }, (run) => next.push(run));
  return {
    turns,
    spend: (ms) => { nowMs += ms; },
    turn: () => {
      const startMs = nowMs;
      next.shift()?.();
      return nowMs - startMs;
    },
    isIdle: () => next.length === 0,
  };
}

test('runs share alike: none is twice as far as another', () => {
  const { turns, spend, turn } = createLoop();
  const units = new Array<number>(5).fill(0);
  for (const run of units.keys()) {
    void turns.run((function* (): Steps<void> {
      for (;;) {
        spend(0.05);
        units[run] = (units[run] ?? 0) + 1;
        yield;
      }
    })());
  }
  for (let count = 0; count < 200; count += 1) turn();
  assert.ok(Math.max(...units) < 2 * Math.min(...units), units.join(' '));
});

test('short work is done at once, but not more of it than a turn may take', () => {
  const { turns, spend, turn } = createLoop();
  let done = 0;
  const work = function* (): Steps<void> {
    spend(0.2);
    done += 1;
    yield;
  };
  void turns.run(work());
  assert.equal(done, 1);
  for (let count = 0; count < 99; count += 1) void turns.run(work());
  assert.ok(done >= 5 && done * 0.2 <= TURN_MS_MAX, `${done} at once`);
  while (done < 100) assert.ok(turn() <= TURN_MS_MAX);
});

test('work that nobody waits for any more stops, and what it throws is told', async () => {
  const { turns, spend, turn, isIdle } = createLoop();
  let units = 0;
  let isWanted = true;
  const run = turns.run((function* (): Steps<number> {
    for (;;) {
      units += 1;
      spend(1);
      yield;
    }
  })(), () => isWanted);
  turn();
  isWanted = false;
  const before = units;
  while (!isIdle()) turn();
  assert.equal(await run, null);
  assert.equal(units, before);
  const failing = turns.run((function* (): Steps<void> {
    throw new Error('broken');
  })());
  await assert.rejects(failing, /broken/);
});

test('a gate lets so many pass at a time, in order, also after a failure', async () => {
  const gate = createConcurrencyLimiter(2);
  const log: string[] = [];
  const enders: (() => void)[] = [];
  const pass = (name: string): Promise<void> => gate.run(async () => {
    log.push(name);
    await new Promise<void>((end) => enders.push(end));
    if (name === 'a') throw new Error('a failed');
  });
  const first = pass('a');
  const others = ['b', 'c', 'd'].map(pass);
  assert.deepEqual(log, ['a', 'b']);
  enders[0]?.();
  await assert.rejects(first, /a failed/);
  assert.deepEqual(log, ['a', 'b', 'c']);
  enders[1]?.();
  enders[2]?.();
  await new Promise(setImmediate);
  enders[3]?.();
  await Promise.all(others);
  assert.deepEqual(log, ['a', 'b', 'c', 'd']);
  const more = ['e', 'f'].map(pass);
  assert.deepEqual(log.slice(4), ['e', 'f'], 'every slot is free again');
  for (const end of enders.slice(4)) end();
  await Promise.all(more);
});
