/** Closing an app answers what is under way, also what came through another program's server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Hookshelf } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { openHookshelf, serveHandler } from './support/embedded.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { someTurns, turnsUntil } from './support/turns.ts';

/** A target that answers when told to. */
async function slowTarget(context: TestContext) {
  const waiting: (() => void)[] = [];
  const { url } = await serveHandler(context, (request, response) => {
    request.resume();
    waiting.push(() => response.end('taken'));
  });
  return { url, waiting };
}

const settings = { http: { denyAddresses: [] } };

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
  const shelf = await openHookshelf(context, { settings });
  await shelf.request('POST', '/api/action-configurations', {
    identifier: 'on', actionType: 'http-forward', options: { url: target },
  });
  await shelf.request('POST', '/api/incoming-webhooks', {
    pathSegment: 'in', actionConfiguration: 'on',
  });
  const { url } = await serveHandler(context, shelf.handler);
  const asked = ask(`${url}/webhook/in/in`, { method: 'POST', body: '{}' });
  assert.equal(await closeAround(shelf, waiting, 1), true, 'the target had not answered');
  assert.equal((await asked).status, 200);
});

test('closing waits for what is sent and requested in process', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const shelf = await openHookshelf(context, { settings });
  const { body: hook } = await shelf.request('POST', '/api/outgoing-webhooks', { targetUrl });
  const sent = shelf.webhooks.send(hook.identifier, 1);
  const requested = shelf.request(
    'POST', `/api/outgoing-webhooks/${hook.identifier}/send`, { payload: 2 });
  assert.equal(await closeAround(shelf, waiting, 2), true, 'the target had not answered');
  assert.equal((await sent).statusCode, 200);
  assert.equal((await requested).body.statusCode, 200);
});

test('closing waits for deliveries under way, and what came of them is kept', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const data = createTemporaryFolder();
  const shelf = await openHookshelf(context, { data, settings });
  await shelf.request('POST', '/api/outgoing-webhooks', { targetUrl, triggerEvent: 'paid' });
  const [id = ''] = await shelf.webhooks.emit('paid', { total: 3 });
  assert.equal(await closeAround(shelf, waiting, 1), true, 'the target had not answered');
  const again = await openHookshelf(context, { data, settings });
  const { status, attempts } = (await again.request('GET', `/api/deliveries/${id}`)).body;
  assert.deepEqual([status, attempts.length, attempts[0]?.statusCode, waiting.length],
    ['delivered', 1, 200, 1]);
});

test('a mounted handler takes no request once closing has begun', async (context) => {
  const { url: targetUrl, waiting } = await slowTarget(context);
  const shelf = await openHookshelf(context, { settings });
  const { url } = await serveHandler(context, shelf.handler);
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
  const shelf = await openHookshelf(context,
    { settings: { ...settings, server: { shutdownTimeout: 0.05 } } });
  const sent = shelf.webhooks.send({ targetUrl }, 1);
  await turnsUntil(() => waiting.length === 1);
  await shelf.close();
  assert.match((await sent).message ?? '', /ECANCELED/);
});
