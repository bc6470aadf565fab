/** Closing an app answers what is under way, also what came through another program's server. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import type { Hookshelf } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { someTurns, turnsUntil } from './support/turns.ts';

async function serve(
  context: TestContext, listener: RequestListener,
): Promise<{ server: Server; url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A target that answers when told to. */
async function slowTarget(context: TestContext) {
  const waiting: (() => void)[] = [];
  const { url } = await serve(context, (request, response) => {
    request.resume();
    waiting.push(() => response.end('taken'));
  });
  return { url, waiting };
}

async function open(context: TestContext, server: object = {}): Promise<Hookshelf> {
  const data = createTemporaryFolder();
  const shelf = await createHookshelf({ data, settings: { server, http: { denyAddresses: [] } } });
  context.after(() => shelf.close());
  return shelf;
}

/** Closes `shelf` while `waiting` holds `count` requests back; resolves to whether it waited. */
async function closeAround(
  shelf: Hookshelf, waiting: readonly (() => void)[], count: number,
): Promise<boolean> {
  await turnsUntil(() => waiting.length === count);
  let isClosed = false;
  const closing = shelf.close().then(() => {
    isClosed = true;
  });
  await someTurns(500);
  const hasWaited = !isClosed;
  for (const answer of waiting) answer();
  await closing;
  return hasWaited;
}

test('closing answers what came through another server\'s handler', async (context) => {
  const { url: target, waiting } = await slowTarget(context);
  const shelf = await open(context);
  await shelf.request('POST', '/api/action-configurations', {
    identifier: 'on', actionType: 'http-forward', options: { url: target },
  });
  await shelf.request('POST', '/api/incoming-webhooks', {
    pathSegment: 'in', actionConfiguration: 'on',
  });
  const { url } = await serve(context, shelf.handler);
  const asked = ask(`${url}/webhook/in/in`, { method: 'POST', body: '{}' });
  assert.equal(await closeAround(shelf, waiting, 1), true, 'the target had not answered');
  assert.equal((await asked).status, 200);
});

test('closing waits for what is sent and requested in process', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const shelf = await open(context);
  const { body: hook } = await shelf.request('POST', '/api/outgoing-webhooks', { targetUrl });
  const sent = shelf.webhooks.send(hook.identifier, 1);
  const requested = shelf.request(
    'POST', `/api/outgoing-webhooks/${hook.identifier}/send`, { payload: 2 });
  assert.equal(await closeAround(shelf, waiting, 2), true, 'the target had not answered');
  assert.equal((await sent).statusCode, 200);
  assert.equal((await requested).body.statusCode, 200);
});

test('a mounted handler takes no request once closing has begun', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const shelf = await open(context);
  const { url } = await serve(context, shelf.handler);
  const sent = shelf.webhooks.send({ targetUrl }, 1);
  await turnsUntil(() => waiting.length === 1);
  const closing = shelf.close();
  assert.equal((await ask(`${url}/api/books`)).status, 503);
  for (const answer of waiting) answer();
  await closing;
  assert.equal((await sent).statusCode, 200);
});

test('closing waits no longer than the shutdown timeout', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const shelf = await open(context, { shutdownTimeout: 0.05 });
  const sent = shelf.webhooks.send({ targetUrl }, 1);
  await turnsUntil(() => waiting.length === 1);
  await shelf.close();
  assert.match((await sent).message ?? '', /ECANCELED/);
});
