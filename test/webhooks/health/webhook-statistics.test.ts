/** What is counted of the attempts of outgoing webhooks, when it is written, and what is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { HealthMonitor } from '../../../src/webhooks/health/health-monitor.ts';
import { healthCollection } from '../../../src/webhooks/health/health-record.ts';
import {
  AttemptStatistics, webhookStatisticsCollection,
} from '../../../src/webhooks/health/webhook-statistics.ts';
import type { OnOutcome } from '../../../src/webhooks/outcome-listeners.ts';
import { answer, startServer } from '../../support/servers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { someTurns } from '../../support/turns.ts';
import { until } from '../../support/until.ts';
import { createContext } from '../context.ts';
import { startRelayFor } from '../relay.ts';

const { name: STATISTICS } = webhookStatisticsCollection;
const HOOKS = { name: 'hooks', key: 'identifier' } as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Place = {
  readonly store: MemoryStore; readonly clock: ManualClock; readonly monitor: HealthMonitor;
  readonly countOutcome: OnOutcome;
};

/** A node with the webhook `a`; with the store of another node. */
async function open({ store = createMemoryStore([HOOKS, healthCollection,
  webhookStatisticsCollection]), clock = new ManualClock() } = {}): Promise<Place> {
  await store.transact((transaction) => {
    transaction.put(HOOKS.name, 'a', '{"identifier":"a"}');
  });
  const find = (identifier: string): ReturnType<HookFinder> =>
    store.collection(HOOKS.name).findBytes(identifier) === undefined ? undefined
      : { identifier, enabled: true, labels: { webhook: identifier } };
  const context = createContext({ store, clock });
  const statistics = new AttemptStatistics(context);
  const monitor = new HealthMonitor(context, {
    direction: 'outgoing', collection: HOOKS.name, webhooks: { find, all: () => [] },
  }, statistics);
  return { store, clock, monitor, countOutcome: statistics.countOutcomes(() => {}) };
}

type HookFinder = ConstructorParameters<typeof HealthMonitor>[1]['webhooks']['find'];

function attempt({ monitor, clock }: Place, isDelivered = true, durationMs = 10): void {
  monitor.recordAttempt('a', isDelivered, durationMs);
  monitor.recordSuccess('a', clock.now());
}

function stored({ store }: Place): Record<string, unknown> {
  const records = store.collection(STATISTICS);
  const walk = records.walk();
  const values: Record<string, unknown> = {};
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const { identifier, ...rest } = JSON.parse(String(records.bytesAt(slot)));
    values[identifier] = rest.values;
  }
  return values;
}

/** The counts of the intervals that have some, by the hour and minute of their begin. */
function shown({ monitor }: Pick<Place, 'monitor'>, window: '1h' | '24h' | '7d' = '7d'): object {
  const { times, deliveries: { delivered, failed, durationMs } } =
    monitor.statistics.read('a', window);
  return Object.fromEntries(times.flatMap((time, index) => durationMs[index] === null ? []
    : [[time.slice(11, 16), [delivered[index], failed[index], durationMs[index]]]]));
}

for (const [window, count] of [['1h', 12], ['24h', 288], ['7d', 2016]] as const) {
  test(`the window ${window} has ${count} five-minute intervals; the last goes on`, async () => {
    const place = await open();
    await place.clock.advance(7 * MINUTE_MS);
    attempt(place);
    attempt(place, false, 30);
    const series = place.monitor.statistics.read('a', window);
    assert.deepEqual([series.window, series.intervalSeconds, series.times.length],
      [window, 300, count]);
    assert.equal(series.times.at(-1), '2026-01-01T00:05:00.000Z');
    const { delivered, failed, durationMs } = series.deliveries;
    assert.deepEqual([delivered.at(-1), failed.at(-1), durationMs.at(-1)], [1, 1, 20]);
    assert.deepEqual([delivered.length, failed.length, durationMs.length], [count, count, count]);
    assert.deepEqual([delivered[0], failed[0], durationMs[0]], [0, 0, null]);
  });
}

test('records hold six hours, as a number of skipped intervals and counts of others', async () => {
  const place = await open();
  attempt(place);
  await place.clock.advance(16 * MINUTE_MS);
  attempt(place, false, 7);
  await place.clock.advance(6 * HOUR_MS);
  attempt(place);
  await place.monitor.close();
  assert.deepEqual(stored(place), {
    'a.2026-01-01T00': [0, 1, 0, 10, 2, 0, 1, 7],
    'a.2026-01-01T06': [3, 1, 0, 10],
  });
});

