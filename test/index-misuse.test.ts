/** The library in hands that have no types, and after its end. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError, createHookshelf } from '../src/index.ts';
import type { ErrorCode } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { openHookshelf, serveHandler } from './support/embedded.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const circular: Record<string, unknown> = {};
circular['self'] = circular;

type Misuse = readonly ['books' | 'webhooks', string, readonly unknown[], ErrorCode];

const MISUSES: readonly Misuse[] = [
  ['books', 'get', [undefined], 'not_found'],
  ['books', 'get', [7], 'not_found'],
  ['books', 'delete', [undefined], 'not_found'],
  ['books', 'replace', [undefined, { title: 'Emma' }], 'not_found'],
  ['books', 'patch', [null, {}], 'not_found'],
  ['books', 'add', [undefined], 'invalid'],
  ['books', 'add', [() => {}], 'invalid'],
  ['books', 'add', [circular], 'invalid'],
  ['books', 'add', [{ title: 'Emma', numberOfPages: 474n }], 'invalid'],
  ['books', 'list', [null], 'malformed'],
  ['books', 'list', ['q=emma'], 'malformed'],
  ['books', 'list', [{ limt: 1 }], 'malformed'],
  ['webhooks', 'send', [undefined, {}], 'invalid'],
  ['webhooks', 'send', [null, {}], 'invalid'],
  ['webhooks', 'emit', [undefined, {}], 'invalid'],
  ['webhooks', 'emit', ['shop.opened', circular], 'invalid'],
  ['webhooks', 'emit', ['store.recovered', {}], 'invalid'],
];

const REQUESTS: readonly (readonly [readonly unknown[], ErrorCode])[] = [
  [['POST', '/api/books', circular], 'invalid'],
  [['POST', '/api/books', () => {}], 'invalid'],
  [['POST', '/api/books', { title: 'Emma', numberOfPages: 474n }], 'invalid'],
  // Not to be taken for a stream.
  [['POST', '/api/books', { title: 'Emma', pipe: 1 }], 'invalid'],
  [['POST', '/api/books', 'Emma'], 'invalid'],
  [['GET', 'api/books'], 'malformed'],
  [['GET', '/api/books?q=\u6771'], 'malformed'],
  [['GET', '/api/books?q=Bront\xeb'], 'malformed'],
  [['GET', '/api/books?q=a b'], 'malformed'],
  [['FROB', '/api/books'], 'malformed'],
  [['CONNECT', '/api/books'], 'malformed'],
  [['', '/api/books'], 'malformed'],
  [['GET', undefined], 'malformed'],
  [['get it', '/api/books'], 'malformed'],
  [[undefined, '/api/books'], 'malformed'],
  [['GET', '/api/books', undefined, { headers: { 'x y': 'z' } }], 'malformed'],
  [['GET', '/api/books', undefined, { headers: { x: 'a\r\nb: c' } }], 'malformed'],
];

test('whatever a program hands in, what fails is an AppError', async (context) => {
  const shelf = await openHookshelf(context);
  for (const [part, method, given, code] of MISUSES) {
    const call = async (): Promise<unknown> => {
      const found: unknown = Reflect.get(shelf[part], method);
      assert(typeof found === 'function');
      return Reflect.apply(found, shelf[part], given);
    };
    await assert.rejects(call, (thrown: unknown) =>
      thrown instanceof AppError && thrown.code === code, `${method}(${String(given[0])})`);
  }
  for (const port of [-1, 1.5, 65_536, NaN]) {
    await assert.rejects(shelf.listen({ port }), { name: 'AppError', code: 'usage' });
  }
  for (const [given, code] of REQUESTS) {
    const call = async (): Promise<unknown> => Reflect.apply(shelf.request, undefined, given);
    await assert.rejects(call, (thrown: unknown) =>
      thrown instanceof AppError && thrown.code === code, String(given));
  }
  const file = join(createTemporaryFolder(), 'file');
  writeFileSync(file, '');
  await assert.rejects(createHookshelf({ data: file }),
    { name: 'AppError', code: 'conflict', message: /is not a directory/ });
});

test('options that are none, or not of their kind, are named', async () => {
  for (const [options, message] of [
    [null, /options must be an object/],
    [{ dat: 'x' }, /unknown option `dat`: did you mean `data`/],
    [{ directory: 'x' }, /unknown option `directory`: known are data, settings, actions, logger/],
    [{ data: 5 }, /`data` must be the path/], [{ settings: null }, /settings must hold a JSON/],
    [{ settings: { http: { timeuot: 5 } } }, /http\.timeuot.*http\.timeout/],
    [{ actions: {} }, /`actions` must be an array/],
    [{ logger: console }, /`logger` lacks warning/],
    [{ logger: null }, /`logger` lacks debug, info, warning, error/],
  ] as const) {
    const given = options === null || 'data' in options
      ? options : { data: createTemporaryFolder(), ...options };
    const call = async (): Promise<unknown> =>
      Reflect.apply(createHookshelf, undefined, [given]);
    await assert.rejects(call, { name: 'AppError', code: 'usage', message });
  }
});

test('a closed app listens no more, nor ends its closing with a port open', async (context) => {
  const shelf = await openHookshelf(context);
  const refusal = assert.rejects(shelf.listen({ port: 0 }), { code: 'unavailable' });
  await shelf.close();
  await refusal;
  await assert.rejects(shelf.listen({ port: 0 }), { code: 'unavailable' });
});

test('a closed app neither reads nor writes, and its handler says so', async (context) => {
  const shelf = await openHookshelf(context);
  const { id } = await shelf.books.add({ title: 'Emma' });
  const { url } = await serveHandler(context, shelf.handler);
  assert.equal((await ask(`${url}/api/books/${id}`)).status, 200);
  await shelf.close();
  for (const path of [`/api/books/${id}`, '/api/books', '/readyz']) {
    const { status, headers } = await ask(url + path);
    assert.deepEqual([status, headers['content-type']], [503, 'application/problem+json'], path);
  }
  assert.throws(() => shelf.books.get(id), { code: 'unavailable' });
  await assert.rejects(shelf.books.list(), { code: 'unavailable' });
  await assert.rejects(shelf.books.add({ title: 'Emma' }), { code: 'unavailable' });
});
