/** What a change of a book writes beside the book, where somebody hears its event and where not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookEvents } from '../../src/app/relay.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import { createWebhooks, webhookCollections } from '../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { EVENTS, INBOX, INCOMING, OUTGOING } from '../webhooks/relay.ts';

/** The collections that the line of a new book writes to. */
async function writesOfBook(
  keep: 'heard' | 'all', triggerEvent: string, enabled = true,
): Promise<readonly string[]> {
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
    store, makeId, now: Date.now, stageWithChange: createBookEvents(webhooks.events),
  });
  const from = store.lines.length;
  await catalog.add({ title: 'Emma' });
  return store.lines.slice(from).flatMap((line) => line.map(({ collection }) => collection));
}

test('a book that nobody hears is written alone, unless all events are kept', async () => {
  assert.deepEqual(await writesOfBook('heard', 'order.paid'), ['books']);
  assert.deepEqual(await writesOfBook('heard', 'book.*', false), ['books']);
  assert.deepEqual(await writesOfBook('all', 'order.paid'), ['books', 'events']);
});

test('a book that is heard is written with its event and delivery, in one line', async () => {
  assert.deepEqual([...await writesOfBook('heard', 'book.*')].sort(),
    ['books', 'deliveries', 'delivery-totals', 'events']);
});
