import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { InFlightCounter } from '../../src/base/in-flight-counter.ts';

const stoppedClock: Clock = { ...systemClock, startTimer: () => ({ cancel() {} }) };

test('is idle once all work has ended, also work that failed', async () => {
  const underWay = new InFlightCounter();
  await underWay.waitUntilIdle(1000, stoppedClock);
  let fail: (error: Error) => void = () => {};
  const failing = underWay.track(new Promise<void>((_, reject) => {
    fail = reject;
  }));
  underWay.begin();
  let isIdle = false;
  const idle = underWay.waitUntilIdle(1000, stoppedClock).then(() => {
    isIdle = true;
  });
  fail(new Error('no luck'));
  await assert.rejects(failing, /no luck/);
  assert.equal(isIdle, false);
  underWay.end();
  await idle;
});

test('waits no longer than the grace', async () => {
  const underWay = new InFlightCounter();
  underWay.begin();
  const waited: number[] = [];
  const clock: Clock = {
    ...systemClock,
    startTimer(delayMs, run) {
      waited.push(delayMs);
      queueMicrotask(run);
      return { cancel() {} };
    },
  };
  await underWay.waitUntilIdle(70, clock);
  assert.deepEqual(waited, [70]);
});
