import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { buildSync } from 'esbuild';
import { serveHandler } from './support/embedded.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

type Module = typeof import('../src/index.ts');

/**
 * The program in a realm of its own, as Jest runs it: with Node's modules and its own globals (so
 * that `Error`, `Object` and `Promise` are its own), and the rest of ours.
 */
function loadInRealm(): Module {
  const { outputFiles } = buildSync({
    entryPoints: [resolve(import.meta.dirname, '../src/index.ts')], write: false, bundle: true,
    platform: 'node', format: 'cjs', target: 'node20',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const realm = createContext({});
  const own: object = runInContext('globalThis', realm);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    if (!Object.hasOwn(own, name)) Object.defineProperty(own, name, property);
  }
  // As jest-environment-node does it: bytes are Node's.
  Object.assign(own, { global: own, Uint8Array, ArrayBuffer });
  const wrapped = `(function (module, exports, require) {${outputFiles[0]?.text}\n})`;
  const module: { exports: unknown } = { exports: {} };
  runInContext(wrapped, realm)(module, module.exports, createRequire(import.meta.url));
  assert.ok(runInContext('Error', realm) !== Error);
  return module.exports as Module;
}

const { createHookshelf } = loadInRealm();

async function open(
  context: TestContext, options: { readonly data: string; readonly settings?: object },
): ReturnType<Module['createHookshelf']> {
  const shelf = await createHookshelf(options);
  context.after(() => shelf.close());
  return shelf;
}

test('in another realm an app opens, writes, closes, and opens again', async (context) => {
  const data = join(createTemporaryFolder(), 'deep', 'data');
  const shelf = await open(context, { data });
  const { id } = await shelf.books.add({ title: 'Kokoro' });
  await shelf.close();
  const again = await open(context, { data });
  assert.equal(again.books.get(id).title, 'Kokoro');
  const [found] = (await again.books.list({ q: 'kokoro' })).books;
  assert.equal(found?.id, id);
});

test('in another realm what the system refuses is told as it is here', async (context) => {
  const directory = createTemporaryFolder();
  const path = join(directory, 'file');
  writeFileSync(path, '');
  await assert.rejects(createHookshelf({ data: join(path, 'data') }),
    { name: 'AppError', code: 'conflict' });
  await open(context, { data: directory });
  await assert.rejects(createHookshelf({ data: directory }),
    { code: 'conflict', message: new RegExp(`\\b${process.pid}\\b`) });
});

test('in another realm a webhook is sent, and a dead target is told', async (context) => {
  const bodies: string[] = [];
  const { url, close } = await serveHandler(context, async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.end();
  });
  const targetUrl = `${url}/`;
  const shelf = await open(context, {
    data: createTemporaryFolder(), settings: { http: { retries: 0 } },
  });
  const sent = await shelf.webhooks.send({ targetUrl }, { greeting: 'hi' });
  assert.equal(sent.success, true);
  assert.deepEqual(bodies.map((body) => JSON.parse(body)), [{ greeting: 'hi' }]);
  await close();
  const refused = await shelf.webhooks.send({ targetUrl }, { greeting: 'hi' });
  assert.match(JSON.stringify(refused), /ECONNREFUSED/);
});
