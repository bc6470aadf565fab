/** The order that the routes of an incoming webhook keep among its requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { webhookCollections } from '../../../../src/webhooks/webhooks.ts';
import { InboxSimulation } from './inbox.ts';

const BY_KEY = { key: 'payload.key' };
const RETRY_MS = 5000;

/** A webhook whose routes `a`, `b`, … have these orders, and a first request of the key 1 fails. */
async function withWaiting(
  ...orders: readonly unknown[]
): Promise<{ inbox: InboxSimulation; hook: string; waiting: string }> {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook(routeNames(orders));
  await setOrders(inbox, hook, orders);
  inbox.act = () => ActionResult.fail('not now');
  const waiting = await accept(inbox, hook, 1, routeNames(orders));
  await inbox.clock.advance(100);
  inbox.act = () => ActionResult.ok({});
  return { inbox, hook, waiting };
}

function routeNames(orders: readonly unknown[]): readonly string[] {
  return orders.map((_, index) => 'abc'.charAt(index));
}

async function setOrders(
  inbox: InboxSimulation, hook: string, orders: readonly unknown[],
): Promise<void> {
  const routes = routeNames(orders).map((name, index) =>
    ({ name, actionConfiguration: `c1-${name}`, order: orders[index] }));
  await inbox.run(inbox.webhooks.resources.incoming.patch(hook, { routes } as object));
}

async function accept(
  inbox: InboxSimulation, hook: string, key: unknown, routes: readonly string[] = ['a'],
): Promise<string> {
  // A text in the body, so that a long one has a record of its own.
  const padding = key === 'long' ? 'x'.repeat(40_000) : '';
  const id =
    await inbox.accept(hook, routes, Buffer.from(JSON.stringify({ key, padding })));
  await inbox.clock.advance(1);
  return id;
}

/** Lets time pass, and each run that follows from another begin. */
async function pass(inbox: InboxSimulation, ms: number): Promise<void> {
  await inbox.clock.advance(ms);
  for (let run = 0; run < 5; run += 1) await inbox.clock.advance(1);
}

function runsOf(inbox: InboxSimulation): string[] {
  return inbox.runs.map(({ request }) => request);
}

test('a run that waits for its retry holds back its own key alone', async () => {
  const { inbox, hook, waiting } = await withWaiting(BY_KEY);
  const same = await accept(inbox, hook, 1);
  const others = [
    await accept(inbox, hook, '1'), await accept(inbox, hook, null),
    await accept(inbox, hook, 'long'),
  ];
  await inbox.clock.advance(1000);
  assert.deepEqual(runsOf(inbox), [waiting, ...others]);
  await pass(inbox, RETRY_MS);
  assert.deepEqual(runsOf(inbox).slice(4), [waiting, same]);
});

test('each route keeps an order of its own', async () => {
  const { inbox, hook, waiting } = await withWaiting(BY_KEY, 'strict', 'none');
  const other = await accept(inbox, hook, 2, ['a', 'b', 'c']);
  const same = await accept(inbox, hook, 1, ['a', 'b', 'c']);
  await inbox.clock.advance(1000);
  const runs = inbox.runs.map(({ request, route }) => `${route} ${request}`).slice(3);
  assert.deepEqual(runs, [`a ${other}`, `c ${other}`, `c ${same}`]);
  await pass(inbox, RETRY_MS);
  const later = inbox.runs.slice(6).filter(({ route }) => route === 'b');
  assert.deepEqual(later.map(({ request }) => request), [waiting, other, same]);
});

test('a webhook without routes has its order itself', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook(['default']);
  await inbox.run(inbox.webhooks.resources.incoming.patch(hook,
    { routes: null, actionConfiguration: 'c1-default', order: BY_KEY } as object));
  inbox.act = () => ActionResult.fail('not now');
  const waiting = await accept(inbox, hook, 1, ['default']);
  await inbox.clock.advance(100);
  inbox.act = () => ActionResult.ok({});
  const same = await accept(inbox, hook, 1, ['default']);
  const other = await accept(inbox, hook, 2, ['default']);
  await inbox.clock.advance(1000);
  assert.deepEqual(runsOf(inbox), [waiting, other]);
  await pass(inbox, RETRY_MS);
  assert.deepEqual(runsOf(inbox), [waiting, other, waiting, same]);
});

