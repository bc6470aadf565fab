import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ActionResult } from '../src/index.ts';
import type {
  Action, ActionContext, ActionOptions, Hookshelf, Logger, Payload,
} from '../src/index.ts';
import { addRecord, ask } from './e2e/ask.ts';
import { openHookshelf, serveHandler } from './support/embedded.ts';
import { turnsUntil } from './support/turns.ts';

class Greet implements Action {
  static identifier(): string {
    return 'greet';
  }

  static label(): string {
    return 'Greets';
  }

  static validateOptions(options: ActionOptions): string[] {
    return typeof options['greeting'] === 'string' ? [] : ['greeting must be a string'];
  }

  execute(payload: Payload, context: ActionContext, options: ActionOptions): ActionResult {
    const name = 'name' in payload ? payload['name'] : 'nobody';
    return ActionResult.ok({ text: `${options['greeting']}, ${name}`, query: context.query });
  }
}

type Received = { readonly headers: NodeJS.Dict<string | string[]>; readonly body: string };

async function open(
  context: TestContext, logger?: Logger,
): Promise<{ shelf: Hookshelf; url: string }> {
  const shelf = await openHookshelf(context, {
    actions: [Greet], settings: { http: { denyAddresses: [] } },
    ...logger === undefined ? {} : { logger },
  });
  return { shelf, url: (await shelf.listen({ port: 0 })).url };
}

/** A server that keeps what it gets, and resolves `first` with it. */
async function target(context: TestContext): Promise<{ url: string; first: Promise<Received> }> {
  let settle: (received: Received) => void = () => {};
  const first = new Promise<Received>((resolve) => {
    settle = resolve;
  });
  const { url } = await serveHandler(context, async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    response.end('{"ok":true}');
    settle({ headers: incoming.headers, body });
  });
  return { url: `${url}/`, first };
}

async function post(url: string, body: object): Promise<{ status: number; body: unknown }> {
  const { status, text } = await ask(url, { method: 'POST', body });
  return { status, body: JSON.parse(text) };
}

function addOutgoing(url: string, webhook: object): Promise<string> {
  return addRecord(`${url}/api/outgoing-webhooks`, webhook);
}

test('an embedded action class runs for an incoming webhook', async (context) => {
  const { url } = await open(context);
  const options = { greeting: 'Hello' };
  const made = await post(`${url}/api/action-configurations`, {
    identifier: 'greeting', actionType: 'greet', options,
  });
  assert.equal(made.status, 201);
  await post(`${url}/api/incoming-webhooks`, {
    pathSegment: 'hi', actionConfiguration: 'greeting',
  });
  const answer = await post(`${url}/webhook/in/hi?x=1`, { name: 'Ada' });
  assert.deepEqual(answer, {
    status: 200,
    body: { success: true, message: '', data: { text: 'Hello, Ada', query: 'x=1' } },
  });
});

test('an embedded action checks its options', async (context) => {
  const { url } = await open(context);
  const refused = await post(`${url}/api/action-configurations`, {
    actionType: 'greet', options: {},
  });
  assert.equal(refused.status, 422);
  assert.match(JSON.stringify(refused.body), /greeting must be a string/);
});

test('webhooks.send sends now and tells what came back', async (context) => {
  const { shelf, url } = await open(context);
  const { url: targetUrl, first } = await target(context);
  const hook = await addOutgoing(url, { targetUrl, secret: 'It\'s a Secret to Everybody' });
  const result = await shelf.webhooks.send(hook, { greeting: 'hi' });
  assert.deepEqual(result, { success: true, statusCode: 200, response: { ok: true } });
  const { headers, body } = await first;
  assert.equal(body, '{"greeting":"hi"}');
  assert.match(String(headers['x-signature']), /^sha256=[0-9a-f]{64}$/);
});

test('a hook that is saved nowhere is sent by the rules of one that is', async (context) => {
  const { shelf } = await open(context);
  const { url: targetUrl, first } = await target(context);
  const hook = { targetUrl, httpMethod: 'PUT', payloadTemplate: '{"n":"{{ n }}"}', secret: 'x' };
  const result = await shelf.webhooks.send(hook, { n: 7 });
  assert.deepEqual(result, { success: true, statusCode: 200, response: { ok: true } });
  const { headers, body } = await first;
  assert.equal(body, '{"n":7}');
  assert.match(String(headers['webhook-signature']), /^v1,/);
  for (const wrong of ['nope', {}, { identifier: 'nope' }]) {
    await assert.rejects(shelf.webhooks.send(wrong, 1), { code: 'not_found' });
  }
  await assert.rejects(shelf.webhooks.send({ targetUrl: 'ftp://x' }, 1), { code: 'invalid' });
  const { success, message } = await shelf.webhooks.send({ targetUrl, enabled: false }, 1,
    { retries: 1 });
  assert.ok(success);
  assert.match(message ?? '', /^The webhook is disabled/);
});

test('webhooks.emit queues a delivery that arrives', async (context) => {
  const { shelf, url } = await open(context);
  const { url: targetUrl, first } = await target(context);
  await addOutgoing(url, { targetUrl, triggerEvent: 'order.*' });
  const deliveries = await shelf.webhooks.emit('order.paid', { total: 3 });
  assert.equal(deliveries.length, 1);
  const { body } = await first;
  assert.equal(body, '{"total":3}');
});

test('a change of a book is an event of the catalog', async (context) => {
  const { shelf, url } = await open(context);
  const { url: targetUrl, first } = await target(context);
  await addOutgoing(url, { targetUrl, triggerEvent: 'book.created' });
  const book = await shelf.books.add({ title: 'Solaris' });
  const event = JSON.parse((await first).body);
  assert.equal(event.type, 'book.created');
  assert.deepEqual(event.data.book, book);
  assert.ok(Number.isFinite(Date.parse(event.timestamp)));
});

for (const triggers of [{ triggerEvent: 'book.created' }, { triggerEvents: ['*', 'book.*'] }]) {
  test(`a webhook that adds a book ends after eight, with ${JSON.stringify(triggers)}`, {
    timeout: 120_000,
  }, (context) => addsBooks(context, triggers));
}

async function addsBooks(context: TestContext, triggers: object): Promise<void> {
  const lines: string[] = [];
  const log = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const { shelf, url } = await open(context, { debug() {}, info: log, warning: log, error: log });
  await addOutgoing(url, {
    targetUrl: `${url}/api/books`, ...triggers, payloadTemplate: '{"title": "another"}',
  });
  assert.equal((await post(`${url}/api/books`, { title: 'the first' })).status, 201);
  const isEnd = (line: string): boolean => line.startsWith('a chain of more than 8 hops');
  await turnsUntil(() => lines.some(isEnd));
  assert.match(lines.find(isEnd) ?? '', /"path":"\/api\/books"/);
  assert.equal((await shelf.books.list()).total, 8);
}
