/** What the stream tells of events, and what a change of a book writes beside the book. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookEvents } from '../../src/app/relay.ts';
import { createTopics } from '../../src/app/topics.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import { findCommitted } from '../../src/store/find-record.ts';
import type { Change } from '../../src/store/store-port.ts';
import { createChangeEvents } from '../../src/stream/stream-event.ts';
import { encodeDelivery } from '../../src/webhooks/deliveries/delivery-codec.ts';
import { type Delivery, createDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { encodeEvent } from '../../src/webhooks/deliveries/event-record.ts';
import { createWebhooks, webhookCollections } from '../../src/webhooks/webhooks.ts';
import { type MemoryStore, createMemoryStore } from '../support/memory-store.ts';
import { createContext, createOptions } from '../webhooks/context.ts';

const NEW = '019ab000-0000-7000-8000-000000000001';
const AT = '2026-01-01T00:00:00.000Z';

/** What a reader of events is told of the transactions of `commit`: live, and from the log. */
async function toldOf(
  store: MemoryStore, commit: () => Promise<unknown>,
): Promise<readonly (readonly string[])[]> {
  const nothing = { toPublic: () => assert.fail('only events are told') };
  const { all } = createTopics({ requests: nothing, deliveries: nothing });
  const topics = new Map(all.map((topic) => [topic.collection.name, topic]));
  const changes: Change[] = [];
  const unfollow = store.collection('events').onChange((change) => void changes.push(change));
  await commit();
  unfollow();
  const operations = changes.map(({ collection, id, after }) => ({ collection, id, bytes: after }));
  return [changes, operations].map((transaction) =>
    createChangeEvents(transaction, topics, ({ name }) => name === 'events', findCommitted(store))
      .map(({ text }) => /"change":"(\w+)","id":"([^"]+)"/.exec(text)?.slice(1).join(' ') ?? text));
}

test('a delivery is shown as its service shows it', () => {
  class Deliveries {
    readonly #host = 'there';
    toPublic({ identifier }: Delivery): never { return { identifier, host: this.#host } as never; }
  }
  const { all } = createTopics({
    requests: { toPublic: () => assert.fail('it is no request') }, deliveries: new Deliveries(),
  });
  const delivery = createDelivery({ identifier: NEW, hook: 'h1', event: 'a', eventId: 'e1' }, AT);
  const shown = all.find(({ name }) => name === 'deliveries')
    ?.describe(Buffer.from(encodeDelivery(delivery)), () => undefined);
  assert.deepEqual(shown, {
    json: `{"identifier":"${NEW}","host":"there"}`, webhookId: 'h1', isNew: true,
  });
});

test('a new event is told', async () => {
  const store = createMemoryStore(webhookCollections);
  const json = encodeEvent({
    identifier: NEW, createdAt: AT, name: 'thing.happened', source: 'api', hops: 1, webhookIds: [],
  }, '{}');
  const told = await toldOf(store, () =>
    store.transact((transaction) => transaction.put('events', NEW, json)));
  assert.deepEqual(told, [[`created ${NEW}`], [`created ${NEW}`]]);
});

type Written = { readonly collection: string; readonly json: string | null };

/** What the line of a new book writes. */
async function writesOfBook(
  keep: 'heard' | 'all', triggerEvent: string, enabled = true,
): Promise<readonly Written[]> {
  const store = createMemoryStore([bookResource.collection, ...webhookCollections]);
  const context = createContext({ store });
  const webhooks = createWebhooks(context, createOptions({ events: { keep } }));
  await webhooks.resources.outgoing.add({ targetUrl: 'http://a/', triggerEvent, enabled });
  const catalog = createCatalog({
    ...context,
    stageWithChange: createBookEvents(webhooks.events),
  });
  const from = store.lines.length;
  await catalog.add({ title: 'Emma' });
  return store.lines.slice(from).flat();
}

const collectionsOf = (writes: readonly Written[]): readonly string[] =>
  writes.map(({ collection }) => collection).sort();

test('a book that nobody hears is written alone, unless all events are kept', async () => {
  assert.deepEqual(collectionsOf(await writesOfBook('heard', 'order.paid')), ['books']);
  assert.deepEqual(collectionsOf(await writesOfBook('heard', 'order.paid', false)), ['books']);
  assert.deepEqual(collectionsOf(await writesOfBook('heard', 'book.*', false)),
    ['books', 'events'], 'a webhook that is off can be sent it later');
  assert.deepEqual(collectionsOf(await writesOfBook('all', 'order.paid')), ['books', 'events']);
});

test('a book that is heard is written with its event and delivery, in one line', async () => {
  const writes = await writesOfBook('heard', 'book.*');
  assert.deepEqual(collectionsOf(writes), ['books', 'deliveries', 'events']);
  const event = writes.find(({ collection }) => collection === 'events')?.json ?? '';
  const { name, source, depth } = JSON.parse(event);
  assert.deepEqual([name, source, depth], ['book.created', 'catalog', 1]);
});
