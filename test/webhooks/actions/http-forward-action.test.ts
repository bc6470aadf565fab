import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { answer, closedPort, startServer, type ScriptedServer } from '../../support/servers.ts';
import { startRelay, type Relay } from '../relay.ts';
import type { PublicRequest } from '../../../src/webhooks/inbox/request-schema.ts';

let relay: Relay;
let target: ScriptedServer;
let reply = answer(200, '{"got": true}', ['Content-Type: application/json']);
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(reply) });
  relay = await startRelay();
});
after(async () => {
  await relay.close();
  await target.close();
});

let count = 0;
async function forward(options: object, body: unknown, method = 'POST'): Promise<{
  readonly status: number; readonly json: Readonly<Record<string, unknown>>;
}> {
  count += 1;
  const action = { actionType: 'http-forward', options: { url: target.url('/t?x=1'), ...options } };
  const pathSegment = `forward-${count}`;
  const made = await relay.hook(action, { pathSegment, allowedMethods: [method] });
  assert.equal(made.status, 201, made.text);
  return relay.ask(method, `/webhook/in/${pathSegment}`, body);
}

function last(): { readonly head: string; readonly body: string } {
  const received = target.received.at(-1);
  return { head: received?.head ?? '', body: received?.body.toString('utf8') ?? '' };
}

test('the received bytes arrive unchanged', async () => {
  const raw = '{ "a" : 1.0,\n\t"é": "\\u00e9", "a": 2 }';
  const { status, json } = await forward({}, raw);
  assert.equal(status, 200);
  assert.deepEqual(json, { success: true, message: '', data: { statusCode: 200 } });
  assert.equal(last().body, raw);
  assert.match(last().head, /^POST \/t\?x=1 HTTP\/1.1/);
  assert.match(last().head, /content-type: application\/json/i);
});

test('what is no JSON object or array is forwarded as the empty array', async () => {
  for (const raw of ['nonsense', '12', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])]) {
    await forward({}, raw);
    assert.equal(last().body, '[]');
  }
});

test('configured headers go over the default one, whatever their case', async () => {
  await forward({ method: 'PUT', headers: { 'CONTENT-TYPE': 'text/x', 'X-Key': 'k' } }, {});
  assert.match(last().head, /^PUT /);
  assert.match(last().head, /content-type: text\/x/i);
  assert.match(last().head, /x-key: k/i);
  assert.doesNotMatch(last().head, /application\/json/);
});

test('GET and HEAD carry no body', async () => {
  for (const method of ['GET', 'HEAD']) {
    reply = answer(204, '');
    await forward({ method }, { a: 1 });
    assert.match(last().head, new RegExp(`^${method} `));
    assert.equal(last().body, '');
    assert.doesNotMatch(last().head, /^content-type:/im);
  }
  await forward({ method: 'GET', headers: { 'Content-Type': 'text/plain' } }, {});
  assert.match(last().head, /^content-type: text\/plain$/im);
});

test('the answer is shown only when asked for', async () => {
  const cases: readonly [string, unknown][] = [
    ['{"got": true}', { got: true }], ['plain', 'plain'], ['x'.repeat(70_000), 'x'.repeat(65_536)],
  ];
  for (const [text, response] of cases) {
    reply = answer(200, text);
    const { json } = await forward({ exposeResponse: true }, {});
    assert.deepEqual(json['data'], { statusCode: 200, response });
  }
});

test('a failure names the upstream status, and no target', async () => {
  reply = answer(502, 'inner detail');
  const { status, json } = await forward({}, {});
  assert.equal(status, 400);
  assert.deepEqual(json, {
    success: false, message: 'The upstream answered 502', data: { statusCode: 502 },
  });
  reply = answer(302, '', ['Location: /elsewhere']);
  assert.equal((await forward({}, {})).json['success'], false);
});

test('a network failure names its kind, and no target', async () => {
  const port = await closedPort();
  const { status, json } = await forward({ url: `http://planted:creds@127.0.0.1:${port}/p` }, {});
  assert.equal(status, 400);
  assert.deepEqual(json, {
    success: false, message: 'The upstream could not be reached: ECONNREFUSED',
    data: { statusCode: null },
  });
  assert.ok(relay.logLines.some((line) => line.includes(`***@127.0.0.1:${port}`)));
  assert.ok(!relay.logLines.some((line) => line.includes('creds')));
});

/** The data of the last attempt of the newest stored request. */
async function findRecordedData(): Promise<unknown> {
  const { text } = await relay.ask('GET', '/api/requests?limit=1');
  const requests: readonly PublicRequest[] = JSON.parse(text);
  return requests[0]?.routes[0]?.attempts.at(-1)?.data;
}

test('the record of a failed forward tells where it went and what came back', async () => {
  const closed = await closedPort();
  const filling = 'y'.repeat(2000);
  reply = answer(503, `database is down; you sent Bearer planted-key ${filling}`);
  const cases: readonly [options: object, data: object][] = [
    [{ url: target.url('/t?token=planted&x=1'), headers: { authorization: 'Bearer planted-key' } },
      {
        statusCode: 503, method: 'POST', url: target.url('/t?token=***&x=1'),
        response: `database is down; you sent Bearer *** ${filling}`.slice(0, 1024),
      }],
    [{ url: `http://planted:creds@127.0.0.1:${closed}/p` }, {
      statusCode: null, method: 'POST', url: `http://***@127.0.0.1:${closed}/p`,
    }],
  ];
  for (const [options, data] of cases) {
    const { json } = await forward(options, {});
    assert.doesNotMatch(JSON.stringify(json), /http:|database/);
    assert.deepEqual(await findRecordedData(), data);
  }
});

test('the record of a failed relay hides the signature that its target repeats', async () => {
  const secret = 'planted';
  const signature = createHmac('sha256', secret).update('{}').digest('hex');
  reply = answer(500, `wrong: sha256=${signature}`);
  await relay.hook({ actionType: 'http-forward', options: { url: target.url('/t'), pass: true } },
    { pathSegment: 'relayed', secret, verification: { preset: 'github' } });
  const { status } = await relay.ask('POST', '/webhook/in/relayed', '{}',
    { 'X-Hub-Signature-256': `sha256=${signature}` });
  assert.equal(status, 400);
  assert.deepEqual(await findRecordedData(),
    { statusCode: 500, method: 'POST', url: target.url('/t'), response: 'wrong: ***' });
});

test('the chain of events is counted on', async () => {
  reply = answer();
  count += 1;
  await relay.hook({ actionType: 'http-forward', options: { url: target.url() } },
    { pathSegment: 'chained' });
  await relay.ask('POST', '/webhook/in/chained', {}, { 'X-Hookshelf-Chain': '3' });
  assert.match(last().head, /x-hookshelf-chain: 4/i);
});
