/**
 * Routes that find the identifiers which commands abbreviate: on the control socket in every
 * collection, in the API in the collections that it has routes for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Schema } from '../base/schema.ts';
import { isUuid } from '../base/uuid.ts';
import { notFoundError } from '../resources/not-found.ts';
import { resolveKey } from '../store/find-record.ts';
import { problemResponses } from '../server/problem.ts';
import { parseQuery } from '../server/query.ts';
import type { Exchange, HttpRoute } from '../server/http-route.ts';
import type { Collection } from '../store/store-port.ts';
import type { OpenedStore } from '../store/store.ts';

// A longer list is of no use at a prompt.
const IDENTIFIERS_MAX = 10;
const TEXT: Schema = { kind: 'string' };
const IDENTIFIERS: Schema = { kind: 'array', items: TEXT, maxItems: IDENTIFIERS_MAX };

/** Whether a record is one of those that the lists of its collection have. */
type IsListed = (record: Buffer, identifier: string) => boolean;

/**
 * Finds which records of a collection the caller sees; null: all that are listed. Throws
 * `forbidden` for a collection that is nothing for his token.
 */
type FindSeen = (exchange: Exchange, collection: string) => IsListed | null;

/**
 * `collections` are the names of the store's; `apiRoutes` tell which of them the API shows.
 * `listed` says which records of a collection are found, by its name. Absent: all are.
 */
export function identifierRoutes(
  store: OpenedStore, collections: readonly string[], apiRoutes: readonly HttpRoute[],
  listed: ReadonlyMap<string, IsListed>, findSeen: FindSeen,
): readonly HttpRoute[] {
  const isInApi = (name: string): boolean =>
    apiRoutes.some(({ method, path }) => method === 'GET' && path === `/api/${name}`);
  return [
    identifierRoute('/control', store, collections, listed, findSeen, {
      access: 'control', operationId: 'findAnyIdentifiers',
    }),
    identifierRoute('/api', store, collections.filter(isInApi), listed, findSeen, {
      access: 'read', operationId: 'findIdentifiers', bound: { scope: 'read' },
    }),
  ];
}

function identifierRoute(
  root: string, store: OpenedStore, collections: readonly string[],
  listed: ReadonlyMap<string, IsListed>, findSeen: FindSeen,
  identity: Pick<HttpRoute, 'access' | 'operationId' | 'bound'>,
): HttpRoute {
  return {
    ...identity, method: 'GET', path: `${root}/identifiers/{collection}`,
    summary: 'The identifiers that begin or end with `part`; one that equals it, or whose name '
      + 'does, stands alone. A name that was chosen is never found by a part',
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
      const isFound = findSeen(exchange, name) ?? listed.get(name);
      if (!collections.includes(name)) throw notFoundError('collection', name);
      const part = parseQuery(exchange.search, ['part']).get('part') ?? '';
      exchange.sendJson(200,
        await findIdentifiers(store.collection(name), part, IDENTIFIERS_MAX, isFound));
    },
  };
}

// Looking at so many keys takes about 2 ms.
const TURN_KEYS = 5000;
const UUID_PART = /^[0-9a-f-]+$/;

/**
 * Finds the identifier that equals `part` or has it as a name; else at most `matchesMax` UUIDs that
 * begin or end with it; of records that are listed. A chosen name has no such end: where `acme` is
 * missing, `acme-labs` is not meant. Other requests run while it looks at all keys.
 */
export async function findIdentifiers(
  collection: Collection, part: string, matchesMax: number, isListed: IsListed = () => true,
): Promise<readonly string[]> {
  if (part === '') return [];
  const mayFind = (id: string): boolean => {
    const record = collection.findBytes(id);
    return record !== undefined && isListed(record, id);
  };
  const exactMatch = resolveKey(collection, part);
  if (exactMatch !== undefined && mayFind(exactMatch)) return [exactMatch];
  // No UUID begins or ends so: not all keys need be looked at.
  if (!UUID_PART.test(part)) return [];
  const matches = await findByPrefix(collection, part, matchesMax, mayFind);
  for (let slot = 0; slot < collection.slotBound && matches.length < matchesMax; slot += 1) {
    if (slot % TURN_KEYS === TURN_KEYS - 1) await nextTurn();
    const id = collection.idAt(slot);
    if (id?.endsWith(part) !== true || !isUuid(id)) continue;
    if (!matches.includes(id) && mayFind(id)) matches.push(id);
  }
  return matches;
}

/** Finds keys by their beginning: in key order they are neighbours. */
async function findByPrefix(
  collection: Collection, part: string, matchesMax: number, mayFind: (id: string) => boolean,
): Promise<string[]> {
  const matches: string[] = [];
  const walk = collection.walk({ after: part });
  for (let looks = 1; matches.length < matchesMax; looks += 1) {
    // Many in a row may be passed over.
    if (looks % TURN_KEYS === 0) await nextTurn();
    const id = collection.idAt(walk.next());
    if (id?.startsWith(part) !== true) break;
    if (isUuid(id) && mayFind(id)) matches.push(id);
  }
  return matches;
}
