/** When a data directory remembers that an embedding program has named a token. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Hookshelf, HookshelfOptions } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { openHookshelf, serveHandler } from './support/embedded.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const TOKEN = 'a-token-of-the-tests';

/** Opens apps on one new data directory, one after another, and asks them. */
function createPlace(context: TestContext) {
  const data = createTemporaryFolder();
  const open = (options?: HookshelfOptions) => openHookshelf(context, { ...options, data });
  /** The status of a request to an app mounted in another program's server. */
  const askMounted = async (app: Hookshelf, token: string | null = null): Promise<number> => {
    const { url, close } = await serveHandler(context, app.handler);
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const { status } = await ask(`${url}/api/books`, { headers });
    await close();
    return status;
  };
  const isOpen = async (): Promise<boolean> => {
    const app = await open();
    const status = await askMounted(app);
    await app.close();
    return status === 200;
  };
  return { open, askMounted, isOpen };
}

const withToken = (apiToken: string): HookshelfOptions => ({ settings: { server: { apiToken } } });

test('an app that could not be opened or listen with a token leaves the API open',
  async (context) => {
  const { open, isOpen } = createPlace(context);
  class NoAction {}
  // As a program in JavaScript might: the class is no action.
  const actions: NonNullable<HookshelfOptions['actions']> = [];
  Object.assign(actions, [NoAction]);
  await assert.rejects(open({ ...withToken(TOKEN), actions }), { code: 'usage' });
  assert.ok(await isOpen());
  const app = await open(withToken('short'));
  await assert.rejects(app.listen({ host: '0.0.0.0', port: 0 }), { code: 'usage' });
  await app.close();
  assert.ok(await isOpen());
});

test('an app that has listened with a token leaves the API closed', async (context) => {
  const { open, isOpen } = createPlace(context);
  const app = await open(withToken(TOKEN));
  await app.listen({ port: 0 });
  await app.close();
  assert.ok(!await isOpen());
});

test('an app that is told of a proxy warns while no token is needed, unless that is meant',
  async (context) => {
    const server = { baseUri: 'https://hooks.example.com' };
    for (const [options, isWarned] of [
      [{ settings: { server } }, true],
      [{ settings: { server: { trustProxy: ['192.0.2.1'] } } }, true],
      [{ settings: { server: { baseUri: 'http://127.0.0.1:8000', trustProxy: [] } } }, false],
      [{ settings: { server }, allowAnonymous: true }, false],
      [{ settings: { server: { ...server, apiToken: TOKEN } } }, false],
    ] as const) {
      const warnings: string[] = [];
      const warning = (message: string): unknown => warnings.push(message);
      const logger = { debug() {}, info() {}, warning, error: warning };
      await openHookshelf(context, { ...options, logger });
      assert.equal(warnings.some((line) => line.includes('the API asks for no token')), isWarned,
        JSON.stringify(options));
    }
  });

test('a mounted app remembers its token before the first answer', async (context) => {
  const { open, askMounted, isOpen } = createPlace(context);
  const app = await open(withToken(TOKEN));
  assert.equal(await askMounted(app, TOKEN), 200);
  await app.close();
  assert.ok(!await isOpen());
});
