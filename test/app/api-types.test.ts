/** The table of routes for a program that embeds us: one row for each route of the document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '../../src/base/schema.ts';
import { openHookshelf } from '../support/embedded.ts';

type Row = readonly [method: string, path: string];

const SOURCE = readFileSync(new URL('../../src/app/api-types.ts', import.meta.url), 'utf8');
const ROW = /^ {2}\['([A-Z]+)', ((?:'[^']+'(?: \| )?)+)/gm;
const RESOURCE = /\.\.\.ResourceRoutes<'([^']+)', '([^']+)'/g;
/** Routes that people, senders and copies elsewhere call, not programs. */
const NOT_LISTED = /^\/(?:webhook|console|favicon|api\/follow)/;

function listRows(): Row[] {
  const table = SOURCE.slice(
    SOURCE.indexOf('type Routes = ['), SOURCE.indexOf('type ResourceRoutes<'));
  const lines = table.replace(RESOURCE, (_, path: string, key: string) => [
    `['GET', '${path}'`, `['POST', '${path}'`,
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `['${method}', '${path}/${key}'`),
    `['POST', '${path}/${key}/restore'`,
  ].join('\n  '));
  return [...lines.matchAll(ROW)].flatMap(([, method = '', paths = '']) =>
    paths.split(' | ').map((path): Row => [method, path.slice(1, -1)]));
}

/** As TypeScript finds it: `{id}` fits any text, slashes too. */
function findRow(rows: readonly Row[], method: string, path: string): Row | undefined {
  return rows.find(([verb, pattern]) => verb === method
    && new RegExp(`^${pattern.replace(/\{\w+\}/g, '.*')}$`).test(path));
}

test('each route of the document has its row, and finds it', async (context) => {
  const { request } = await openHookshelf(context);
  const { body } = await request('GET', '/openapi.json');
  const routes = Object.entries(body['paths'] as JsonObject)
    .filter(([path]) => !NOT_LISTED.test(path))
    .flatMap(([path, operations]) => Object.keys(operations as JsonObject)
      .filter((name) => name !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`));
  const rows = listRows();
  assert.deepEqual(rows.map((row) => row.join(' ')).sort(), [...routes].sort());
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    assert.deepEqual(findRow(rows, method, path)?.join(' '), route);
  }
});
