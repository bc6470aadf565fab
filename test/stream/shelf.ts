/** A stream over a store on a simulated disk, served on loopback. */
import { findCommitted } from '../../src/store/find-record.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { openStore } from '../../src/store/store.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { Broadcast } from '../../src/stream/broadcast.ts';
import { createStreamRoute } from '../../src/stream/stream-route.ts';
import type { StreamTopic } from '../../src/stream/stream-topic.ts';
import { followStream } from '../support/event-stream.ts';
import type { Following } from '../support/event-stream.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { startServer } from '../support/test-server.ts';

const BOOKS: CollectionSpec = { name: 'books', key: 'id' };
const CALLS: CollectionSpec = { name: 'calls', key: 'id' };
const TOKENS: CollectionSpec = { name: 'tokens', key: 'id' };

export type Shelf = {
  readonly store: OpenedStore;
  readonly port: number;
  readonly stream: Broadcast;
  /** How many records were described so far. */
  described(): number;
  /** How many listeners the store tells of its changes. */
  listeners(): number;
  /** How many readers were cut because they were slow. */
  cut(): number;
  follow(query?: string, lastEventId?: string): Promise<Following>;
  put(id: string, more?: object): Promise<unknown>;
  /** Tells of a call that is on no disk. */
  announce(id: string, hook: string): void;
  close(): Promise<void>;
};

export async function openShelf(
  files: SimulatedFiles = new SimulatedFiles(), clock: Clock = systemClock,
  mayRead: () => boolean = () => true,
): Promise<Shelf> {
  const store = await openStore({
    directory: '/data', files, specs: [BOOKS, CALLS, TOKENS], logger: silentLogger,
  });
  let described = 0;
  let listeners = 0;
  const topic = (collection: CollectionSpec, event: string, hasHooks: boolean): StreamTopic => ({
    name: collection.name, event, collection, hasWebhooks: hasHooks,
    describe(record) {
      described += 1;
      const { hook = null, version = 1 } = JSON.parse(record.toString());
      return { json: record.toString(), webhookId: hook, isNew: version === 1 };
    },
  });
  const books = topic(BOOKS, 'book', false);
  const calls = topic(CALLS, 'call', true);
  const topics = [books, calls];
  const stream = new Broadcast({
    topics,
    changes: {
      follow(listener) {
        listeners += 1;
        const end = store.changes.follow(listener);
        return () => {
          listeners -= 1;
          end();
        };
      },
      since: (sequence) => store.changes.since(sequence),
    },
    find: findCommitted(store), sequence: () => store.statistics.sequence, clock,
    logger: silentLogger, tokenCollection: TOKENS.name,
  });
  const route = createStreamRoute(stream, {
    topics, clock, mayRead, findView: () => null,
    findWebhookIds: (name) => name === 'first' ? ['one', 'uno'] : [name],
  });
  const server = await startServer([route], { limits: { connectionsMax: 1000 } });
  return {
    store, stream, port: server.port,
    described: () => described, listeners: () => listeners,
    cut: () => server.logged.filter(({ message }) => message.includes('too slow')).length,
    follow: (query = '', lastEventId) => followStream({ port: server.port },
      { path: `/api/stream${query}`, lastEventId }),
    put: (id, more = {}) => store.transact((transaction) =>
      transaction.put('books', id, JSON.stringify({ id, ...more }))),
    announce: (id, hook) => stream.announce(calls, () =>
      calls.describe(
        Buffer.from(JSON.stringify({ id, hook })), findCommitted(store))),
    async close() {
      stream.close();
      await server.close();
      await store.close();
    },
  };
}
