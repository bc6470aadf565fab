/** Changes of kept requests: the totals, and bodies apart, follow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAttempt, createPendingRoute } from '../../../src/webhooks/deliveries/route-delivery.ts';
import {
  requestBodyCollection, requestCollection, withRoutes, type StoredRequest,
} from '../../../src/webhooks/inbox/stored-request.ts';
import { RequestStates, readRequestState } from '../../../src/webhooks/inbox/request-states.ts';
import { commitRequests, requestQueue } from '../../../src/webhooks/inbox/request-changes.ts';
import { deliveryCollection } from '../../../src/webhooks/deliveries/delivery.ts';
import { eventIdCollection } from '../../../src/webhooks/inbox/event-ids.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { findCommitted } from '../../../src/store/find-record.ts';
import { openStore } from '../../../src/store/store.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { makeStoredRequest } from './sample-request.ts';

const NO_TOTALS = {
  accepted: 0, pending: 0, done: 0, failed: 0, filtered: 0, duplicate: 0, agedOut: 0, deleted: 0,
};
const LARGE = Buffer.alloc(20_000, 'x');

const COLLECTIONS = [
  requestCollection, requestBodyCollection, deliveryCollection, requestQueue.totals.collection,
  eventIdCollection,
];
const newStore = (): ReturnType<typeof createMemoryStore> => createMemoryStore(COLLECTIONS);
const totalsOf = (store: ReturnType<typeof newStore>): object =>
  ({ ...requestQueue.totals.readCommitted(store) });
const done = (request: StoredRequest): StoredRequest => withRoutes(request,
  request.routes.map((route) => addAttempt(route, {
    at: request.receivedAt, durationMs: 1, success: true, message: null, data: null,
  })), Date.parse(request.receivedAt));

test('totals follow a request from arrival to its end', async () => {
  const store = newStore();
  const request = makeStoredRequest({ body: LARGE });
  const { id } = request;
  await commitRequests(store, (unit) => unit.add(request, LARGE));
  assert.deepEqual(totalsOf(store), { ...NO_TOTALS, accepted: 1, pending: 1 });
  const after = await commitRequests(store, (unit) => unit.change(id, done));
  assert.deepEqual([after?.status, totalsOf(store)],
    ['done', { ...NO_TOTALS, accepted: 1, done: 1 }]);
  const writes = store.lines.at(-1)?.map(({ collection }) => collection);
  assert.deepEqual(writes, ['deliveries', 'request-totals'], 'the request is not written again');
  await commitRequests(store, (unit) => unit.remove(id, 'agedOut', () => false));
  assert.equal(store.collection('requests').size, 1, 'it is not meant');
  await commitRequests(store, (unit) => unit.remove(id, 'agedOut', () => true));
  const sizes = ['requests', 'request-bodies', 'deliveries'].map((name) =>
    store.collection(name).size);
  assert.deepEqual([sizes, totalsOf(store)], [[0, 0, 0],
    { ...NO_TOTALS, accepted: 1, agedOut: 1 }]);
});

test('a pending and a pinned request can be deleted', async () => {
  for (const given of [{}, { pinned: true, status: 'filtered', routes: [] }] as const) {
    const store = newStore();
    const request = makeStoredRequest({ given });
    await commitRequests(store, (unit) => unit.add(request, Buffer.from('{}')));
    assert.equal(await commitRequests(store, (unit) => unit.delete(request.id)), true);
    assert.equal(await commitRequests(store, (unit) => unit.delete(request.id)), false);
    assert.deepEqual(totalsOf(store), { ...NO_TOTALS, accepted: 1, deleted: 1 });
  }
});

test('a request that was read before is read again once one of its deliveries has changed',
  async () => {
    const store = await openStore({
      directory: '/data', files: new SimulatedFiles(), specs: COLLECTIONS, logger: silentLogger,
    });
    const request = makeStoredRequest({});
    const stored = await commitRequests(store, (unit) => unit.add(request, Buffer.from('{}')));
    const changed: StoredRequest[] = [];
    for (const _ of [1, 2]) {
      await commitRequests(store, (unit) => unit.change(request.id, (before) => {
        changed.push(before);
        return done(before);
      }, stored));
    }
    assert.equal(changed[0], stored.item, 'what was read before is taken while it is current');
    assert.deepEqual(changed.map(({ status }) => status), ['pending', 'done']);
    await store.close();
  });

test('the state of a request follows its records, whichever of them has changed', async () => {
  const store = newStore();
  const states = new RequestStates(store);
  const find = findCommitted(store);
  const one = createPendingRoute('a', makeStoredRequest({}).receivedAt);
  for (const routes of [[one], [one, { ...one, name: 'b' }]]) {
    const request = makeStoredRequest({ body: LARGE, given: { routes } });
    const { id } = request;
    const pin = (before: StoredRequest): StoredRequest => ({ ...before, pinned: true });
    const addRoute = (before: StoredRequest): StoredRequest =>
      withRoutes(before, [...before.routes, { ...one, name: 'c' }], 0);
    const steps = [
      () => commitRequests(store, (unit) => void unit.add(request, LARGE)),
      ...[done, pin, addRoute, done].map((change) => () =>
        commitRequests(store, (unit) => void unit.change(id, change))),
    ];
    for (const step of steps) {
      await step();
      const bytes = store.collection('requests').findBytes(id) ?? assert.fail();
      assert.deepEqual(states.find(id), readRequestState(bytes, find));
    }
    assert.ok(states.bytesTotal > LARGE.length);
    await commitRequests(store, (unit) => unit.delete(id));
    assert.deepEqual([states.find(id), states.bytesTotal], [null, 0]);
  }
});