test('they are written with the health, at most once a minute', async () => {
  const place = await open();
  for (let second = 0; second < 600; second += 1) {
    attempt(place);
    await place.clock.advance(1000);
  }
  const lines = place.store.lines.filter((operations) =>
    operations.some(({ collection }) => collection === STATISTICS));
  assert.equal(lines.length, 10);
  assert.ok(lines.every((operations) =>
    operations.some(({ collection }) => collection === healthCollection.name)));
  // What is counted last is written though no further attempt ends.
  await place.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(stored(place), { 'a.2026-01-01T00': [0, 300, 0, 3000, 0, 300, 0, 3000] });
  assert.equal(place.clock.timerCount, 0);
});

test('a clean stop keeps all, a crash all but the last minute', async () => {
  const place = await open();
  attempt(place);
  await place.clock.advance(10_000);
  attempt(place);
  const crashed = await open(place);
  assert.deepEqual(shown(crashed), { '00:00': [1, 0, 10] });
  await place.monitor.close();
  assert.deepEqual(shown(await open(place)), { '00:00': [2, 0, 10] });
});

test('a write that the store refuses is made again, once', async () => {
  const place = await open();
  attempt(place);
  place.store.setFailure(new AppError('storage_full', 'full'));
  await place.clock.advance(10_000);
  attempt(place, false, 30);
  assert.deepEqual(shown(place), { '00:00': [1, 1, 20] });
  place.store.setFailure(null);
  await place.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(stored(place), { 'a.2026-01-01T00': [0, 1, 1, 40] });
});

test('counts are shown while they are written, and after a write that failed', async () => {
  const place = await open();
  for (const error of [null, new AppError('storage_full', 'full')]) {
    attempt(place);
    const before = shown(place);
    const release = place.store.holdBatches();
    await place.clock.advance(MINUTE_MS);
    assert.deepEqual(shown(place), before);
    place.store.setFailure(error);
    release();
    await someTurns(2);
    assert.deepEqual(shown(place), before);
  }
});

test('two nodes add to one record, and each shows all that is stored', async () => {
  const first = await open();
  const second = await open(first);
  for (const place of [first, second, second]) attempt(place);
  assert.deepEqual([shown(first), shown(second)],
    [{ '00:00': [1, 0, 10] }, { '00:00': [2, 0, 10] }]);
  await first.clock.advance(2 * MINUTE_MS);
  for (const place of [first, second]) assert.deepEqual(shown(place), { '00:00': [3, 0, 10] });
});

test('what is older than a week is not shown, and goes with a later write', async () => {
  const place = await open();
  attempt(place);
  await place.clock.advance(7 * 24 * HOUR_MS - 5 * MINUTE_MS);
  assert.deepEqual(shown(place), { '00:00': [1, 0, 10] });
  assert.deepEqual([shown(place, '24h'), shown(place, '1h')], [{}, {}]);
  await place.clock.advance(5 * MINUTE_MS);
  assert.deepEqual(shown(place), {});
  await place.clock.advance(7 * HOUR_MS);
  attempt(place);
  await place.monitor.close();
  assert.deepEqual(Object.keys(stored(place)), ['a.2026-01-08T06']);
});

test('a clock that was set back adds to an earlier time, and hides what is to come', async () => {
  const early = new ManualClock({ startMs: Date.UTC(2026, 0, 1) });
  const late = new ManualClock({ startMs: Date.UTC(2030, 0, 1) });
  const ahead = await open({ clock: late });
  attempt(ahead);
  await ahead.monitor.close();
  const place = await open({ store: ahead.store, clock: early });
  assert.deepEqual(shown(place), {});
  attempt(place);
  await place.monitor.close();
  assert.deepEqual(Object.keys(stored(place)), ['a.2026-01-01T00']);
});

test('a webhook that is removed leaves no counts, also of a write that is under way', async () => {
  const place = await open();
  attempt(place);
  await place.clock.advance(20_000);
  attempt(place);
  const release = place.store.holdBatches();
  const closing = place.monitor.close();
  const removal = place.store.transact((transaction) => {
    transaction.delete(HOOKS.name, 'a');
    place.monitor.stageRemoval(transaction, 'a');
  });
  release();
  await Promise.all([closing, removal]);
  place.monitor.recordAttempt('a', true, 1);
  assert.deepEqual([stored(place), shown(place)], [{}, {}]);
});

