import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockOffsets } from '../../src/nodes/clock-offsets.ts';

const START_MS = Date.UTC(2026, 0, 1);
const BEAT_MS = 5000;

type Beat = {
  /** Of its node's clock, ahead of ours. */
  readonly aheadMs?: number;
  /** From sending to applying it here. */
  readonly delayMs?: number;
  /** Since the one before was applied. */
  readonly afterMs?: number;
  readonly id?: string;
  readonly run?: string;
};

/** The offset of node `other` after those beats, and what was told at each. */
function observeAll(beats: readonly Beat[]) {
  const offsets = new ClockOffsets('self');
  let monotonicMs = 0;
  const told = beats.map(({
    aheadMs = 0, delayMs = 0, afterMs = BEAT_MS, id = 'other', run = 'r',
  }) => {
    monotonicMs += afterMs;
    const wallMs = START_MS + monotonicMs;
    const at = new Date(wallMs - delayMs + aheadMs).toISOString();
    return offsets.observe(id, {
      identifier: id, run, at, beat: 1, lengthMs: 15_000, version: '1', address: null,
      position: 0, lag: 0, startedAt: at,
    }, { monotonicMs, wallMs });
  });
  return { offsetMs: offsets.estimateOffsetMs('other'), told: told.filter((ms) => ms !== null) };
}

const repeat = (count: number, beat: Beat): readonly Beat[] =>
  Array.from({ length: count }, () => beat);

const CASES: readonly (readonly [name: string, beats: readonly Beat[], offsetMs: number | null,
  told: readonly number[]])[] = [
  ['two beats tell nothing', repeat(2, { aheadMs: 5000 }), null, []],
  ['a clock ahead is told once', repeat(30, { aheadMs: 1500 }), 1500, [1500]],
  ['a clock behind is told once', repeat(30, { aheadMs: -1500 }), -1500, [-1500]],
  ['up to a second is tolerated', repeat(30, { aheadMs: 1000 }), 1000, []],
  ['the fastest beat counts', [...repeat(5, { delayMs: 4000 }), {}], 0, []],
  ['beats that were held up together are one',
    [...repeat(6, {}), ...repeat(20, { delayMs: 30_000, afterMs: 1 })], 0, []],
  ['a slow way to the engine, which our own beats have too, is no clock that is off',
    Array.from({ length: 20 }, (_, index) =>
      ({ id: index % 2 === 0 ? 'self' : 'other', delayMs: 3000, afterMs: 2500 })), 0, []],
  ['a clock that goes wrong again is told again',
    [2000, 0, 2000].flatMap((aheadMs) => repeat(10, { aheadMs })), 2000, [2000, 2000]],
  ['one that hovers about a second is told once',
    [1100, 900, 1100].flatMap((aheadMs) => repeat(10, { aheadMs })), 1100, [1100]],
  ['a new run counts anew', [...repeat(10, { aheadMs: 2000 }), { run: 's' }], null, [2000]],
];
for (const [name, beats, offsetMs, told] of CASES) {
  test(name, () => assert.deepEqual(observeAll(beats), { offsetMs, told }));
}
