import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Statistics } from '../../src/monitoring/statistics.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1, 12);

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

test('each outcome is counted in its minute, in all and by webhook', async () => {
  const clock = new ManualClock({ startMs: START_MS });
  const statistics = new Statistics(clock);
  statistics.record('requests', 'a', 'accepted', 3);
  statistics.record('requests', 'a', 'rejected', 3);
  statistics.record('requests', null, 'rejected', 3);
  await clock.advance(2 * MINUTE_MS);
  statistics.record('requests', 'b', 'failed', 3);
  statistics.record('runs', 'b', 'succeeded', null);
  statistics.record('runs', 'b', 'failed', null);
  statistics.record('runs', 'b', 'failed', null);
  for (let count = 0; count < 3; count += 1) statistics.record('runs', 'b', 'coalesced', null);
  statistics.record('deliveries', 'c', 'delivered', 3);
  statistics.record('deliveries', 'c', 'failed', null);
  const { since, times, requests, runs, deliveries, hooks } = statistics.report('1h');
  assert.equal(since, '2026-01-01T12:00:00.000Z');
  assert.deepEqual([times.length, times.at(-3), times.at(-1)],
    [60, '2026-01-01T12:00:00.000Z', '2026-01-01T12:02:00.000Z']);
  assert.deepEqual(requests.accepted.slice(-3), [1, 0, 0]);
  assert.deepEqual(requests.rejected.slice(-3), [2, 0, 0]);
  assert.deepEqual(requests.failed.slice(-3), [0, 0, 1]);
  assert.deepEqual(requests.p95Ms.slice(-3), [5, null, 5]);
  assert.deepEqual(deliveries.delivered.slice(-3), [0, 0, 1]);
  assert.deepEqual(deliveries.failed.slice(-3), [0, 0, 1]);
  assert.deepEqual([runs.succeeded.at(-1), runs.failed.at(-1), runs.coalesced.at(-1)], [1, 2, 3]);
  assert.deepEqual(hooks.map((one) => [sum(one.runs.succeeded), sum(one.runs.failed)]),
    [[0, 0], [1, 2], [0, 0]]);
  assert.deepEqual(hooks.map(({ hook }) => hook), ['a', 'b', 'c']);
  assert.deepEqual(hooks.map((one) =>
    [sum(one.requests.accepted), sum(one.requests.rejected), sum(one.deliveries.delivered)]),
  [[1, 1, 0], [0, 0, 0], [0, 0, 1]]);
});

test('what is older than the window is gone, and a slot that comes again begins at nought',
  async () => {
    const clock = new ManualClock({ startMs: START_MS });
    const statistics = new Statistics(clock);
    statistics.record('requests', 'old', 'accepted', 1);
    await clock.advance(59 * MINUTE_MS);
    assert.equal(statistics.report('1h').requests.accepted[0], 1);
    await clock.advance(MINUTE_MS);
    assert.equal(sum(statistics.report('1h').requests.accepted), 0);
    assert.deepEqual(statistics.report('1h').hooks, []);
    // The ring's place of the first one is used again.
    statistics.record('requests', 'new', 'rejected', 1);
    const hour = statistics.report('1h');
    assert.deepEqual([sum(hour.requests.accepted), sum(hour.requests.rejected)], [0, 1]);
    assert.deepEqual(hour.hooks.map(({ hook }) => hook), ['new']);
    const day = statistics.report('24h');
    assert.deepEqual([day.times.length, sum(day.requests.accepted), day.requests.accepted.at(-5)],
      [96, 1, 1]);
    await clock.advance(24 * 60 * MINUTE_MS);
    assert.deepEqual(statistics.report('24h').hooks, []);
  });

test('a clock that is set back counts where it stands, and never fails', () => {
  let nowMs = START_MS;
  const statistics = new Statistics({
    now: () => nowMs, monotonicMs: () => 0, startTimer: () => ({ cancel() {} }),
  });
  statistics.record('requests', 'a', 'accepted', 1);
  nowMs -= 5 * MINUTE_MS;
  statistics.record('requests', 'a', 'accepted', 1);
  nowMs += 5 * MINUTE_MS;
  statistics.record('requests', 'a', 'accepted', 1);
  const { accepted } = statistics.report('1h').requests;
  assert.deepEqual([accepted.at(-1), accepted.at(-6)], [2, 1]);
});

test('p95 is the bound that 95 of 100 are below', () => {
  for (const [durations, p95] of [
    [[0], 1], [[1], 1], [[1.1], 2], [[90_000], 60_000],
    [[...new Array<number>(95).fill(3), ...new Array<number>(5).fill(400)], 5],
    [[...new Array<number>(94).fill(3), ...new Array<number>(6).fill(400)], 500],
  ] as const) {
    const statistics = new Statistics(new ManualClock({ startMs: START_MS }));
    for (const duration of durations) statistics.record('requests', 'a', 'accepted', duration);
    const { requests, hooks } = statistics.report('1h');
    assert.deepEqual([requests.p95Ms.at(-1), hooks[0]?.requests.p95Ms.at(-1)], [p95, p95]);
  }
});

test('beyond five hundred webhooks the rest count as other, until some are forgotten', async () => {
  const clock = new ManualClock({ startMs: START_MS });
  const statistics = new Statistics(clock);
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 1250; index += 1) {
      statistics.record(index % 2 === 0 ? 'requests' : 'deliveries', `hook-${index}`, 'failed', 1);
    }
    await clock.advance(MINUTE_MS);
  }
  const { hooks, requests, deliveries } = statistics.report('1h');
  assert.equal(hooks.length, 501);
  assert.deepEqual([sum(requests.failed), sum(deliveries.failed)], [1250, 1250]);
  const other = hooks.find(({ hook }) => hook === 'other');
  assert.deepEqual(
    [sum(other?.requests.failed ?? []), sum(other?.deliveries.failed ?? [])], [750, 750]);
  await clock.advance(60 * MINUTE_MS);
  statistics.record('requests', 'hook-1249', 'failed', 1);
  assert.deepEqual(statistics.report('1h').hooks.map(({ hook }) => hook), ['hook-1249']);
});
