/** When a data directory remembers that an embedding program has named a token. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import type { Hookshelf, HookshelfOptions } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const TOKEN = 'a-token-of-the-tests';

type Open = (options?: HookshelfOptions) => Promise<Hookshelf>;

/** Opens apps on one new data directory, one after another. */
function createOpener(): Open {
  const data = createTemporaryFolder();
  return (options) => createHookshelf({ ...options, data });
}

/** The status of a request without a token, to an app mounted in another program's server. */
async function askMounted(app: Hookshelf, token: string | null = null): Promise<number> {
  const server = createServer(app.handler);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    return (await ask(`http://127.0.0.1:${port}/api/books`, { headers })).status;
  } finally {
    server.close();
  }
}

async function isOpen(open: Open): Promise<boolean> {
  const app = await open();
  try {
    return await askMounted(app) === 200;
  } finally {
    await app.close();
  }
}

const withToken = (apiToken: string): HookshelfOptions => ({ settings: { server: { apiToken } } });

test('an app that could not be opened or listen with a token leaves the API open', async () => {
  const open = createOpener();
  class NoAction {}
  // As a program in JavaScript might: the class is no action.
  const actions: NonNullable<HookshelfOptions['actions']> = [];
  Object.assign(actions, [NoAction]);
  await assert.rejects(open({ ...withToken(TOKEN), actions }), { code: 'usage' });
  assert.ok(await isOpen(open));
  const app = await open(withToken('short'));
  await assert.rejects(app.listen({ host: '0.0.0.0', port: 0 }), { code: 'usage' });
  await app.close();
  assert.ok(await isOpen(open));
});

test('an app that has listened with a token leaves the API closed', async () => {
  const open = createOpener();
  const app = await open(withToken(TOKEN));
  await app.listen({ port: 0 });
  await app.close();
  assert.ok(!await isOpen(open));
});

test('a mounted app remembers its token before the first answer', async () => {
  const open = createOpener();
  const app = await open(withToken(TOKEN));
  assert.equal(await askMounted(app, TOKEN), 200);
  await app.close();
  assert.ok(!await isOpen(open));
});
