/** Requests as versions before 1.1 stored them, with their routes: read, run, and written anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCommitted } from '../../../src/store/find-record.ts';
import { hasOldForm, encodeRequest } from '../../../src/webhooks/inbox/request-codec.ts';
import { beginNewForm, keepOldForm } from '../../../src/webhooks/durable-queue/record-form.ts';
import {
  changeRequests, commitRequests, requestQueue,
} from '../../../src/webhooks/inbox/request-changes.ts';
import { reconcileRequests } from '../../../src/webhooks/inbox/request-reconciliation.ts';
import { RequestStates } from '../../../src/webhooks/inbox/request-states.ts';
import { addAttempt, createPendingRoute } from '../../../src/webhooks/deliveries/route-delivery.ts';
import type { StoredRequest } from '../../../src/webhooks/inbox/stored-request.ts';
import { CoalescedResult } from '../../../src/webhooks/actions/run-action.ts';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { InboxSimulation } from '../runs/inbox.ts';
import { makeStoredRequest } from './sample-request.ts';

const AT = '2026-01-01T00:00:00.000Z';
const DONE = addAttempt(createPendingRoute('a', AT), {
  at: AT, durationMs: 1, success: true, message: null, data: {},
});

/** Puts a request as an older version did, with its place in the totals. */
async function putOld(inbox: InboxSimulation, request: StoredRequest): Promise<void> {
  await inbox.run(inbox.store.transact((transaction) => {
    transaction.put('requests', request.id, encodeRequest(request, true));
    changeRequests(transaction, (unit) => unit.count('pending', 1));
  }));
}

function isOld({ store }: InboxSimulation, id: string): boolean {
  const bytes = store.collection('requests').findBytes(id);
  assert.ok(bytes !== undefined);
  return hasOldForm(bytes);
}

function deliveriesOf({ store }: InboxSimulation, id: string): number {
  const find = findCommitted(store);
  return [0, 1].filter((index) => find('deliveries', `${id}.${index}`) !== undefined).length;
}

test('an old request is run where it is pending, and then written as request and deliveries',
  async () => {
    const inbox = new InboxSimulation();
    const hook = await inbox.addWebhook(['a', 'b']);
    const request = makeStoredRequest({
      given: { hook, routes: [DONE, createPendingRoute('b', AT)] },
    });
    await putOld(inbox, request);
    await inbox.clock.advance(0);
    assert.deepEqual(inbox.runs.map(({ route }) => route), ['b']);
    assert.deepEqual(inbox.states(request.id), ['done', 'done', 'done']);
    assert.deepEqual([isOld(inbox, request.id), deliveriesOf(inbox, request.id)], [false, 2]);
    const states = new RequestStates(inbox.store);
    const { isReconciled, problems } = await inbox.run(reconcileRequests(inbox.store, states));
    assert.deepEqual([isReconciled, problems], [true, []]);
  });

test('beside older nodes requests stay as these can read them, through failures and retries',
  async () => {
    const inbox = new InboxSimulation();
    await inbox.run(keepOldForm(inbox.store));
    const hook = await inbox.addWebhook(['a', 'b']);
    let isFailing = true;
    inbox.act = ({ route }) =>
      isFailing && route === 'b' ? ActionResult.fail('not yet') : ActionResult.ok({});
    const id = await inbox.accept(hook, ['a', 'b']);
    await inbox.clock.advance(0);
    assert.deepEqual(inbox.states(id), ['pending', 'done', 'pending']);
    assert.deepEqual([isOld(inbox, id), deliveriesOf(inbox, id)], [true, 0]);
    isFailing = false;
    await inbox.clock.advance(10_000);
    assert.deepEqual(inbox.states(id), ['done', 'done', 'done']);
    assert.deepEqual(inbox.runs.map(({ route, attempt }) => [route, attempt]),
      [['a', 1], ['b', 1], ['b', 2]]);
    assert.deepEqual([isOld(inbox, id), deliveriesOf(inbox, id)], [true, 0]);
    assert.equal(requestQueue.totals.readCommitted(inbox.store).done, 1);
  });

test('beside older nodes a coalesced route is stored as they can read it', async () => {
  const inbox = new InboxSimulation();
  await inbox.run(keepOldForm(inbox.store));
  const hook = await inbox.addWebhook(['a', 'b']);
  inbox.act = ({ route }) => route === 'b' ? new CoalescedResult() : ActionResult.ok({});
  const id = await inbox.accept(hook, ['a', 'b']);
  await inbox.clock.advance(0);
  assert.deepEqual(inbox.states(id), ['done', 'done', 'coalesced']);
  const stored = JSON.parse(String(inbox.store.collection('requests').findBytes(id)));
  assert.deepEqual(stored.routes.map(({ status }: { status: string }) => status), ['done', 'done']);
  await inbox.run(beginNewForm(inbox.store, () => true));
  await inbox.run(commitRequests(inbox.store, (unit) =>
    unit.change(id, (before) => ({ ...before, pinned: true }))));
  assert.deepEqual([isOld(inbox, id), inbox.states(id)], [false, ['done', 'done', 'coalesced']]);
});

test('the new form begins between two attempts of a route', async () => {
  const inbox = new InboxSimulation();
  await inbox.run(keepOldForm(inbox.store));
  const hook = await inbox.addWebhook(['a']);
  inbox.act = ({ attempt }) => attempt === 1 ? ActionResult.fail('no') : ActionResult.ok({});
  const id = await inbox.accept(hook, ['a']);
  await inbox.clock.advance(0);
  await inbox.run(beginNewForm(inbox.store, () => false));
  assert.equal(inbox.store.collection('record-forms').size, 0, 'an older node is there');
  await inbox.run(beginNewForm(inbox.store, () => true));
  await inbox.clock.advance(10_000);
  assert.deepEqual(inbox.states(id), ['done', 'done']);
  assert.deepEqual([isOld(inbox, id), deliveriesOf(inbox, id)], [false, 1]);
  await inbox.run(keepOldForm(inbox.store));
  const next = await inbox.accept(hook, ['a']);
  assert.equal(isOld(inbox, next), false, 'once begun, the new form stays');
});

test('an old request that is removed takes its tasks along', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook(['a'], { enabled: false });
  const request = makeStoredRequest({ given: { hook, routes: [createPendingRoute('a', AT)] } });
  await putOld(inbox, request);
  await inbox.run(inbox.store.transact((transaction) =>
    changeRequests(transaction, (unit) => unit.delete(request.id))));
  await inbox.run(inbox.webhooks.resources.incoming.patch(hook, { enabled: true }));
  await inbox.clock.advance(10_000);
  assert.deepEqual(inbox.runs, []);
});
