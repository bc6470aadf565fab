/** What a change of a book writes beside the book, where somebody hears its event and where not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookEvents } from '../../src/app/relay.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import { createWebhooks, webhookCollections } from '../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { createContext, createOptions } from '../webhooks/context.ts';

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
