/** The built package as a program of somebody else uses it: its types, and its handler mounted. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { makeTypes } from '../support/types.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const CONFIG = {
  compilerOptions: {
    strict: true, module: 'nodenext', target: 'es2023', noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, skipLibCheck: false,
    types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')], outDir: 'out',
  },
};

const PROGRAM = `
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ActionResult, AppError, createHookshelf } from 'hookshelf';
import type {
  Action, ActionContext, ActionOptions, ActionTools, Book, BookListing, Hookshelf, Logger, Payload,
} from 'hookshelf';

class Greet implements Action {
  static identifier(): string { return 'greet'; }
  static label(): string { return 'Greet'; }
  static validateOptions(options: ActionOptions): string[] {
    return options['name'] === undefined ? ['name is needed'] : [];
  }
  async execute(payload: Payload, context: ActionContext, options: ActionOptions,
    tools: ActionTools): Promise<ActionResult> {
    tools.log.info('greeting', { query: context.query });
    return ActionResult.ok({ name: options['name'] ?? null, payload });
  }
}

const logged: string[] = [];
const note = (message: string): void => { logged.push(message); };
const logger: Logger = { debug: note, info: note, warning: note, error: note };
const shelf: Hookshelf = await createHookshelf({ data: 'one', actions: [Greet], logger });
const other = await createHookshelf({ data: 'two' });
const book: Book = await shelf.books.add({ title: 'Emma', authors: [{ name: 'Jane Austen' }] });
const page: BookListing = await shelf.books.list({ limit: 1, q: 'emma' });
const refused = await shelf.books.add({ title: '' }).catch((thrown: unknown) =>
  thrown instanceof AppError ? thrown.details.errors?.[0]?.pointer : thrown);

const server = createServer((incoming, response) => {
  if (incoming.url?.startsWith('/shelf/') === true) {
    incoming.url = incoming.url.slice('/shelf'.length);
    shelf.handler(incoming, response);
  } else if (incoming.url?.startsWith('/api/') === true) other.handler(incoming, response);
  else response.end('mine');
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const { port } = server.address() as AddressInfo;
const call = (method: string, path: string, body?: object): Promise<[number, string]> =>
  new Promise((done, failed) => {
    const sent = request({ port, method, path, agent: false,
      headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.on('data', (chunk) => { text += String(chunk); });
      response.on('end', () => done([response.statusCode ?? 0, text]));
    });
    sent.on('error', failed).end(body === undefined ? undefined : JSON.stringify(body));
  });

const results = {
  page: [page.books[0]?.id === book.id, page.total, page.cursor],
  refused,
  mine: await call('GET', '/'),
  health: await call('GET', '/shelf/healthz'),
  one: (await call('GET', '/shelf/api/books'))[1].includes(book.id),
  two: await call('GET', '/api/books'),
  unknown: (await call('PUT', '/shelf/api/books', {}))[0],
  invalid: (await call('POST', '/shelf/api/action-configurations', { actionType: 'greet' }))[0],
  saved: [
    (await call('POST', '/shelf/api/action-configurations',
      { identifier: 'hello', actionType: 'greet', options: { name: 'Jo' } }))[0],
    (await call('POST', '/shelf/api/incoming-webhooks',
      { pathSegment: 'door', actionConfiguration: 'hello' }))[0],
  ],
  hook: await call('POST', '/shelf/webhook/in/door?a=1', { knock: 1 }),
  emitted: await shelf.webhooks.emit('door.opened', { by: null }),
  sent: await shelf.webhooks.send('none', {}).catch((thrown: unknown) =>
    thrown instanceof AppError ? thrown.code : thrown),
  listeners: [process.listenerCount('SIGTERM'), process.listenerCount('SIGINT'),
    process.listenerCount('uncaughtException')],
  logged: logged.includes('greeting'),
};
await Promise.all([shelf.close(), other.close()]);
await shelf.close();
const late = await call('POST', '/shelf/api/books', { title: 'late' });
server.close();
console.log(JSON.stringify({ ...results, late: late[0] }));
`;

const EXPECTED = {
  page: [true, 1, null], refused: '/title', mine: [200, 'mine'],
  health: [200, '{"status":"ok"}'], one: true, two: [200, '[]\n'], unknown: 405, invalid: 422,
  saved: [201, 201],
  hook: [200, '{"success":true,"message":"","data":{"name":"Jo","payload":{"knock":1}}}'],
  emitted: [], sent: 'not_found', listeners: [0, 0, 0], logged: true, late: 503,
};

test('a strict TypeScript program uses the package, two apps behind one server of its own', () =>
  inFolder(async (folder) => {
    makeTypes();
    const at = (...names: string[]) => join(folder, ...names);
    mkdirSync(at('node_modules'));
    symlinkSync(ROOT, at('node_modules/hookshelf'));
    writeFileSync(at('package.json'), '{"type":"module"}');
    writeFileSync(at('tsconfig.json'), JSON.stringify(CONFIG));
    writeFileSync(at('program.ts'), PROGRAM);
    const compiled = await run(folder, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.');
    assert.deepEqual([compiled.code, compiled.stdout], [0, '']);
    const ended = await run(folder, 'out/program.js');
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    assert.deepEqual(JSON.parse(ended.stdout), EXPECTED);
  }));

function run(cwd: string, ...words: readonly string[]) {
  return endOf(owned(spawn(process.execPath, words, { cwd })));
}
