/** Asks the routes about many books as an HTTP client would, without a server. */
import assert from 'node:assert/strict';
import { aggregateRoutes } from '../../src/books/aggregates/aggregate-routes.ts';
import type { Aggregates } from '../../src/books/aggregates/aggregate-routes.ts';
import { sendDuplicates } from '../../src/books/aggregates/duplicates.ts';
import { sendFacets } from '../../src/books/aggregates/facets.ts';
import { sendStatistics } from '../../src/books/aggregates/statistics.ts';
import { sendSuggestions } from '../../src/books/aggregates/suggestions.ts';
import type { SearchDeps } from '../../src/books/list/search-books.ts';
import type { Exchange, HttpRoute, Pull } from '../../src/server/http-route.ts';
import { changeBooks, createChangingCatalog } from './changing-catalog.ts';
import type { ChangingCatalog } from './changing-catalog.ts';
import { createRandom } from './random.ts';
import type { Random } from './random.ts';

/** The parsed answer to `/api/books/<path>`. Throws as the handler does. */
type Ask = (
  path: string, response?: { destroyed: boolean }, betweenPieces?: () => void,
) => Promise<unknown>;

type AggregateCatalog = ChangingCatalog & { readonly ask: Ask };

export function createAggregateCatalog(withIndex: boolean): AggregateCatalog {
  const catalog = createChangingCatalog(withIndex);
  return { ...catalog, ask: createAggregateClient(catalog) };
}

/**
 * Changes random catalogs, and calls `check` after each of `rounds` changes. It resolves to how
 * much it compared, so that the sum, which is the result, shows whether enough was. `told` is for
 * its messages.
 */
export async function checkChangingCatalogs(
  { seeds, rounds, withIndex }: { seeds: number; rounds: number; withIndex: boolean },
  check: (catalog: AggregateCatalog, random: Random, told: string) => Promise<number>,
): Promise<number> {
  let compared = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const random = createRandom(seed);
    const catalog = createAggregateCatalog(withIndex);
    for (let round = 0; round < rounds; round += 1) {
      changeBooks(random, catalog, 20);
      compared += await check(catalog, random, `seed ${seed}, round ${round}`);
    }
    // The indexes alone may go on listening.
    const { listenerCount } = catalog.collection;
    assert.ok(listenerCount <= (withIndex ? 1 : 0), 'listeners are given back');
  }
  return compared;
}

export function createAggregates(deps: SearchDeps): Aggregates {
  return {
    sendFacets: (exchange) => sendFacets(deps, exchange),
    sendStatistics: (exchange) => sendStatistics(deps, exchange),
    sendSuggestions: (exchange) => sendSuggestions(deps, exchange),
    sendDuplicates: (exchange) => sendDuplicates(deps, exchange),
  };
}

export function createAggregateClient(options: SearchDeps): Ask {
  const routes = aggregateRoutes(createAggregates(options));
  return async (path, response = { destroyed: false }, betweenPieces = () => {}) =>
    (await askRoute(routes, path, response, betweenPieces)).body;
}

/** The body of the answer, and the value of its header `X-Search-Corrected`. */
export async function askCorrected(
  options: SearchDeps, path: string,
): Promise<{ readonly body: unknown; readonly corrected: string | undefined }> {
  const routes = aggregateRoutes(createAggregates(options));
  const { body, headers } = await askRoute(routes, path, { destroyed: false }, () => {});
  assert.ok(headers.length === 0 || headers[0] === 'X-Search-Corrected');
  return { body, corrected: headers[1] };
}

async function askRoute(
  routes: readonly HttpRoute[], path: string, response: { destroyed: boolean },
  betweenPieces: () => void,
): Promise<{ readonly body: unknown; readonly headers: readonly string[] }> {
  const [name = '', search = ''] = path.split('?');
  const route = routes.find((one) => one.path === `/api/books/${name}`);
  if (route === undefined) throw new Error(`no route ${name}`);
  const bodies: unknown[] = [];
  const sentHeaders: string[] = [];
  const exchange = {
    search, response, isControl: false, route,
    sendJson(_status: number, value: unknown, headers: readonly string[] = []) {
      bodies.push(JSON.parse(JSON.stringify(value)));
      sentHeaders.push(...headers);
    },
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
  return { body: bodies[0], headers: sentHeaders };
}
