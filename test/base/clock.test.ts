import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTimestamp, formatTimestamp, sleep, systemClock } from '../../src/base/clock.ts';

test('a timer takes no delay that Node would make a millisecond of', (context) => {
  const delays: unknown[] = [];
  const timers = context.mock.method(globalThis, 'setTimeout', (_: () => void, delay: unknown) => {
    delays.push(delay);
  });
  for (const delayMs of [2 ** 40, Infinity, 2 ** 31 - 1, 50, 0, -1]) {
    systemClock.startTimer(delayMs, () => {});
  }
  timers.mock.restore();
  assert.deepEqual(delays, [2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 50, 0, 0]);
});

test('a time comes back from its text, whichever was asked for before', () => {
  for (const ms of [0, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_000_123, 0, 0]) {
    assert.equal(parseTimestamp(formatTimestamp(ms)), ms);
  }
  assert.ok(Number.isNaN(parseTimestamp('')));
  assert.ok(Number.isNaN(parseTimestamp('never')));
});

test('many may sleep until one signal aborts, and Node warns of no leak', async (context) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  context.after(() => process.off('warning', onWarning));
  const controller = new AbortController();
  const sleeps = Array.from({ length: 20 }, () => sleep(systemClock, 60_000, controller.signal));
  await new Promise(setImmediate);
  controller.abort();
  await Promise.all(sleeps);
  assert.deepEqual(warnings, []);
});
