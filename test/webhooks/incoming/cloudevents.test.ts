/** The preset `cloudevents`: its handshake, its three modes and its bearer token. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { rawRequest, type RawAnswer } from '../../support/raw-http.ts';
import {
  startRelayWithHook, type Answer, type Headers, type Relay, type RelayOptions,
} from '../relay.ts';
import { createActionClass } from '../context.ts';

const SECRET = 'a-bearer-token';
const AUTHORIZED = { Authorization: `Bearer ${SECRET}` };
const BINARY = {
  ...AUTHORIZED, 'ce-specversion': '1.0', 'ce-id': 'a1', 'ce-source': '/s%20t', 'ce-type': 'com.a',
};
const EVENT = { specversion: '1.0', id: 'a1', source: '/s t', type: 'com.a', data: { b: 1 } };
const STRUCTURED = { ...AUTHORIZED, 'Content-Type': 'application/cloudevents+json' };
const BATCH = { ...AUTHORIZED, 'Content-Type': 'application/cloudevents-batch+json' };

let payloads: unknown[] = [];

const Takes = createActionClass('takes', (payload: unknown) => {
  payloads.push(payload);
  return { success: true };
});

async function start(
  context: TestContext, verification: object = {}, options: RelayOptions = {},
): Promise<Relay> {
  payloads = [];
  return startRelayWithHook(context, { actionType: 'takes' }, {
    secret: SECRET, inbox: 'all', verification: { preset: 'cloudevents', ...verification },
  }, { actions: [Takes], ...options });
}

function post(relay: Relay, headers: Headers, body: unknown, query = ''): Promise<Answer> {
  return relay.ask('POST', `/webhook/in/hook${query}`, body, headers);
}

async function newest(relay: Relay): Promise<Readonly<Record<string, unknown>>> {
  const { text } = await relay.ask('GET', '/api/requests?limit=1');
  return JSON.parse(text)[0];
}

function shakeHands(relay: Relay, headers: Readonly<Record<string, string>>): Promise<RawAnswer> {
  return rawRequest({ port: relay.port }, 'OPTIONS', '/webhook/in/hook', headers);
}

test('a binary event is its data, named by its type and found again by source and id',
  async (context) => {
    const relay = await start(context);
    assert.equal((await post(relay, BINARY, { b: 1 })).status, 200);
    const { event, eventId } = await newest(relay);
    assert.deepEqual([payloads, event, eventId], [[{ b: 1 }], 'com.a', '["/s t","a1"]']);
    const again = await post(relay, BINARY, { b: 1 });
    assert.deepEqual([again.status, again.json['message']], [200, 'Duplicate']);
    const other = await post(relay, { ...BINARY, 'ce-source': '/u' }, { b: 1 });
    assert.equal(other.json['message'], '');
    assert.equal(payloads.length, 2);
  });

test('a structured event is the payload as a whole, and the same event as a binary one',
  async (context) => {
    const relay = await start(context);
    assert.equal((await post(relay, STRUCTURED, EVENT)).status, 200);
    const { event, eventId } = await newest(relay);
    assert.deepEqual([payloads, event, eventId], [[EVENT], 'com.a', '["/s t","a1"]']);
    assert.equal((await post(relay, STRUCTURED, EVENT)).json['message'], 'Duplicate');
  });

test('a batch is the payload as a whole, has no event, and is no duplicate', async (context) => {
  const relay = await start(context);
  for (let round = 0; round < 2; round += 1) {
    const { status, json } = await post(relay, BATCH, [EVENT, EVENT]);
    assert.deepEqual([status, json['message']], [200, '']);
  }
  const { event, eventId } = await newest(relay);
  assert.deepEqual([payloads, event, eventId], [[[EVENT, EVENT], [EVENT, EVENT]], null, null]);
});

test('a missing attribute is 400, kept among the rejected and told of by a diagnosis',
  async (context) => {
    const relay = await start(context);
    for (const name of ['ce-specversion', 'ce-id', 'ce-source', 'ce-type']) {
      const { [name]: _, ...headers } = BINARY as Readonly<Record<string, string>>;
      const { status, text } = await post(relay, headers, {});
      assert.equal(status, 400);
      assert.equal(text, '{"success":false,"message":"Bad request","data":{}}');
      const { text: list } = await relay.ask('GET', '/api/requests?status=rejected&limit=1');
      const [rejected] = JSON.parse(list);
      assert.equal(rejected.verdict.failedCheck, 'parts');
    }
    const { id: _, ...idless } = EVENT;
    for (const [headers, body] of [
      [STRUCTURED, idless], [BATCH, [EVENT, idless]], [STRUCTURED, 'no JSON'], [BATCH, EVENT],
    ] as const) {
      assert.equal((await post(relay, headers, body)).status, 400);
    }
    assert.deepEqual(payloads, []);
    const { json } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose', {
      headers: STRUCTURED, body: Buffer.from(JSON.stringify(idless))
        .toString('base64'),
    });
    assert.match(JSON.stringify(json), /lacks the attribute `id`/);
  });

test('the token may stand in the query, and another one is 401 whatever the event lacks',
  async (context) => {
    const relay = await start(context);
    const { Authorization: _, ...headers } = BINARY;
    assert.equal((await post(relay, headers, {}, `?access_token=${SECRET}`)).status, 200);
    assert.equal((await newest(relay))['query'], 'access_token=***');
    for (const query of ['', '?access_token=', '?access_token=other']) {
      assert.equal((await post(relay, headers, {}, query)).status, 401, query);
    }
    assert.equal((await post(relay, { Authorization: 'Bearer other' }, {})).status, 401);
  });

const ORIGINS = ['EventGrid.azure.net', 'b.example'];

test('an origin that may send is told so without a token, and with which rate', async (context) => {
  const relay = await start(context, { origins: ORIGINS });
  for (const origin of ['eventgrid.azure.net', 'EVENTGRID.azure.net', 'b.example']) {
    const { status, headers, body } = await shakeHands(relay, {
      'WebHook-Request-Origin': origin, 'WebHook-Request-Rate': '120',
    });
    assert.deepEqual([status, headers['webhook-allowed-origin'], body], [200, origin, '']);
    assert.deepEqual([headers['webhook-allowed-rate'], headers['allow']], ['*', 'POST']);
  }
  assert.deepEqual(payloads, []);
  assert.equal(await newest(relay), undefined);
});

test('any other origin, or none, is not told so', async (context) => {
  const relay = await start(context, { origins: ORIGINS });
  for (const [origin, status] of [
    ['c.example', 401], ['*', 401], ['', 401], ['b.example.org', 401], [null, 405],
  ] as const) {
    const answer = await shakeHands(relay,
      origin === null ? {} : { 'WebHook-Request-Origin': origin });
    assert.equal(answer.status, status, String(origin));
    assert.equal(answer.headers['webhook-allowed-origin'], undefined, String(origin));
  }
  const { status } = await relay.ask('POST', '/webhook/in/hook', {}, {
    'WebHook-Request-Origin': 'b.example',
  });
  assert.equal(status, 401);
});

test('without origins no handshake is answered, with * every one', async (context) => {
  const asks = { 'WebHook-Request-Origin': 'a.example' };
  assert.equal((await shakeHands(await start(context), asks)).status, 401);
  const { status, headers } = await shakeHands(await start(context, { origins: ['*'] }), asks);
  assert.deepEqual([status, headers['webhook-allowed-origin']], [200, 'a.example']);
});

test('the allowed rate is the rate limit, in requests a minute', async (context) => {
  const relay = await start(context, { origins: ['*'] }, { incoming: { rateLimit: 3 } });
  const { headers } = await shakeHands(relay, { 'WebHook-Request-Origin': 'a.example' });
  assert.equal(headers['webhook-allowed-rate'], '180');
  await relay.ask('PATCH', '/api/incoming-webhooks/hook', { rateLimit: 2 },
    { 'Content-Type': 'application/merge-patch+json' });
  const { headers: own } = await shakeHands(relay, { 'WebHook-Request-Origin': 'a.example' });
  assert.equal(own['webhook-allowed-rate'], '120');
});

test('a sample handshake comes from the first origin', async (context) => {
  const relay = await start(context, { origins: ORIGINS });
  const { status, json } = await relay.control('/api/incoming-webhooks/hook/sample',
    { handshake: true });
  assert.equal(status, 200);
  assert.deepEqual([json['method'], json['headers'], json['body']],
    ['OPTIONS', { 'WebHook-Request-Origin': 'eventgrid.azure.net' }, null]);
});

const REFUSED: readonly (readonly [verification: object, detail: RegExp])[] = [
  [{ preset: 'bearer', origins: ['a'] }, /cannot be used by the preset bearer/],
  [{ preset: 'cloudevents', origins: ['a b'] }, /a name such as eventgrid\.azure\.net/],
  [{ preset: 'cloudevents', origins: ['https://a.example'] }, /a name such as/],
  [{ preset: 'cloudevents', origins: 'a' }, /./],
];

test('origins that cannot be used are refused with their pointer', async (context) => {
  const relay = await start(context);
  for (const [verification, detail] of REFUSED) {
    const { status, text } = await relay.hook({ actionType: 'takes' },
      { pathSegment: 'other', secret: SECRET, verification });
    assert.equal(status, 422, text);
    assert.match(text, /\/verification\/origins/);
    assert.match(text, detail);
  }
});
