/** The state of a webhook by its tries and requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  NO_REQUESTS, INITIAL_HEALTH, addEnabling, addFailure, addFinalFailure, addPassedRequest,
  addRejectedRequest, addSuccess, mergeHealth, getStateSinceMs, getState, type FailurePeriod,
  type Health, type RequestWindow,
} from '../../../src/webhooks/health/health.ts';
import { decodeHealth, encodeHealth } from '../../../src/webhooks/health/health-record.ts';
import { below, createRandom } from '../../support/random.ts';

const PERIOD: FailurePeriod = {
  since: '2026-01-02T00:00:00.000Z', webhookVersion: '2026-01-01T00:00:00.000Z',
};

/** Tries at 1, 2, 3, …: `+` succeeds, `-` fails, `!` fails for good. */
function afterTries(tries: string, start = INITIAL_HEALTH): Health {
  return [...tries].reduce((health, outcome, index) => {
    const atMs = index + 1;
    if (outcome === '+') return addSuccess(health, atMs);
    const failed = addFailure(health, { atMs, reason: 'no' }, PERIOD);
    return outcome === '!' ? addFinalFailure(failed, atMs) : failed;
  }, start);
}

/** Requests at 1, 2, 3, …: `p` passes, `r` is refused. */
function afterRequests(
  requests: string, start = INITIAL_HEALTH,
): { readonly health: Health; readonly requests: RequestWindow } {
  return [...requests].reduce((before, one, index) => one === 'p'
    ? addPassedRequest(before.health, before.requests, index + 1)
    : addRejectedRequest(before.health, before.requests, { atMs: index + 1, reason: 'mismatch' }),
  { health: start, requests: NO_REQUESTS });
}

const shown = (health: Health): unknown => [getState(health), getStateSinceMs(health)];

for (const [tries, state, since] of [
  ['', 'healthy', null], ['+', 'healthy', null], ['--', 'healthy', null],
  ['---', 'failing', 1], ['----', 'failing', 1], ['--+--', 'healthy', null],
  ['+--', 'healthy', null], ['+---', 'failing', 2], ['---+', 'healthy', 4],
  ['---+--', 'healthy', 4], ['---+---', 'failing', 5], ['!', 'failing', 1], ['-!', 'failing', 1],
  ['+!', 'failing', 2], ['!+', 'healthy', 2], ['!-', 'failing', 1],
] as const) {
  test(`tries "${tries}" make it ${state} since ${since}`, () => {
    assert.deepEqual(shown(afterTries(tries)), [state, since]);
  });
}

for (const [requests, state, since] of [
  ['r', 'healthy', null], ['rrrr', 'healthy', null], ['rrrrr', 'rejecting', 1],
  ['prrrrr', 'rejecting', 2], ['pppprrrr', 'healthy', null], ['pppprrrrr', 'rejecting', 5],
  ['ppppprrrrr', 'healthy', null], ['ppppprrrrrr', 'rejecting', 6],
  // Of the last 20 more than half: the eleventh is the first too many.
  [`${'p'.repeat(100)}${'r'.repeat(10)}`, 'healthy', null],
  [`${'p'.repeat(100)}${'r'.repeat(11)}`, 'rejecting', 101],
  ['rrrrrpp', 'rejecting', 1], ['rrrrrppp', 'healthy', 8], ['rrrrrpprppp', 'healthy', 11],
  ['rrrrrpprpp', 'rejecting', 1],
  // What was refused before it ended does not count again.
  ['rrrrrpppr', 'healthy', 8], ['rrrrrppprrrrr', 'rejecting', 9],
] as const) {
  test(`requests ${requests.slice(-14)} make it ${state} since ${since}`, () => {
    assert.deepEqual(shown(afterRequests(requests).health), [state, since]);
  });
}

