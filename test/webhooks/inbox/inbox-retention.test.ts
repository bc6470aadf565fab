/** How long, and how much, of the inbox is kept. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { requestCollection } from '../../../src/webhooks/inbox/request-codec.ts';
import {
  requestBodyCollection, type StoredRequest, type RequestStatus,
} from '../../../src/webhooks/incoming/stored-request.ts';
import { RequestStates } from '../../../src/webhooks/inbox/request-states.ts';
import { requestRetention, type InboxLimits } from '../../../src/webhooks/inbox/inbox-retention.ts';
import { changeItem } from '../../../src/webhooks/work/change-items.ts';
import { readRemovals } from '../../../src/webhooks/records/removals.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { findCommitted } from '../../../src/store/find-record.ts';
import { addRequest, requestSpec } from '../../../src/webhooks/inbox/request-changes.ts';
import { QueueRetention } from '../../../src/webhooks/work/queue-retention.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { INBOX, createContext } from '../context.ts';
import { makeRoute, makeStoredRequest } from './sample-request.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const SMALL = Buffer.from('{}');

const idOf = (number: number): string =>
  `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** The requests that are there, by number. */
const kept = (store: MemoryStore): number[] => {
  const found: number[] = [];
  const collection = store.collection(requestCollection.name);
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    found.push(Number(collection.idAt(slot)?.slice(-12)));
  }
  return found;
};

/** In one step: it looks every minute, a day's worth of which takes seconds here. */
async function pass(clock: ManualClock, durationMs: number): Promise<void> {
  clock.standStill(durationMs);
  await clock.advance(0);
}

async function inbox(context: TestContext, limits: Partial<InboxLimits> = {}): Promise<{
  readonly store: MemoryStore; readonly clock: ManualClock;
  add(number: number, given: Partial<StoredRequest> & { status: RequestStatus }, body?: Buffer):
  Promise<void>;
}> {
  const store = createMemoryStore(webhookCollections);
  const clock = new ManualClock({ startMs: START_MS });
  const retention = new QueueRetention(createContext({ store, clock }), requestSpec,
    requestRetention(new RequestStates(store), { ...INBOX, ...limits }));
  retention.start();
  context.after(() => retention.close());
  return {
    store, clock,
    async add(number: number, given, body = SMALL) {
      const at = formatTimestamp(clock.now());
      const request = makeStoredRequest({
        body, given: { id: idOf(number), receivedAt: at, updatedAt: at, ...given },
      });
      await store.transact((transaction) => addRequest(transaction, request, body));
    },
  };
}

test('finished requests go after their days, failed ones after theirs, others never',
  async (context) => {
    const { store, clock, add } = await inbox(context);
    const statuses = ['done', 'filtered', 'duplicate', 'failed', 'pending'] as const;
    for (const [number, status] of statuses.entries()) await add(number, { status });
    await add(9, { status: 'done', pinned: true });
    await pass(clock, 7 * DAY_MS);
    assert.deepEqual(kept(store), [0, 1, 2, 3, 4, 9]);
    await clock.advance(2 * MINUTE_MS);
    assert.deepEqual(kept(store), [3, 4, 9]);
    await pass(clock, 24 * DAY_MS);
    assert.deepEqual(kept(store), [4, 9]);
    assert.deepEqual(readRemovals(findCommitted(store), requestSpec.noun),
      { agedOut: 4, deleted: 0 });
  });

test('a request of which some routes are done is a failed one, and is so from the beginning',
  async (context) => {
    const { store, clock, add } = await inbox(context);
    const at = formatTimestamp(clock.now());
    const deliveries = (['delivered', 'failed', 'delivered'] as const).map((status) =>
      makeRoute({ status, nextAttemptAt: null }, at));
    await add(1, { status: 'failed', deliveries });
    await pass(clock, 8 * DAY_MS);
    assert.deepEqual(kept(store), [1]);
    await pass(clock, 24 * DAY_MS);
    assert.deepEqual(kept(store), []);
  });

test('beyond their number what finished first goes first, failed or not', async (context) => {
  const { store, clock, add } = await inbox(context, { maxCount: 3 });
  for (const [number, status] of (['failed', 'pending', 'done'] as const).entries()) {
    await add(number, { status });
    await clock.advance(1000);
  }
  assert.deepEqual(kept(store), [0, 1, 2]);
  await add(3, { status: 'pending' });
  await clock.advance(1000);
  assert.deepEqual(kept(store), [1, 2, 3]);
  for (const number of [4, 5, 6]) await add(number, { status: 'pending' });
  await clock.advance(1000);
  assert.deepEqual(kept(store), [1, 3, 4, 5, 6], 'what is pending stays, however many there are');
});

test('beyond their bytes, bodies of their own among them, the oldest go', async (context) => {
  const body = Buffer.alloc(20_000, 'x');
  const { store, clock, add } = await inbox(context, { maxBytes: 50_000 });
  await add(1, { status: 'done' }, body);
  await add(2, { status: 'done', pinned: true }, body);
  await clock.advance(1000);
  assert.deepEqual(kept(store), [1, 2]);
  await add(3, { status: 'done' }, body);
  await clock.advance(1000);
  assert.deepEqual(kept(store), [2, 3]);
  assert.equal(store.collection(requestBodyCollection.name).size, 2);
});

test('what was written since stays', async (context) => {
  const { store, clock, add } = await inbox(context);
  await add(1, { status: 'done' });
  await pass(clock, 6 * DAY_MS);
  await store.transact((transaction) => changeItem(requestSpec, transaction, idOf(1), (before) =>
    ({ ...before, updatedAt: formatTimestamp(clock.now()) })));
  await pass(clock, 2 * DAY_MS);
  assert.deepEqual(kept(store), [1]);
  await pass(clock, 6 * DAY_MS);
  assert.deepEqual(kept(store), []);
});

test('a request that failed before it was done goes in the sweep for which both are old enough',
  async (context) => {
    const { store, clock, add } = await inbox(context);
    await add(1, { status: 'failed' });
    await pass(clock, 25 * DAY_MS);
    await store.transact((transaction) => changeItem(requestSpec, transaction, idOf(1), (before) =>
      ({
        ...before, updatedAt: formatTimestamp(clock.now()),
        deliveries: before.deliveries.map((delivery) =>
          ({ ...delivery, status: 'delivered' as const })),
      })));
    await pass(clock, 8 * DAY_MS);
    assert.deepEqual(kept(store), []);
  });
