import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  isSignatureValid, createSignatureKey,
} from '../../../../src/webhooks/senders/x-signature.ts';
import { answer, closedPort, startServer, type ScriptedServer } from '../../../support/servers.ts';
import { turnsUntil } from '../../../support/turns.ts';
import { createActionClass } from '../../context.ts';
import { startRelay, type Answer, type Relay } from '../../relay.ts';

const Shape = createActionClass('shape', (payload: { n?: number }) => {
  if (payload.n === 13) return { success: false, message: 'unlucky' };
  if (payload.n === 14) return { success: true, data: new Date(0) };
  return { success: true, data: { shaped: payload } };
});

let relay: Relay;
let target: ScriptedServer;
let reply = answer();
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(reply) });
  relay = await startRelay({ actions: [Shape] });
  await relay.ask('POST', '/api/action-configurations', {
    identifier: 'shape', actionType: 'shape',
  });
});
after(async () => {
  await relay.close();
  await target.close();
});

async function sendWith(hook: object, body: unknown = { payload: { n: 1 } }): Promise<Answer> {
  const made = await relay.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: target.url('/hook'), ...hook,
  });
  assert.equal(made.status, 201, made.text);
  return relay.ask('POST', `/api/outgoing-webhooks/${String(made.json['identifier'])}/send`, body);
}

function last(): { readonly head: string; readonly body: string } {
  const received = target.received.at(-1);
  return { head: received?.head ?? '', body: received?.body.toString('utf8') ?? '' };
}

function header(name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(last().head)?.[1] ?? '';
}

test('the payload is the body, with the configured method and headers', async () => {
  reply = answer(200, '{"ok":1}');
  const { status, json } = await sendWith({ httpMethod: 'PATCH', headers: { 'X-A': 'b' } });
  assert.equal(status, 200);
  assert.deepEqual(json, { success: true, statusCode: 200, response: { ok: 1 } });
  assert.match(last().head, /^PATCH \/hook /);
  assert.equal(header('x-a'), 'b');
  assert.equal(header('content-type'), 'application/json');
  assert.equal(last().body, '{"n":1}');
  assert.equal(header('x-signature'), '');
});

test('what has no body has no type', async () => {
  await sendWith({ httpMethod: 'GET' });
  assert.equal(header('content-type'), '');
});

test('without a payload it is the empty object', async () => {
  await sendWith({}, '');
  assert.equal(last().body, '{}');
});

test('null is a payload like any other JSON', async () => {
  await sendWith({}, { payload: null });
  assert.equal(last().body, 'null');
});

test('first the action, then the template', async () => {
  await sendWith({ actionConfiguration: 'shape', payloadTemplate: '{"got": "{{ shaped.n }}"}' });
  assert.equal(last().body, '{"got": 1}');
});

test('a failing action fails the send, and nothing goes out', async () => {
  const before = target.received.length;
  const { status, json } = await sendWith({ actionConfiguration: 'shape' }, { payload: { n: 13 } });
  assert.equal(status, 200);
  assert.equal(json['success'], false);
  assert.match(String(json['message']), /unlucky/);
  assert.equal(json['statusCode'], null);
  assert.equal(target.received.length, before);
});

test('data that is neither object nor array as JSON fails the send too', async () => {
  const before = target.received.length;
  const { json } = await sendWith({ actionConfiguration: 'shape' }, { payload: { n: 14 } });
  assert.equal(json['success'], false);
  assert.equal(target.received.length, before);
});

test('a forward of a payload that is no object or array is the empty array', async () => {
  reply = answer(200, 'ok');
  const options = { url: target.url('/forwarded') };
  await relay.ask('POST', '/api/action-configurations', {
    identifier: 'forward', actionType: 'http-forward', options,
  });
  for (const [payload, body] of [['text', '[]'], [{ a: [1] }, '{"a":[1]}'], [[1], '[1]']]) {
    await sendWith({ actionConfiguration: 'forward' }, { payload });
    assert.equal(target.received.at(-2)?.body.toString(), body);
  }
});

test('a disabled hook is sent to as well, and the message says that it is disabled', async () => {
  reply = answer(200, 'ok');
  const before = target.received.length;
  const { json } = await sendWith({ enabled: false });
  assert.deepEqual(json, {
    success: true, message: 'The webhook is disabled: events are not sent to it', statusCode: 200,
    response: 'ok',
  });
  assert.equal(target.received.length, before + 1);
  reply = answer(404, 'no');
  assert.equal((await sendWith({ enabled: false })).json['message'],
    'The target answered 404. The webhook is disabled: events are not sent to it');
});

