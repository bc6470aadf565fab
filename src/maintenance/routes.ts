/** Routes to maintain the data directory and its server: on the control socket only. */
import { AppError } from '../base/errors.ts';
import type { StringSchema } from '../base/schema.ts';
import { problemAnswers } from '../server/problem.ts';
import { parseQuery } from '../server/query.ts';
import type { Route } from '../server/route.ts';
import type { OpenedStore } from '../store/store.ts';
import { findIdentifiers } from './identifiers.ts';

// A person will not look through more.
const IDENTIFIERS_MAX = 10;
const TEXT: StringSchema = { kind: 'string' };

/** `collections` are the store's; `places` are where the server listens on TCP now. */
export function maintenanceRoutes(
  store: OpenedStore, collections: readonly string[], places: () => readonly object[],
): readonly Route[] {
  return [
    {
      method: 'POST', path: '/control/data/compact', operationId: 'compactData',
      summary: 'Write a new generation beside traffic', access: 'control',
      answers: [{ status: 200, description: 'The generation and its sequence' }],
      async handle(exchange) {
        await store.compact();
        const { generation, sequence } = store.statistics;
        exchange.sendJson(200, { generation, sequence });
      },
    },
    {
      method: 'GET', path: '/control/data/backup', operationId: 'listBackup',
      summary: 'The files that a start of this moment would read', access: 'control',
      answers: [{ status: 200, description: 'Their names, how much of each, what they make up' }],
      async handle(exchange) {
        const backup = await store.openBackup();
        backup.close();
        // The command copies them: it may be allowed to write where the server is not.
        exchange.sendJson(200, {
          files: backup.files.map(({ name, bytes }) => ({ name, bytes })), ...backup.contents,
        });
      },
    },
    {
      method: 'GET', path: '/control/places', operationId: 'listPlaces',
      summary: 'Where on TCP the server listens', access: 'control',
      answers: [{ status: 200, description: 'URL, host and port of each' }],
      handle: (exchange) => exchange.sendJson(200, { places: places() }),
    },
    {
      method: 'GET', path: '/control/identifiers/{collection}', operationId: 'findIdentifiers',
      summary: 'The identifiers that begin or end with `part`', access: 'control',
      parameters: [
        { name: 'collection', in: 'path', description: 'Where to look', schema: TEXT,
          isRequired: true },
        { name: 'part', in: 'query', description: 'Of the identifier', schema: TEXT,
          isRequired: true },
      ],
      answers: [
        { status: 200, description: `At most ${IDENTIFIERS_MAX} of them` }, ...problemAnswers(404),
      ],
      async handle(exchange) {
        const name = exchange.params[0] ?? '';
        if (!collections.includes(name)) {
          throw new AppError('not_found', `there is no collection ${JSON.stringify(name)}`);
        }
        const part = parseQuery(exchange.search, ['part']).get('part') ?? '';
        exchange.sendJson(200,
          await findIdentifiers(store.collection(name), part, IDENTIFIERS_MAX));
      },
    },
  ];
}
