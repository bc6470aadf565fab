/**
 * Routes that find identifiers by a part of them: on the control socket in every collection, in the
 * API in the collections that it has routes for.
 */
import type { Schema } from '../base/schema.ts';
import { notFoundError } from '../resources/not-found.ts';
import { problemResponses } from '../server/problem.ts';
import { parseQuery } from '../server/query.ts';
import type { HttpRoute } from '../server/http-route.ts';
import type { OpenedStore } from '../store/store.ts';
import { findIdentifiers } from './find-identifiers.ts';

// A longer list is of no use at a prompt.
const IDENTIFIERS_MAX = 10;
const TEXT: Schema = { kind: 'string' };
const IDENTIFIERS: Schema = { kind: 'array', items: TEXT, maxItems: IDENTIFIERS_MAX };

/** `collections` are the names of the store's; `apiRoutes` tell which of them the API shows. */
export function identifierRoutes(
  store: OpenedStore, collections: readonly string[], apiRoutes: readonly HttpRoute[],
): readonly HttpRoute[] {
  const isInApi = (name: string): boolean =>
    apiRoutes.some(({ method, path }) => method === 'GET' && path === `/api/${name}`);
  return [
    identifierRoute('/control', store, collections, {
      access: 'control', operationId: 'findAnyIdentifiers',
    }),
    identifierRoute('/api', store, collections.filter(isInApi), {
      access: 'read', operationId: 'findIdentifiers',
    }),
  ];
}

function identifierRoute(
  root: string, store: OpenedStore, collections: readonly string[],
  identity: Pick<HttpRoute, 'access' | 'operationId'>,
): HttpRoute {
  return {
    ...identity, method: 'GET', path: `${root}/identifiers/{collection}`,
    summary: 'The identifiers that begin or end with `part`, or have a name that does; one that '
      + 'equals it stands alone',
    parameters: [
      { name: 'collection', in: 'path', description: 'Where to look', isRequired: true,
        schema: { kind: 'string', values: collections } },
      { name: 'part', in: 'query', description: 'Of the identifier or name', isRequired: true,
        schema: TEXT },
    ],
    responses: [
      {
        status: 200, description: `At most ${IDENTIFIERS_MAX} of them`,
        mediaType: 'application/json', schema: IDENTIFIERS,
      },
      ...problemResponses(400, 404),
    ],
    async handle(exchange) {
      const name = exchange.params[0] ?? '';
      if (!collections.includes(name)) throw notFoundError('collection', name);
      const part = parseQuery(exchange.search, ['part']).get('part') ?? '';
      exchange.sendJson(200,
        await findIdentifiers(store.collection(name), part, IDENTIFIERS_MAX));
    },
  };
}