test('one request is made, and as many more as `retries` says', async () => {
  const patient = await startRelay({ client: { retries: 2 } });
  const made = await patient.ask('POST', '/api/outgoing-webhooks', { targetUrl: target.url('/') });
  const identifier = String(made.json['identifier']);
  const path = `/api/outgoing-webhooks/${identifier}/send`;
  const countOf = async (send: () => Promise<unknown>): Promise<number> => {
    const before = target.received.length;
    await send();
    return target.received.length - before;
  };
  try {
    reply = answer(503, 'later');
    const { webhooks } = patient;
    assert.equal(await countOf(() => patient.ask('POST', path)), 1);
    assert.equal(await countOf(() => patient.ask('POST', path, { retries: 1 })), 2);
    assert.equal(await countOf(() => patient.ask('POST', path, { retries: 10 })), 11);
    assert.equal(await countOf(() => webhooks.send(identifier, {})), 1);
    assert.equal(await countOf(() => webhooks.send(identifier, {}, { retries: 3 })), 4);
    for (const retries of [-1, 11, 1.5, '1']) {
      assert.equal((await patient.ask('POST', path, { retries })).status, 422, String(retries));
    }
    for (const retries of [-1, 11, 1.5, NaN]) {
      await assert.rejects(webhooks.send(identifier, {}, { retries }), { code: 'invalid' });
    }
  } finally {
    await patient.close();
  }
});

test('a target that was reached and gives no answer is not called unreachable', async () => {
  const silent = await startServer();
  const cutting = await startServer({ onRequest: ({ socket }) => void socket.destroy() });
  const stalling = await startServer({
    onRequest: ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'),
  });
  const servers = [silent, stalling, cutting];
  const answers = await Promise.all(servers.map((server) =>
    sendWith({ targetUrl: server.url('/'), ...server === cutting ? {} : { timeout: 1.5 } })));
  await Promise.all(servers.map((server) => server.close()));
  assert.deepEqual(answers.map(({ json }) => json['message']), [
    'The target gave no answer within 1.5 s', 'The target gave no answer within 1.5 s',
    'The target gave no answer: ECONNRESET',
  ]);
});

test('a refusal and a dead target are results', async () => {
  reply = answer(404, 'no');
  const refused = (await sendWith({})).json;
  assert.deepEqual(refused, {
    success: false, message: 'The target answered 404', statusCode: 404, response: 'no',
  });
  const targetUrl = `http://127.0.0.1:${await closedPort()}/`;
  assert.deepEqual((await sendWith({ targetUrl })).json, {
    success: false, message: 'The target could not be reached: ECONNREFUSED', statusCode: null,
    response: null,
  });
});

test('an answer nested as no JSON of ours may be is shown as text', async () => {
  const nested = '['.repeat(20_000) + ']'.repeat(20_000);
  reply = answer(200, nested);
  const { status, json } = await sendWith({});
  assert.equal(status, 200);
  assert.deepEqual(json, { success: true, statusCode: 200, response: nested });
});

test('an unknown hook is not found', async () => {
  assert.equal((await relay.ask('POST', '/api/outgoing-webhooks/nope/send')).status, 404);
});

test('a send is signed both ways', async () => {
  reply = answer();
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  await sendWith({ secret });
  const { body } = last();
  assert.ok(isSignatureValid(createSignatureKey(secret), Buffer.from(body), header('x-signature')));
  const key = Buffer.from(secret.slice(6), 'base64');
  const signed = `${header('webhook-id')}.${header('webhook-timestamp')}.${body}`;
  const mac = createHmac('sha256', key).update(signed).digest('base64');
  assert.equal(header('webhook-signature'), `v1,${mac}`);
});

test('one hookshelf feeds another with the same secret', async () => {
  const secret = 'shared ✓';
  await relay.hook({ actionType: 'log' }, { pathSegment: 'fed', secret });
  const { json } = await sendWith({ targetUrl: `${relay.url}/webhook/in/fed`, secret });
  assert.deepEqual(json, {
    success: true, statusCode: 200, response: { success: true, message: '', data: {} },
  });
});

test('a secret header that the target repeats is *** in response and delivery', async () => {
  reply = answer(200, '{"got":{"authorization":"Bearer planted-1","x-api-key":"planted-2"}}');
  const { json } = await sendWith({
    headers: { 'Authorization': 'Bearer planted-1', 'X-Api-Key': 'planted-2' },
    triggerEvent: 'repeated',
  });
  assert.deepEqual(json['response'],
    { got: { 'authorization': 'Bearer ***', 'x-api-key': '***' } });
  relay.webhooks.start();
  const emitted = await relay.ask('POST', '/api/events', { name: 'repeated', payload: {} });
  const [id = ''] = emitted.json['deliveries'] as readonly string[];
  await turnsUntil(() => relay.webhooks.deliveries.totals().pending === 0);
  const { text } = await relay.ask('GET', `/api/deliveries/${id}`);
  assert.ok(text.includes('Bearer ***') && !text.includes('planted'), text);
});