test('failing wins over rejecting, and each ends by itself', () => {
  const { health } = afterRequests('rrrrr');
  const failing = afterTries('---', health);
  assert.deepEqual(shown(failing), ['failing', 1]);
  assert.deepEqual(shown(addSuccess(failing, 9)), ['rejecting', 1]);
  const both = afterRequests('ppp', failing).health;
  assert.deepEqual(shown(both), ['failing', 1]);
  assert.deepEqual(shown(addSuccess(both, 9)), ['healthy', 9]);
});

test('a late try neither begins before the last success nor fails for good after it', () => {
  const healthy = addSuccess(INITIAL_HEALTH, 100);
  const failed = addFailure(healthy, { atMs: 50, reason: 'ETIMEDOUT' });
  assert.equal(failed.firstFailedMs, 100);
  assert.equal(getState(addFinalFailure(addSuccess(failed, 200), 50)), 'healthy');
  assert.equal(addSuccess(healthy, 20).lastSuccessMs, 100);
});

test('the last failure is the one that began last, in whatever order they are reported', () => {
  const quick = addFailure(INITIAL_HEALTH, { atMs: 200, reason: '500' });
  const both = addFailure(quick, { atMs: 100, reason: 'ETIMEDOUT' });
  assert.deepEqual([both.lastFailure, both.failedTries], [{ atMs: 200, reason: '500' }, 2]);
  const again = addFailure(both, { atMs: 200, reason: '503' });
  assert.deepEqual(again.lastFailure, { atMs: 200, reason: '503' });
});

test('what was switched on is healthy since then, unless it fails', () => {
  assert.deepEqual(shown(addEnabling(INITIAL_HEALTH, 7)), ['healthy', 7]);
  assert.deepEqual(shown(addEnabling(afterTries('---'), 7)), ['failing', 1]);
});

test('a reason is at most 200 characters, whole ones', () => {
  const failure = { atMs: 1, reason: '🙂'.repeat(300) };
  const { lastFailure } = addFailure(INITIAL_HEALTH, failure);
  const { lastRejection } = addRejectedRequest(INITIAL_HEALTH, NO_REQUESTS, failure).health;
  for (const cut of [lastFailure, lastRejection]) assert.equal(cut?.reason, '🙂'.repeat(200));
});

test('of two nodes the leading one has the state, and both have the last events', () => {
  const leading = addSuccess(afterTries('---'), 10);
  const other = addFailure(afterTries('----'), { atMs: 5000, reason: 'later' });
  const both = mergeHealth(leading, other);
  assert.deepEqual(shown(both), ['healthy', 10]);
  assert.deepEqual([both.lastSuccessMs, both.lastFailure], [10, { atMs: 5000, reason: 'later' }]);
  assert.deepEqual(shown(mergeHealth(other, leading)), ['failing', 1]);
});

test('a record holds all of it, and one that is not sound is refused', () => {
  const random = createRandom(11);
  for (let round = 0; round < 200; round += 1) {
    const tries = Array.from({ length: 8 }, () => '+-!'[below(random, 3)]).join('');
    const requests = Array.from({ length: 9 }, () => 'pr'[below(random, 2)]).join('');
    const { health } = afterRequests(requests, afterTries(tries));
    const json = encodeHealth('id', 'incoming', health);
    assert.ok(json.startsWith('{"identifier":"id"'));
    assert.deepEqual(decodeHealth(Buffer.from(json)), { direction: 'incoming', health });
  }
  const sound: object = JSON.parse(encodeHealth('id', 'outgoing', afterTries('---')));
  for (const broken of [
    { direction: 'up' }, { failedTries: -1 }, { isFailing: 1 }, { firstFailedAt: null },
    { lastSuccessAt: 'today' }, { lastFailure: {} }, { lastRefusal: 'no' },
    { failurePeriod: { since: 'now' } },
  ]) {
    const bytes = Buffer.from(JSON.stringify({ ...sound, ...broken }));
    assert.throws(() => decodeHealth(bytes), { code: 'damaged' });
  }
  const { failurePeriod: _, ...earlier }: Record<string, unknown> = { ...sound };
  const { health } = decodeHealth(Buffer.from(JSON.stringify(earlier)));
  assert.equal(health.failurePeriod, null, 'of an earlier version');
});