test('a record that is not valid is told as a bug', async () => {
  const place = await open();
  for (const values of ['[1,2,3]', '[0,-1,0,0]', '{}']) {
    await place.store.transact((transaction) => {
      transaction.put(STATISTICS, 'a.2026-01-01T00',
        `{"identifier":"a.2026-01-01T00","values":${values}}`);
    });
    assert.throws(() => place.monitor.statistics.read('a', '1h'), { code: 'damaged' }, values);
  }
});

test('totals are counted by outcome, and kept whatever becomes of the webhooks', async () => {
  const place = await open();
  for (const [kind, outcome, durationMs] of [
    ['requests', 'accepted', 10], ['requests', 'accepted', 30], ['requests', 'rejected', 1],
    ['requests', 'failed', 50], ['runs', 'succeeded', null], ['runs', 'failed', null],
    ['runs', 'coalesced', null], ['deliveries', 'delivered', 20], ['deliveries', 'failed', 40],
  ] as const) place.countOutcome(kind, null, outcome, durationMs);
  const last = ({ monitor }: Place): object => {
    const { requests, runs, deliveries, times } = monitor.statistics.readTotals('7d');
    assert.equal(times.length, 2016);
    return [requests, runs, deliveries].map((series) => Object.fromEntries(
      Object.entries(series).map(([name, values]) => [name, values.at(-1)])));
  };
  const counts = [
    { accepted: 2, rejected: 1, failed: 1, durationMs: 30 }, { succeeded: 1, failed: 1 },
    { delivered: 1, failed: 1, durationMs: 30 },
  ];
  assert.deepEqual(last(place), counts);
  await place.monitor.close();
  assert.deepEqual(last(await open(place)), counts);
  assert.deepEqual(Object.keys(stored(place)),
    ['deliveries', 'rejections', 'requests', 'runs'].map((total) => `${total}.2026-01-01T00`));
});

test('totals of two intervals stand apart, and are written though no health changes', async () => {
  const place = await open();
  place.countOutcome('deliveries', null, 'delivered', 20);
  await place.clock.advance(4 * MINUTE_MS);
  place.countOutcome('deliveries', null, 'failed', 5);
  await place.clock.advance(2 * MINUTE_MS);
  place.countOutcome('deliveries', null, 'delivered', 30);
  await place.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(stored(place), { 'deliveries.2026-01-01T00': [0, 1, 1, 25, 0, 1, 0, 30] });
  assert.equal(place.clock.timerCount, 0);
});

test('a busy week of a webhook takes 24 kB', async () => {
  const place = await open();
  for (let count = 0; count < 2016; count += 1) {
    for (let each = 0; each < 20; each += 1) attempt(place, true, 200);
    await place.clock.advance(5 * MINUTE_MS);
  }
  await place.monitor.close();
  const records = Object.entries(stored(place));
  const bytes = JSON.stringify(records).length;
  assert.ok(records.length <= 29 && bytes < 26_000, `${records.length} records, ${bytes} bytes`);
});

test('an attempt shows in the statistics of its webhook, by name and identifier', async (t) => {
  const relay = await startRelayFor(t, { outgoing: { retrySchedule: [] } });
  const target = await startServer({
    onRequest: ({ head, socket }) => socket.write(answer(head.includes('/good') ? 200 : 500)),
  });
  t.after(() => target.close());
  const ids: string[] = [];
  for (const path of ['good', 'bad']) {
    const { json } = await relay.ask('POST', '/api/outgoing-webhooks', {
      name: path, targetUrl: `http://127.0.0.1:${target.port}/${path}`, triggerEvent: 'a',
    });
    ids.push(String(json['identifier']));
  }
  relay.webhooks.start();
  await relay.ask('POST', '/api/events', { name: 'a', payload: {} });
  const read = async (key: string): Promise<unknown> => {
    const { json } = await relay.ask('GET', `/api/outgoing-webhooks/${key}/statistics`);
    const { delivered, failed } = json['deliveries'] as Record<string, readonly number[]>;
    return [delivered, failed].map((counts = []) => counts.reduce((sum, each) => sum + each, 0));
  };
  for (const [index, counts] of [[1, 0], [0, 1]].entries()) {
    const name = ['good', 'bad'][index] ?? '';
    await until(`${name} is counted`, async () =>
      JSON.stringify(await read(name)) === JSON.stringify(counts));
    assert.deepEqual(await read(ids[index] ?? ''), counts);
  }
  const path = '/api/outgoing-webhooks/good/statistics';
  assert.equal((await relay.ask('GET', `${path}?window=2d`)).status, 400);
  assert.equal((await relay.ask('GET', '/api/outgoing-webhooks/no/statistics')).status, 404);
});
