/** Asks the routes about many books as an HTTP client would, without a server. */
import { systemClock } from '../../src/base/clock.ts';
import { createTurns } from '../../src/base/turns.ts';
import { aggregateRoutes } from '../../src/books/aggregates/aggregate-routes.ts';
import { WordIndex } from '../../src/books/index/word-index.ts';
import type { BookSearch } from '../../src/books/index/book-search.ts';
import { NO_CORRECTIONS } from '../../src/books/query/corrections.ts';
import type { BookListOptions } from '../../src/books/list/book-list.ts';
import type { Exchange, HttpRoute, Pull } from '../../src/server/http-route.ts';
import { FakeCollection } from './fake-collection.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';

/** Finds nothing, as while the catalog is too large for an index. */
export const NO_INDEX: BookSearch = {
  find: () => Promise.resolve(null), findCorrections: () => Promise.resolve(NO_CORRECTIONS),
};

export type AggregateCatalog = {
  readonly collection: FakeCollection;
  readonly books: Map<string, NaiveBook>;
  /** The parsed answer to `/api/books/<path>`. Throws as the handler does. */
  ask(
    path: string, response?: { destroyed: boolean }, betweenPieces?: () => void,
  ): Promise<unknown>;
};

export function createAggregateCatalog(withIndex: boolean): AggregateCatalog {
  const collection = new FakeCollection();
  const turns = createTurns(systemClock);
  const search = withIndex
    ? new WordIndex({ collection, turns, clock: systemClock, memtableBooks: 8 }) : NO_INDEX;
  const ask = createAggregateClient({ collection, turns, search });
  return { collection, books: new Map(), ask };
}

export function createAggregateClient(options: BookListOptions): AggregateCatalog['ask'] {
  const routes = aggregateRoutes(options);
  return (path, response = { destroyed: false }, betweenPieces = () => {}) =>
    askRoute(routes, path, response, betweenPieces);
}

/** Adds, replaces and deletes some books. */
export function changeBooks(
  random: Random, { collection, books }: AggregateCatalog, count: number,
): void {
  for (let index = 0; index < count; index += 1) {
    const id = `id-${below(random, 90)}`;
    if (random() < 0.25) {
      books.delete(id);
      collection.delete(id);
      continue;
    }
    const book = randomBook(random, id);
    books.set(id, book);
    collection.put(book);
  }
}

async function askRoute(
  routes: readonly HttpRoute[], path: string, response: { destroyed: boolean },
  betweenPieces: () => void,
): Promise<unknown> {
  const [name = '', search = ''] = path.split('?');
  const route = routes.find((one) => one.path === `/api/books/${name}`);
  if (route === undefined) throw new Error(`no route ${name}`);
  const bodies: unknown[] = [];
  const exchange = {
    search, response, isControl: false, route,
    sendJson: (_status: number, value: unknown) => bodies.push(JSON.parse(JSON.stringify(value))),
    async sendStream(_status: number, _headers: unknown, pull: Pull) {
      const pieces: Buffer[] = [];
      for (let some = await pull(); some !== null; some = await pull()) {
        pieces.push(...some);
        betweenPieces();
      }
      bodies.push(JSON.parse(Buffer.concat(pieces).toString()));
    },
  };
  await route.handle(exchange as unknown as Exchange);
  if (bodies.length !== 1) throw new Error(`${bodies.length} answers`);
  return bodies[0];
}
