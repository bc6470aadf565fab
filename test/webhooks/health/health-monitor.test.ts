/** When the health of webhooks is written, and what the log says of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { Replica } from '../../../src/store/store-port.ts';
import {
  getState, getStateSinceMs, type PublicState,
} from '../../../src/webhooks/health/health.ts';
import { HealthMonitor } from '../../../src/webhooks/health/health-monitor.ts';
import { decodeHealth, healthCollection } from '../../../src/webhooks/health/health-record.ts';
import { webhookStatisticsCollection } from '../../../src/webhooks/health/webhook-statistics.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { createContext } from '../context.ts';

const HOOKS = { name: 'hooks', key: 'identifier' } as const;
const STAMPS = '"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:09.000Z"';
const OFF_AT = '2026-01-02T00:00:00.000Z';
const NO = 'no';
const GONE = 'its target answered 410';

type HookFinder = ConstructorParameters<typeof HealthMonitor>[1]['webhooks']['find'];

function createStore(): MemoryStore {
  return createMemoryStore([HOOKS, healthCollection, webhookStatisticsCollection]);
}

class Place {
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  readonly lines: { level: string; message: string; reason?: string }[] = [];
  monitor: HealthMonitor;

  constructor(store = createStore(), clock = new ManualClock()) {
    this.store = store;
    this.clock = clock;
    this.monitor = this.#open();
  }

  async addHook(identifier: string, enabled = true, disabledReason = 'manual'): Promise<void> {
    const off = enabled ? '' : `,"disabledReason":"${disabledReason}","disabledAt":"${OFF_AT}"`;
    await this.store.transact((transaction) => {
      const json = `{"identifier":"${identifier}",${STAMPS},"enabled":${enabled}${off}}`;
      transaction.put(HOOKS.name, identifier, json);
    });
  }

  /** How many records of health were written so far. */
  get writes(): number {
    return this.store.lines.flat().filter(({ collection }) =>
      collection === healthCollection.name).length;
  }

  stored(identifier: string): unknown {
    const bytes = this.store.collection(healthCollection.name).find(identifier)?.bytes;
    if (bytes === undefined) return null;
    const { health } = decodeHealth(bytes);
    return [getState(health), getStateSinceMs(health)];
  }

  /** Fails now, with its result in a transaction. */
  async fail(identifier: string, isForGood = false): Promise<void> {
    const atMs = this.clock.now();
    this.monitor.recordFailure(identifier, { atMs, reason: NO });
    await this.store.transact((transaction) => {
      if (isForGood) this.monitor.recordFinalFailure(identifier, atMs);
      this.monitor.stage(transaction, identifier);
    });
  }

  async succeed(identifier: string): Promise<void> {
    this.monitor.recordSuccess(identifier, this.clock.now());
    await this.store.transact((transaction) => this.monitor.stage(transaction, identifier));
  }

  restart(): void {
    this.monitor = this.#open();
  }

  #open(): HealthMonitor {
    const { store, clock } = this;
    const find = (identifier: string): ReturnType<HookFinder> => {
      const bytes = store.collection(HOOKS.name).find(identifier)?.bytes;
      return bytes === undefined ? undefined
        : { ...JSON.parse(bytes.toString()), labels: { webhook: identifier } };
    };
    const writeLog = (line: string): void => void this.lines.push(JSON.parse(line));
    return new HealthMonitor(createContext({ store, clock, writeLog }), {
      direction: 'outgoing', collection: HOOKS.name,
      webhooks: { find, all: () => ['a', 'b', 'c', 'd'].flatMap((id) => find(id) ?? []) },
    });
  }
}

async function open(): Promise<Place> {
  const place = new Place();
  await place.addHook('a');
  return place;
}

test('any number of tries that change no state are one write in ten seconds', async () => {
  const place = await open();
  for (let second = 0; second < 25; second += 1) {
    for (let count = 0; count < 100; count += 1) {
      place.monitor.recordSuccess('a', place.clock.now());
    }
    await place.clock.advance(1000);
  }
  assert.equal(place.writes, 2);
  await place.clock.advance(60_000);
  assert.equal(place.writes, 3);
  assert.deepEqual(place.lines, []);
});

