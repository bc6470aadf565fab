/** What a change of a book writes beside the book, where somebody hears its event and where not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookEvents } from '../../src/app/relay.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createTurns } from '../../src/base/turns.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import { createWebhooks, webhookCollections } from '../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { EVENTS, INBOX, INCOMING, OUTGOING } from '../webhooks/relay.ts';

type Written = { readonly collection: string; readonly json: string | null };

/** What the line of a new book writes. */
async function writesOfBook(
  keep: 'heard' | 'all', triggerEvent: string, enabled = true,
): Promise<readonly Written[]> {
  const store = createMemoryStore([bookResource.collection, ...webhookCollections]);
  const makeId = createIdSource(systemClock);
  const webhooks = createWebhooks({
    store, makeId, clock: systemClock, logger: silentLogger, actions: [], random: () => 0,
    http: { request: async () => ({ statusCode: 200, headers: {}, body: Buffer.alloc(0) }) },
    onOutcome() {}, baseUri: () => '', incoming: INCOMING, inbox: INBOX, outgoing: OUTGOING,
    events: { ...EVENTS, keep },
  });
  await webhooks.resources.outgoing.add({ targetUrl: 'http://a/', triggerEvent, enabled });
  const catalog = createCatalog({
    store, makeId, now: Date.now, turns: createTurns(systemClock),
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
  assert.deepEqual(collectionsOf(await writesOfBook('heard', 'book.*', false)), ['books']);
  assert.deepEqual(collectionsOf(await writesOfBook('all', 'order.paid')), ['books', 'events']);
});

test('a book that is heard is written with its event and delivery, in one line', async () => {
  const writes = await writesOfBook('heard', 'book.*');
  assert.deepEqual(collectionsOf(writes), ['books', 'deliveries', 'events']);
  const event = writes.find(({ collection }) => collection === 'events')?.json ?? '';
  const { name, source, depth } = JSON.parse(event);
  assert.deepEqual([name, source, depth], ['book.created', 'catalog', 1]);
});
