import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  NetworkError, canceledError, deniedError, invalidError, toNetworkError, proxyRefusedError,
  timeoutError,
} from '../../../src/client/network-error.ts';
import {
  isTransientError, isTransientStatus, nextDelayMs, parseRetryAfter,
} from '../../../src/client/policy/retry.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const POLICY = { retries: 2, delayMs: 200, totalTimeoutMs: 15_000 };

test('the transient statuses are those of the contract and no others', () => {
  const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
  assert.deepEqual(statuses.filter(isTransientStatus), [408, 425, 429, 500, 502, 503, 504]);
});

test('network errors and timeouts are tried again, lasting refusals are not', () => {
  const transient = [
    toNetworkError(Object.assign(new Error(), { code: 'ECONNRESET' })),
    toNetworkError(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    toNetworkError(new Error('no code')),
    timeoutError('it', 1), proxyRefusedError(502), proxyRefusedError(403),
  ];
  const lasting = [
    new NetworkError('certificate', 'CERT_HAS_EXPIRED', 'expired'), deniedError(),
    proxyRefusedError(407), invalidError('bad'), canceledError('gone'),
  ];
  assert.deepEqual(transient.filter((error) => !isTransientError(error)), []);
  assert.deepEqual(lasting.filter(isTransientError), []);
});

const DELAYS: readonly (readonly [number, number, number | null, number | null])[] = [
  // attempts so far, elapsed, Retry-After, what follows
  [1, 0, null, 200],
  [2, 0, null, 200],
  [3, 0, null, null],
  [1, 0, 100, 200],
  [1, 0, 0, 200],
  [1, 0, 5000, 5000],
  [1, 9999, 5000, 5000],
  [1, 10_000, 5000, null],
  [1, 0, 3_600_000, null],
  [1, 14_799, null, 200],
  [1, 14_800, null, null],
];

for (const [attempts, elapsedMs, retryAfterMs, expected] of DELAYS) {
  const asked = retryAfterMs === null ? '' : `, asked for ${retryAfterMs} ms`;
  test(`after ${attempts} attempts and ${elapsedMs} ms${asked}: ${expected ?? 'no more'}`, () => {
    assert.equal(nextDelayMs(attempts, elapsedMs, retryAfterMs, POLICY), expected);
  });
}

test('without retries there is one attempt', () => {
  assert.equal(nextDelayMs(1, 0, null, { ...POLICY, retries: 0 }), null);
});

const RETRY_AFTER: readonly (readonly [string | undefined, number | null])[] = [
  ['0', 0],
  ['120', 120_000],
  ['99999999999999999999', 99_999_999_999_999_999_999_000],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
  ['Thu Jan  1 00:00:30 2026', 30_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  [undefined, null],
  ['', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['2026-01-01T00:00:30Z', null],
  ['soon', null],
  ['Thu, nonsense GMT', null],
];

for (const [value, expected] of RETRY_AFTER) {
  test(`Retry-After: ${value ?? '(absent)'} is ${expected === null ? 'nothing' : `${expected} ms`}`,
    () => assert.equal(parseRetryAfter(value, NOW_MS), expected));
}
