/** What the stream tells of events, when they are committed and when the log is read again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTopics } from '../../src/app/topics.ts';
import { findCommitted } from '../../src/store/find-record.ts';
import type { Change } from '../../src/store/store-port.ts';
import { createChangeEvents } from '../../src/stream/stream-event.ts';
import { encodeDelivery } from '../../src/webhooks/deliveries/delivery-codec.ts';
import { createDelivery, type Delivery } from '../../src/webhooks/deliveries/delivery.ts';
import { encodeEvent } from '../../src/webhooks/deliveries/event-record.ts';
import { webhookCollections } from '../../src/webhooks/webhooks.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';

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