test('what changes the state is written with the result of its try, and told once', async () => {
  const place = await open();
  const sinceMs = place.clock.now();
  await place.fail('a');
  await place.clock.advance(100);
  await place.fail('a');
  assert.equal(place.writes, 0);
  await place.fail('a');
  assert.deepEqual([place.writes, place.stored('a')], [1, ['failing', sinceMs]]);
  await place.fail('a');
  assert.equal(place.writes, 1);
  await place.succeed('a');
  assert.deepEqual([place.writes, place.stored('a')], [2, ['healthy', place.clock.now()]]);
  assert.deepEqual(place.lines.map(({ level, message }) => [level, message]),
    [['warning', 'a webhook fails'], ['info', 'a webhook works again']]);
  assert.equal(place.lines[0]?.reason, NO);
});

test('what has failed for good is failing at once, and says so once', async () => {
  const place = await open();
  await place.fail('a', true);
  assert.deepEqual(place.stored('a'), ['failing', place.clock.now()]);
  await place.fail('a', true);
  assert.equal(place.lines.length, 1);
});

test('the state and the row of failed tries are there after a restart', async () => {
  const place = await open();
  await place.addHook('b');
  const sinceMs = place.clock.now();
  for (let count = 0; count < 3; count += 1) await place.fail('a');
  await place.fail('b');
  await place.clock.advance(20_000);
  place.restart();
  assert.deepEqual(place.monitor.find('a').firstFailedMs, sinceMs);
  assert.ok(place.monitor.isListedAs('a', 'failing'));
  await place.fail('b');
  await place.fail('b');
  assert.deepEqual(place.stored('b'), ['failing', sinceMs]);
  await place.addHook('c', false, 'gone');
  await place.addHook('d', false);
  const atMs = place.clock.now();
  const offMs = Date.parse(OFF_AT);
  assert.deepEqual(place.monitor.listUnhealthy(), [
    { identifier: 'a', label: 'a', state: 'failing', sinceMs, reason: NO },
    { identifier: 'b', label: 'b', state: 'failing', sinceMs, reason: NO },
    { identifier: 'c', label: 'c', state: 'off', sinceMs: offMs, reason: GONE },
  ]);
  const listed = (state: PublicState): readonly string[] =>
    ['a', 'b', 'c', 'd'].filter((id) => place.monitor.isListedAs(id, state));
  assert.deepEqual([listed('failing'), listed('off'), listed('healthy')],
    [['a', 'b', 'c'], ['c', 'd'], []]);
  place.monitor.recordSuccess('a', atMs);
  assert.deepEqual(listed('healthy'), ['a']);
});

test('a crash leaves what was written, never more than happened', async () => {
  const place = await open();
  const firstMs = place.clock.now();
  place.monitor.recordSuccess('a', firstMs);
  await place.clock.advance(10_000);
  place.monitor.recordSuccess('a', place.clock.now());
  place.restart();
  assert.equal(place.monitor.find('a').lastSuccessMs, firstMs);
});

test('a clean stop writes the rest, and nothing after it', async () => {
  const place = await open();
  await place.clock.advance(100);
  place.monitor.recordSuccess('a', place.clock.now());
  await Promise.all([place.monitor.close(), place.monitor.close()]);
  assert.equal(place.writes, 1);
  place.monitor.recordSuccess('a', place.clock.now());
  await place.clock.advance(60_000);
  assert.equal(place.writes, 1);
});

test('while the store takes no writes nothing is lost', async () => {
  const place = await open();
  place.store.setFailure(new AppError('unavailable', 'no disk'));
  for (let count = 0; count < 3; count += 1) {
    place.monitor.recordFailure('a', { atMs: place.clock.now(), reason: NO });
  }
  place.monitor.writeSoon();
  await place.clock.advance(35_000);
  assert.deepEqual([place.stored('a'), place.lines.length], [null, 1]);
  place.store.setFailure(null);
  await place.clock.advance(10_000);
  assert.deepEqual(place.stored('a'), ['failing', Date.UTC(2026, 0, 1)]);
});

