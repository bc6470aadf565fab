/** The catalog behind a real listener, on a store in memory or on disk. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import type { Catalog } from '../../src/books/catalog.ts';
import { createBookList } from '../../src/books/list/book-list.ts';
import { createTurns } from '../../src/base/turns.ts';
import { bookRoutes } from '../../src/books/book-routes.ts';
import { createAggregates } from './aggregate-harness.ts';
import { createIndexes } from './index-all.ts';
import type { Entrance } from '../../src/server/routing/dispatcher.ts';
import type { HttpRoute } from '../../src/server/http-route.ts';
import type { Store } from '../../src/store/store-port.ts';
import type { IdempotencyKeys } from '../../src/resources/idempotency-keys.ts';
import type { ChangeHook } from '../../src/resources/record-stager.ts';
import { createMemoryStore } from './memory-store.ts';
import { startServer } from './test-server.ts';

export type BookServer = {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly routes: readonly HttpRoute[];
  /** One request on a connection of its own. */
  ask(
    method: string, path: string, body?: string | Buffer, headers?: Record<string, string>,
  ): Promise<Answer>;
  edit(id: string, changes: object): Promise<void>;
  close(): Promise<void>;
};

export type Answer = {
  readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string;
};

export async function startBookServer(options: {
  readonly store?: Store; readonly stageWithChange?: ChangeHook; readonly clock?: Clock;
  readonly stallMs?: number; readonly requestTimeoutMs?: number;
  readonly keys?: IdempotencyKeys; readonly entrance?: Entrance;
} = {}): Promise<BookServer> {
  const { store = createMemoryStore([bookResource.collection]), clock = systemClock } = options;
  const turns = createTurns(systemClock);
  const catalog = createCatalog({
    store, turns, clock, makeId: createIdSource(clock),
    ...options.stageWithChange === undefined ? {}
      : { stageWithChange: options.stageWithChange },
  });
  const collection = store.collection(bookResource.collection.name);
  const deps = { collection, turns, indexes: createIndexes({ collection, turns }) };
  const routes = bookRoutes({
    catalog, list: createBookList(deps), aggregates: createAggregates(deps),
    ...options.keys === undefined ? {} : { keys: options.keys },
  });
  const { requestTimeoutMs = 60_000, stallMs, entrance } = options;
  const { port, close } = await startServer(routes, {
    limits: { requestTimeoutMs }, ...stallMs === undefined ? {} : { stallMs },
    ...entrance === undefined ? {} : { entrance },
  });
  return {
    url: `http://127.0.0.1:${port}`, port, store, catalog, routes, close,
    ask: (method, path, body = '', headers = {}) => ask(port, method, path, body, headers),
    async edit(id, changes) {
      const { status, text } = await ask(port, 'PATCH', `/api/books/${id}`,
        JSON.stringify(changes), { 'Content-Type': 'application/merge-patch+json' });
      assert.equal(status, 200, text);
    },
  };
}

function ask(
  port: number, method: string, path: string, body: string | Buffer,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const request = httpRequest({
      port, host: '127.0.0.1', method, path, agent: false,
      headers: { 'Content-Type': 'application/json', 'Content-Length': length, ...headers },
    }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, headers: response.headers,
        text: Buffer.concat(chunks).toString(),
      }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
