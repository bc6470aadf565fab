/**
 * A plain collection: every record in key order as one JSON array, or page by page with `limit` and
 * `cursor`. For resources that a person makes by hand; books have a route of their own.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { ObjectSchema } from '../base/schema.ts';
import { problemAnswers } from '../server/problem.ts';
import { PAGE_LIMIT_MAX, integerOf, parseQuery } from '../server/query.ts';
import type { Access, Exchange, ParameterSpec, Pull, Route } from '../server/route.ts';

export interface ResourceCollection {
  readonly size: number;
  /** Shown records in key order after key `after`; each call gives the next, null at the end. */
  walk(after: string | null): () => Shown | null;
}

export type Shown = { readonly id: string; readonly bytes: Buffer };

export type CollectionSpec = {
  readonly path: string;
  readonly noun: string;
  readonly schema: ObjectSchema & { readonly name: string };
  readonly collection: ResourceCollection;
  readonly access?: { readonly read: Access };
};

const PIECE_BYTES = 65_536;
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

const PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'limit', in: 'query', description: 'At most so many records',
    schema: { kind: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX },
  },
  {
    name: 'cursor', in: 'query', description: 'Where to go on, from a `Link` header',
    schema: { kind: 'string' },
  },
];

export function collectionRoute(spec: CollectionSpec): Route {
  return {
    method: 'GET',
    path: spec.path,
    operationId: `list${spec.schema.name}s`,
    summary: `Every ${spec.noun}, in order of its key`,
    access: spec.access?.read ?? 'read',
    parameters: PARAMETERS,
    answers: [
      {
        status: 200,
        description: `Every ${spec.noun}`,
        mediaType: 'application/json',
        schema: { kind: 'array', items: spec.schema, maxItems: Number.MAX_SAFE_INTEGER },
        headers: {
          'X-Total-Count': 'How many there are',
          Link: 'The next page, `rel="next"`, while there is more',
        },
      },
      ...problemAnswers(400),
    ],
    handle: (exchange) => sendCollection(exchange, spec),
  };
}

async function sendCollection(exchange: Exchange, spec: CollectionSpec): Promise<void> {
  const query = parseQuery(exchange.search, ['limit', 'cursor']);
  const limit = integerOf(query, 'limit', 1, PAGE_LIMIT_MAX);
  const next = spec.collection.walk(decodeCursor(query.get('cursor')));
  const headers = [
    'Content-Type', 'application/json', 'X-Total-Count', String(spec.collection.size),
  ];
  if (limit === null) return exchange.sendStream(200, headers, pullArray(next));
  const page: Shown[] = [];
  let after = next();
  let bytes = 0;
  for (; after !== null && page.length < limit; after = next()) {
    page.push(after);
    bytes += after.bytes.length;
    if (bytes < PIECE_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
  const last = page.at(-1);
  if (after !== null && last !== undefined) {
    const cursor = Buffer.from(last.id).toString('base64url');
    const url = exchange.linkTo(`${spec.path}?limit=${limit}&cursor=${cursor}`);
    headers.push('Link', `<${url}>; rel="next"`);
  }
  return exchange.sendStream(200, headers, pullArray(() => page.shift() ?? null));
}

function decodeCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, 'base64url').toString();
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(id)) return id;
  throw new AppError('malformed', '`cursor` is not one that this service gave');
}

function pullArray(next: () => Shown | null): Pull {
  let separator = OPEN;
  let isDone = false;
  return async () => {
    if (isDone) return null;
    // What is shown of a record may be made from it: a piece is enough for a turn of the loop.
    if (separator === COMMA) await nextTurn();
    const pieces: Buffer[] = [];
    for (let bytes = 0; bytes < PIECE_BYTES;) {
      const record = next();
      if (record === null) {
        isDone = true;
        pieces.push(...separator === OPEN ? [OPEN, CLOSE] : [CLOSE]);
        break;
      }
      pieces.push(separator, record.bytes);
      separator = COMMA;
      bytes += record.bytes.length;
    }
    return [Buffer.concat(pieces)];
  };
}