test('a webhook that is removed leaves nothing, whatever still ends', async () => {
  const place = await open();
  await place.fail('a', true);
  await place.store.transact((transaction) => {
    // A try that ends now changes the state once more.
    place.monitor.recordSuccess('a', place.clock.now() + 1);
    transaction.delete(HOOKS.name, 'a');
    place.monitor.stageRemoval(transaction, 'a');
    place.monitor.stage(transaction, 'a');
  });
  await place.fail('a', true);
  place.monitor.writeSoon();
  await place.clock.advance(60_000);
  await place.monitor.close();
  assert.equal(place.stored('a'), null);
  assert.equal(getState(place.monitor.find('a')), 'healthy');
});

async function openNodes(): Promise<readonly [Place, Place]> {
  const store = Object.assign(createStore(), { replica: {} as Replica });
  const clock = new ManualClock();
  const nodes = [new Place(store, clock), new Place(store, clock)] as const;
  await nodes[0].addHook('a');
  return nodes;
}

test('a state that another node writes counts at a node whose own is committed', async () => {
  const [first, second] = await openNodes();
  await first.fail('a', true);
  await first.clock.advance(1000);
  await second.succeed('a');
  const healthy = ['healthy', first.clock.now()];
  for (const { monitor } of [first, second]) assert.equal(getState(monitor.find('a')), 'healthy');
  await first.clock.advance(60_000);
  assert.deepEqual(first.stored('a'), healthy);
});

test('a success that changes no state does not undo what another node writes', async () => {
  const [first, second] = await openNodes();
  second.monitor.recordSuccess('a', first.clock.now());
  await first.clock.advance(5000);
  first.monitor.recordSuccess('a', first.clock.now());
  await second.fail('a', true);
  const failing = ['failing', first.clock.now()];
  await first.clock.advance(60_000);
  assert.deepEqual(first.stored('a'), failing);
});

test('failed tries that another node writes late do not undo a success', async () => {
  const [first, second] = await openNodes();
  for (let count = 0; count < 2; count += 1) await first.fail('a');
  await first.clock.advance(5000);
  second.monitor.recordSuccess('a', first.clock.now());
  await first.clock.advance(5000);
  await second.fail('a');
  assert.deepEqual(first.stored('a'), ['healthy', null]);
});

test('a state that is not committed yet is kept whatever another node writes', async () => {
  const [first, second] = await openNodes();
  await first.fail('a', true);
  await first.clock.advance(60_000);
  first.monitor.recordSuccess('a', first.clock.now());
  for (let count = 0; count < 5; count += 1) {
    second.monitor.recordRejectedRequest('a', { atMs: first.clock.now(), reason: NO });
  }
  await first.clock.advance(0);
  await first.store.transact((transaction) => first.monitor.stage(transaction, 'a'));
  assert.deepEqual(first.stored('a'), ['healthy', first.clock.now()]);
});

test('refused requests are only written when it becomes rejecting, or ceases to be', async () => {
  const place = await open();
  const refuse = (): void =>
    place.monitor.recordRejectedRequest('a', { atMs: place.clock.now(), reason: 'mismatch' });
  for (let count = 0; count < 4; count += 1) refuse();
  await place.clock.advance(60_000);
  assert.equal(place.writes, 0);
  refuse();
  await place.clock.advance(0);
  assert.deepEqual([place.writes, place.stored('a')], [1, ['rejecting', Date.UTC(2026, 0, 1)]]);
  for (let count = 0; count < 1000; count += 1) refuse();
  await place.clock.advance(9_999);
  assert.equal(place.writes, 1);
  for (let count = 0; count < 3; count += 1) {
    place.monitor.recordPassedRequest('a', place.clock.now());
  }
  await place.clock.advance(0);
  assert.deepEqual(place.stored('a'), ['healthy', place.clock.now()]);
  assert.deepEqual(place.lines.map(({ level, message }) => [level, message]), [
    ['warning', 'a webhook rejects most of its requests'],
    ['info', 'a webhook accepts its requests again'],
  ]);
});

test('what is switched on is healthy since then; of what is off no line is written', async () => {
  const place = await open();
  await place.addHook('a', false);
  await place.fail('a', true);
  assert.deepEqual([place.lines, place.monitor.isListedAs('a', 'off')], [[], true]);
  place.monitor.recordSuccess('a', place.clock.now());
  await place.addHook('a', true);
  await place.clock.advance(0);
  assert.deepEqual(place.stored('a'), ['healthy', Date.parse('2026-01-01T00:00:09.000Z')]);
});
