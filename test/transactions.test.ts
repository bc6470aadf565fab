/**
 * A transaction may run again (store/store-port.ts), so it draws no id, time or random number
 * itself. The store in memory runs each of them twice and compares what it stages; here no two
 * looks at the clock, and no two ids, are alike.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tokens, TOKENS } from '../src/access/tokens.ts';
import { createBookEvents } from '../src/app/relay.ts';
import { systemClock } from '../src/base/clock.ts';
import type { Clock } from '../src/base/clock.ts';
import { isUuid } from '../src/base/uuid.ts';
import { createCatalog, type Catalog } from '../src/books/catalog.ts';
import { bookResource } from '../src/books/book-resource.ts';
import { createWebhooks, webhookCollections, type Webhooks } from '../src/webhooks/webhooks.ts';
import { PLAIN_MODE } from './support/import-mode.ts';
import { createMemoryStore, type MemoryStore } from './support/memory-store.ts';
import { createContext, createOptions } from './webhooks/context.ts';

const ISBN = '9780441172719';

type House = {
  readonly store: MemoryStore; readonly catalog: Catalog; readonly webhooks: Webhooks;
  readonly tokens: Tokens;
};

function build(statusCode = 200): House {
  let nowMs = Date.UTC(2026, 0, 1);
  const clock: Clock = { ...systemClock, now: () => nowMs += 1 };
  const store = createMemoryStore([bookResource.collection, ...webhookCollections, TOKENS]);
  const context = createContext({ store, clock });
  const webhooks = createWebhooks(context, createOptions({
    http: { request: async () => ({ statusCode, headers: {}, body: Buffer.alloc(0) }) },
    outgoing: { retrySchedule: [] },
  }));
  const catalog = createCatalog({
    ...context,
    stageWithChange: createBookEvents(webhooks.events),
  });
  const tokens = new Tokens(context);
  return { store, catalog, webhooks, tokens };
}

async function addHook({ webhooks }: House, triggerEvent: string): Promise<string> {
  const { bytes } = await webhooks.resources.outgoing.add({ targetUrl: 'http://a/', triggerEvent });
  return String(JSON.parse(bytes.toString()).identifier);
}

test('a change of a book and its events', async () => {
  const house = build();
  for (const event of ['book.*', 'book.*', 'book.created']) await addHook(house, event);
  const { bytes } = await house.catalog.add({ title: 'Emma' });
  const { id } = JSON.parse(bytes.toString());
  await house.catalog.patch(id, { title: 'Persuasion' });
  await house.catalog.replace(id, { title: 'Villette' });
  await house.catalog.remove(id);
  const fields = { title: 'Emma' };
  const bookImport = await house.catalog.openImport({ ...PLAIN_MODE, matches: ['title'] });
  const record = { id: null, createdAt: null, updatedAt: null, fields };
  await bookImport.importBatch([record, { ...record, fields: { ...fields, isbn: ISBN } }]);
  bookImport.close();
  assert.equal(house.store.collection('deliveries').size, 9);
});

test('an event, its deliveries retried, cancelled and failed, and a removed webhook', async () => {
  const house = build(410);
  const { webhooks, store } = house;
  const hooks = await Promise.all(Array.from({ length: 300 }, () => addHook(house, 'a')));
  const [first = '', second = ''] = await webhooks.emit('a', {});
  await webhooks.emit('a', {});
  await webhooks.deliveries.retry(first);
  await webhooks.deliveries.cancel(second);
  await webhooks.resources.outgoing.remove(hooks[7] ?? '');
  await webhooks.resources.outgoing.patch(hooks[8] ?? '', { enabled: false });
  webhooks.start();
  while (webhooks.statistics().pending > 2) await new Promise(setImmediate);
  await webhooks.close(1000);
  await webhooks.deliveries.retryFailed();
  const { isReconciled, accepted } = await webhooks.deliveries.reconcile();
  assert.deepEqual([isReconciled, accepted, store.collection('deliveries').size], [true, 600, 600]);
});

test('deliveries of an event sort as their webhooks do, before those of the next', async () => {
  const house = build();
  const hooks = await Promise.all(Array.from({ length: 100 }, () => addHook(house, 'a')));
  const ids = [await house.webhooks.emit('a', {}), await house.webhooks.emit('a', {})].flat();
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, 200);
  assert.ok(ids.every(isUuid));
  const hookOf = (id: string): unknown => house.webhooks.deliveries.find(id)?.hook;
  assert.deepEqual(ids.map(hookOf), [...hooks.toSorted(), ...hooks.toSorted()]);
});

test('tokens made, used and revoked', async () => {
  const { tokens } = build();
  const { identifier, token } = await tokens.create({ name: 'ci', scope: 'write' });
  assert.equal(tokens.verify(String(token))?.scope, 'write');
  await tokens.revoke(String(identifier));
  assert.equal(tokens.verify(String(token)), null);
});