test('a key that holds back more than a hundred runs is told, by webhook', async () => {
  const { inbox, hook } = await withWaiting(BY_KEY);
  for (let count = 0; count < 100; count += 1) await accept(inbox, hook, 1);
  assert.deepEqual(inbox.webhooks.listLongLanes(10), []);
  await accept(inbox, hook, 1);
  const heldBack = [{ queueKey: hook, key: 1, waiting: 101 }];
  assert.deepEqual(inbox.webhooks.listLongLanes(10), heldBack);
  await inbox.crash();
  assert.deepEqual(inbox.webhooks.listLongLanes(10), heldBack);
});

test('routes with the same key do not wait for each other', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook(['a', 'b']);
  await setOrders(inbox, hook, [BY_KEY, BY_KEY]);
  inbox.act = ({ route }) => route === 'a' ? ActionResult.fail('not now') : ActionResult.ok({});
  await accept(inbox, hook, 1, ['a', 'b']);
  await accept(inbox, hook, 1, ['a', 'b']);
  await pass(inbox, 100);
  assert.deepEqual(inbox.runs.map(({ route }) => route), ['a', 'b', 'b']);
});

test('the order of requests is the same after a crash', async () => {
  const { inbox, hook, waiting } = await withWaiting(BY_KEY);
  const same = await accept(inbox, hook, 1);
  const before = inbox.runs.length;
  await inbox.crash();
  const other = await accept(inbox, hook, 2);
  await pass(inbox, 2 * RETRY_MS);
  assert.deepEqual(runsOf(inbox).slice(before), [other, waiting, same]);
});

test('requests that are loaded anew, one collection after the other, keep the order', async () => {
  const { inbox, hook, waiting } = await withWaiting(BY_KEY);
  const same = await accept(inbox, hook, 1);
  const operations = inbox.store.lines.at(-1) ?? [];
  const before = inbox.runs.length;
  await inbox.run(inbox.store.transact((transaction) => {
    for (const { collection, id } of operations) transaction.delete(collection, id);
  }));
  for (const { name } of webhookCollections) {
    await inbox.run(inbox.store.transact((transaction) => {
      for (const { collection, id, json } of operations) {
        if (collection === name) transaction.put(collection, id, json ?? '');
      }
    }));
  }
  await pass(inbox, 2 * RETRY_MS);
  assert.deepEqual(runsOf(inbox).slice(before), [waiting, same]);
});

test('the pending requests of a webhook follow its order when that changes', async () => {
  const { inbox, hook, waiting } = await withWaiting('strict');
  const other = await accept(inbox, hook, 2);
  const same = await accept(inbox, hook, 1);
  await inbox.clock.advance(1000);
  assert.deepEqual(runsOf(inbox), [waiting]);
  await setOrders(inbox, hook, [BY_KEY]);
  await inbox.clock.advance(1000);
  assert.deepEqual(runsOf(inbox), [waiting, other]);
  await setOrders(inbox, hook, ['none']);
  await inbox.clock.advance(1000);
  assert.deepEqual(runsOf(inbox), [waiting, other, same]);
});

test('a failed request that is replayed goes to the end, one that waits stays', async () => {
  const { inbox, hook, waiting: failed } = await withWaiting(BY_KEY);
  inbox.act = () => ActionResult.fail('not now');
  await inbox.clock.advance(3_600_000);
  assert.deepEqual(inbox.states(failed), ['failed', 'failed']);
  const first = await accept(inbox, hook, 1);
  const second = await accept(inbox, hook, 1);
  const before = inbox.runs.length;
  const { requests } = inbox.webhooks;
  for (const id of [failed, second]) {
    await inbox.run(requests.replay(id, { routes: null, isNew: false }));
  }
  await inbox.clock.advance(100);
  assert.deepEqual(runsOf(inbox).slice(before), []);
  await inbox.crash();
  inbox.act = () => ActionResult.ok({});
  await pass(inbox, RETRY_MS);
  assert.deepEqual(runsOf(inbox).slice(before), [first, second, failed]);
});
