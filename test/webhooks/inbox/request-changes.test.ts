/** Changes of kept requests: the totals, and bodies apart, follow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changeDeliveries, type StoredRequest,
} from '../../../src/webhooks/incoming/stored-request.ts';
import { RequestStates, readRequestState } from '../../../src/webhooks/inbox/request-states.ts';
import { addRequest, requestSpec } from '../../../src/webhooks/inbox/request-changes.ts';
import { findRequest } from '../../../src/webhooks/inbox/request-codec.ts';
import { createRouteDeliveryId } from '../../../src/webhooks/deliveries/route-delivery-id.ts';
import { changeItem, removeItems } from '../../../src/webhooks/work/change-items.ts';
import { readRemovals } from '../../../src/webhooks/records/removals.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { findCommitted } from '../../../src/store/find-record.ts';
import { openStore } from '../../../src/store/store.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { makeRoute, makeStoredRequest, runAll } from './sample-request.ts';

const NO_TOTALS = {
  pending: 0, done: 0, failed: 0, filtered: 0, duplicate: 0, agedOut: 0, deleted: 0,
};
const LARGE = Buffer.alloc(20_000, 'x');

const newStore = (): MemoryStore => createMemoryStore(webhookCollections);
const totalsOf = (store: MemoryStore): object => ({
  ...new RequestStates(store).countByStatus(),
  ...readRemovals(findCommitted(store), requestSpec.noun),
});
const done = (request: StoredRequest): StoredRequest =>
  runAll(request, Date.parse(request.receivedAt));

test('totals follow a request from arrival to its end', async () => {
  const store = newStore();
  const request = makeStoredRequest({ body: LARGE });
  const { id } = request;
  const states = new RequestStates(store);
  await store.transact((transaction) => addRequest(transaction, request, LARGE));
  assert.deepEqual(totalsOf(store), { ...NO_TOTALS, pending: 1 });
  const changed = await store.transact((transaction) =>
    changeItem(requestSpec, transaction, id, done));
  assert.deepEqual([changed?.after.status, totalsOf(store)], ['done', { ...NO_TOTALS, done: 1 }]);
  const writes = store.lines.at(-1)?.map(({ collection }) => collection);
  assert.deepEqual(writes, ['deliveries'], 'the request is not written again');
  const remove = (ids: readonly string[]): Promise<number> => store.transact((transaction) =>
    removeItems(requestSpec, transaction, ids, 'agedOut'));
  assert.deepEqual([await remove([]), store.collection('requests').size], [0, 1]);
  assert.equal(await remove([id, id]), 1);
  const sizes = ['requests', 'request-bodies', 'deliveries'].map((name) =>
    store.collection(name).size);
  assert.deepEqual([sizes, totalsOf(store)], [[0, 0, 0], { ...NO_TOTALS, agedOut: 1 }]);
  const { pending, done: doneCount } = states.countByStatus();
  assert.deepEqual([pending, doneCount], [0, 0], 'what followed the changes counts the same');
});

/** What no change touches, and what follows from the deliveries, which have their own records. */
type FixedMember = 'id' | 'receivedAt' | 'hook' | 'method' | 'path' | 'query' | 'headers'
  | 'signatures' | 'bodyBytes' | 'bodySha256' | 'client' | 'host' | 'protocol' | 'event' | 'eventId'
  | 'eventIdReused' | 'verdict' | 'duplicateOf' | 'replayOf' | 'inlineBody'
  | 'status' | 'updatedAt' | 'deliveries';

/** Another value for each member that a change may touch: a new one must be added. */
const CHANGES: Omit<StoredRequest, FixedMember> = {
  pinned: true, answered: { status: 200, afterMs: 7 }, isReplay: true,
  unparsed: { fittingFormat: 'text' },
};

test('each member that a change may touch is written, also together with a delivery', async () => {
  for (const [name, value] of Object.entries(CHANGES)) {
    const store = newStore();
    const request = makeStoredRequest({});
    await store.transact((transaction) => addRequest(transaction, request, Buffer.from('{}')));
    await store.transact((transaction) => changeItem(requestSpec, transaction, request.id,
      (before) => ({ ...done(before), [name]: value })));
    const stored = findRequest(findCommitted(store), request.id);
    assert.deepEqual([stored?.status, Object(stored)[name]], ['done', value]);
  }
});

test('a pending and a pinned request can be deleted', async () => {
  for (const given of [{}, { pinned: true, status: 'filtered', deliveries: [] }] as const) {
    const store = newStore();
    const request = makeStoredRequest({ given });
    await store.transact((transaction) => addRequest(transaction, request, Buffer.from('{}')));
    const remove = (): Promise<number> => store.transact((transaction) =>
      removeItems(requestSpec, transaction, [request.id], 'deleted'));
    assert.deepEqual([await remove(), await remove()], [1, 0]);
    assert.deepEqual(totalsOf(store), { ...NO_TOTALS, deleted: 1 });
  }
});

test('a request that was read before is read again once one of its deliveries has changed',
  async () => {
    const store = await openStore({
      directory: '/data', files: new SimulatedFiles(), specs: webhookCollections,
      logger: silentLogger,
    });
    const request = makeStoredRequest({});
    const stored = await store.transact((transaction) =>
      addRequest(transaction, request, Buffer.from('{}')));
    const changed: StoredRequest[] = [];
    for (const _ of [1, 2]) {
      await store.transact((transaction) =>
        changeItem(requestSpec, transaction, request.id, (before) => {
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
  const one = makeRoute({ route: 'a' });
  for (const deliveries of [[one], [one, makeRoute({ route: 'b' })]]) {
    const request = makeStoredRequest({ body: LARGE, given: { deliveries } });
    const { id } = request;
    const pin = (before: StoredRequest): StoredRequest => ({ ...before, pinned: true });
    const addRoute = (before: StoredRequest): StoredRequest =>
      changeDeliveries(before, 0, (old, updatedAt) => [...old, {
        ...makeRoute({ route: 'c', updatedAt }),
        identifier: createRouteDeliveryId(id, old.length),
      }]);
    const steps = [
      () => store.transact((transaction) => void addRequest(transaction, request, LARGE)),
      ...[done, pin, addRoute, done].map((change) => () => store.transact((transaction) =>
        void changeItem(requestSpec, transaction, id, change))),
    ];
    for (const step of steps) {
      await step();
      const bytes = store.collection('requests').findBytes(id) ?? assert.fail();
      assert.deepEqual(states.find(id), readRequestState(bytes, find));
    }
    assert.ok(states.bytesTotal > LARGE.length);
    await store.transact((transaction) =>
      removeItems(requestSpec, transaction, [id], 'deleted'));
    assert.deepEqual([states.find(id), states.bytesTotal], [null, 0]);
  }
});
