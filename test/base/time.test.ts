import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp, parseTimestamp, sleep, systemClock } from '../../src/base/clock.ts';
import { parseHttpDate, parseTime } from '../../src/base/time.ts';

const TIMES: readonly (readonly [string, string])[] = [
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31T12:00:00.123999999Z', '2026-01-31T12:00:00.123Z'],
  ['2026-01-31T00:30:00+02:00', '2026-01-30T22:30:00.000Z'],
  ['2026-01-31T23:30:00-05:30', '2026-02-01T05:00:00.000Z'],
  ['2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.000Z'],
  ['2024-02-29T23:59:59+23:59', '2024-02-29T00:00:59.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
];

for (const [text, expected] of TIMES) {
  test(`${text} is ${expected}`, () => {
    assert.equal(new Date(parseTime(text) ?? NaN).toISOString(), expected);
  });
}

const NO_TIMES: readonly string[] = [
  '', 'yesterday', '2026', '2026-01-31', '2026-01-31T12:00Z', '2026-01-31T12:00:00',
  '2026-01-31 12:00:00Z', '2026-01-31T12:00:00+0000', '2026-01-31T12:00:00+00',
  '2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:00+24:00',
  '2026-01-31T12:00:00+01:60', '2026-02-29T12:00:00Z', '2026-04-31T12:00:00Z',
  '2026-00-10T12:00:00Z', '2026-13-10T12:00:00Z', '2026-01-31T12:00:00.Z',
  '2026-01-31T12:00:00,5Z', ' 2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z\n',
  '+02026-01-31T12:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00', `2026-01-31T12:00:00.${'0'.repeat(100)}Z`,
  // No clock here counts leap seconds.
  '2016-12-31T23:59:60Z',
];

for (const text of NO_TIMES) {
  test(`${JSON.stringify(text.slice(0, 40))} is no time of RFC 3339`, () => {
    assert.equal(parseTime(text), null);
  });
}

const HTTP_DATES: readonly (readonly [string, string | null])[] = [
  ['Fri, 08 Sep 2017 11:24:32 GMT', '2017-09-08T11:24:32.000Z'],
  ['Fri 08 Sep 2017 11:24:32 UTC', '2017-09-08T11:24:32.000Z'],
  ['Thu, 29 Feb 2024 00:00:00 GMT', '2024-02-29T00:00:00.000Z'],
  ['Fri, 29 Feb 2023 00:00:00 GMT', null], ['Fri, 08 anF 2017 11:24:32 GMT', null],
  ['Fri, 08 Abc 2017 11:24:32 GMT', null], ['Fri, 08 Sep 2017 24:00:00 GMT', null],
  ['Fri, 8 Sep 2017 11:24:32 GMT', null], ['Fri, 08 Sep 2017 11:24:32 +0200', null],
  ['2017-09-08T11:24:32Z', null], ['1504869872', null], ['', null],
  ['Fri, 08 Sep 2017 11:24:32 GMT\n', null],
];

for (const [text, expected] of HTTP_DATES) {
  test(`${JSON.stringify(text)} is ${expected ?? 'no HTTP date'}`, () => {
    const ms = parseHttpDate(text);
    assert.equal(ms === null ? null : new Date(ms).toISOString(), expected);
  });
}

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
