/**
 * A transparent forward: what the sender signed reaches the target so that it can verify by itself,
 * over http, https and a CONNECT proxy, at once and through the queue.
 */
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { until } from '../../support/until.ts';
import { startProxy } from '../../support/proxy.ts';
import { hmacKey } from '../../support/senders/signer.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { answer, startServer, type Received, type ScriptedServer } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';
import { startRelay, startRelayFor, type Answer, type Headers, type Relay } from '../relay.ts';

const SECRET = 'whsec_shared by sender and target';
const KEY = hmacKey(SECRET);
const FORM = 'application/x-www-form-urlencoded';

const BODIES: readonly (readonly [title: string, body: Buffer, type: string])[] = [
  ['JSON', Buffer.from('{ "a": 1.0,\r\n "é": "\\u00e9" }\n'), 'application/json; charset=utf-8'],
  ['bytes', Buffer.from([0, 0xff, 0xfe, 0x0d, 0x0a, 0xc3, 0x28]), 'application/octet-stream'],
  ['a form', Buffer.from('payload=%7B%22a%22%3A1%7D&b=+x&b=%FF'), FORM],
  ['nothing', Buffer.alloc(0), 'application/json'],
];

/** As a receiver of these senders does by itself. */
const TARGETS: Readonly<Record<string, (received: Received) => boolean>> = {
  github: (received) => isMac(headerOf(received, 'x-hub-signature-256').replace('sha256=', ''),
    received.body),
  stripe(received) {
    const [, time = '', signature = ''] =
      /^t=(\d+),v1=([0-9a-f]{64})/.exec(headerOf(received, 'stripe-signature')) ?? [];
    return isMac(signature, Buffer.concat([Buffer.from(`${time}.`), received.body]));
  },
};

function isMac(signature: string, content: Buffer): boolean {
  const expected = createHmac('sha256', SECRET).update(content).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function valuesOf({ head }: Received, name: string): string[] {
  return head.split('\r\n').slice(1).map((line) => line.split(/:\s*(.*)/s, 2))
    .filter(([given = '']) => given.toLowerCase() === name).map(([, value = '']) => value);
}

function headerOf(received: Received, name: string): string {
  return valuesOf(received, name)[0] ?? '';
}

type Way = 'http' | 'https' | 'https through a CONNECT proxy';

async function open(context: TestContext, way: Way): Promise<{
  readonly target: ScriptedServer; readonly relay: Relay; readonly asked: readonly string[];
}> {
  const target = await startServer({
    ...way === 'http' ? {} : { certificate: createCertificate() },
    onRequest: ({ socket, head }) =>
      socket.write(answer(head.startsWith('POST /refused') ? 400 : 200, 'ok')),
  });
  const proxy = await startProxy();
  const relay = await startRelay({
    client: { verify: false, ...way.includes('proxy') ? { proxy: proxy.url() } : {} },
  });
  relay.webhooks.start();
  context.after(async () => {
    await relay.close();
    await target.close();
    await proxy.close();
  });
  return { target, relay, asked: proxy.asked };
}

async function openHook(
  relay: Relay, path: string, preset: string, options: object,
): Promise<void> {
  const made = await relay.hook({ actionType: 'http-forward', options },
    { pathSegment: path, secret: SECRET, verification: { preset } });
  assert.equal(made.status, 201, made.text);
}

async function relayed(
  { target, relay }: { readonly target: ScriptedServer; readonly relay: Relay },
  path: string, { method = 'POST', body, headers }: {
    readonly method?: string; readonly body?: Buffer; readonly headers: Headers;
  },
): Promise<{ readonly received: Received; readonly answered: Answer }> {
  const before = target.received.length;
  const answered = await relay.ask(method, `/webhook/in/${path}`, body, headers);
  assert.equal(answered.status, 200, answered.text);
  await until('the target was asked', () => target.received.length > before);
  const received = target.received[before];
  assert.ok(received);
  return { received, answered };
}

for (const way of ['http', 'https', 'https through a CONNECT proxy'] as const) {
  for (const mode of ['sync', 'queue'] as const) {
    test(`a target verifies by itself what is passed on over ${way}, ${mode}`, async (context) => {
      const house = await open(context, way);
      const { target, relay, asked } = house;
      for (const [preset, isGenuine] of Object.entries(TARGETS)) {
        await openHook(relay, preset, preset, { url: target.url('/sink'), pass: true, mode });
        for (const [title, body, type] of BODIES) {
          const sent = sendAs(senderOf(preset), KEY, { body });
          const headers = { ...sent.headers, 'Content-Type': type };
          const { received } = await relayed(house, preset, { body, headers });
          assert.ok(isGenuine(received), `${preset}, ${title}`);
          assert.deepEqual(received.body, body);
          assert.deepEqual(valuesOf(received, 'content-type'), [type]);
          assert.match(received.head, /^POST \/sink HTTP\/1\.1\r\n/);
        }
      }
      assert.equal(asked.some((line) => line.startsWith('CONNECT ')), way.includes('proxy'));
    });
  }
}

const CALLER: Headers = {
  'Content-Type': 'application/json', 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'delivery 1',
  'User-Agent': 'GitHub-Hookshot/1', Accept: '*/*', 'X-Repeated': ['a', 'b'],
  Connection: 'close, X-Hop', 'X-Hop': '1', 'Keep-Alive': 'timeout=5', TE: 'trailers',
  Cookie: 'session=1', Authorization: 'Bearer planted', 'Proxy-Authorization': 'Basic planted',
  'X-Hookshelf-Event-Id': 'forged', 'X-Request-Id': 'caller-1', 'X-Forwarded-For': '203.0.113.7',
  'X-Forwarded-Host': 'evil', 'X-Hookshelf-Chain': '2',
};
const NEVER = ['x-hop', 'keep-alive', 'te', 'cookie', 'proxy-authorization', 'expect', 'upgrade',
  'transfer-encoding'];

for (const mode of ['sync', 'queue'] as const) {
  test(`passes on what is end to end and nothing else, ${mode}`, async (context) => {
    const house = await open(context, 'http');
    const { target, relay } = house;
    await openHook(relay, 'a', 'github', { url: target.url('/sink?own=1'), pass: true, mode });
    const body = Buffer.from('{"a":1}');
    const { headers } = sendAs(senderOf('github'), KEY, { body });
    const { received, answered } = await relayed(house, 'a?x=%20y&x=2', {
      body, headers: { ...headers, ...CALLER },
    });
    for (const name of [...NEVER, 'authorization']) {
      assert.deepEqual(valuesOf(received, name), [], name);
    }
    assert.match(received.head, /^POST \/sink\?own=1&x=%20y&x=2 HTTP\/1\.1/);
    assert.equal(headerOf(received, 'host'), `127.0.0.1:${target.port}`);
    assert.equal(headerOf(received, 'x-github-event'), 'push');
    assert.equal(headerOf(received, 'user-agent'), 'GitHub-Hookshot/1');
    assert.equal(valuesOf(received, 'x-repeated').join(', '), 'a, b');
    assert.deepEqual(valuesOf(received, 'x-hookshelf-event-id'), ['delivery 1']);
    assert.deepEqual(valuesOf(received, 'content-length'), ['7']);
    assert.equal(headerOf(received, 'x-forwarded-for'), '127.0.0.1');
    assert.equal(headerOf(received, 'x-forwarded-proto'), 'http');
    assert.equal(headerOf(received, 'x-forwarded-host'), `127.0.0.1:${relay.port}`);
    assert.deepEqual(valuesOf(received, 'x-request-id'), [answered.headers['x-request-id']]);
    assert.deepEqual(valuesOf(received, 'x-hookshelf-chain'), ['3']);
  });

  test(`a token that came in the query goes on and is shown nowhere, ${mode}`, async (context) => {
    const house = await open(context, 'http');
    const { target, relay } = house;
    const scheme = {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { query: 'who' }, encoding: 'utf8' },
    };
    const options = { url: target.url('/refused?own=1'), pass: true, mode };
    await relay.hook({ actionType: 'http-forward', options },
      { pathSegment: 'a', secret: 'planted', verification: { preset: 'custom', scheme } });
    const { json: { data } } = await relay.ask('POST', '/webhook/in/a?n=1&who=planted', '{}');
    await until('the target was asked', () => target.received.length > 0);
    assert.match(target.received[0]?.head ?? '', /^POST \/refused\?own=1&n=1&who=planted HTTP/);
    let shown = relay.logLines.join('');
    if (mode === 'queue') {
      const path = `/api/deliveries/${Object(data).deliveryId}`;
      await until('the delivery shows what it sent', async () => {
        shown = (await relay.ask('GET', path)).text;
        return shown.includes('"sent":{');
      });
    }
    assert.match(shown, /\/refused\?own=1&n=1&who=\*\*\*/);
    assert.doesNotMatch(shown + relay.logLines.join(''), /planted/);
  });

  test(`options win over what came, ${mode}`, async (context) => {
    const house = await open(context, 'http');
    const { target, relay } = house;
    await openHook(relay, 'a', 'github', {
      url: target.url('/sink'), pass: true, mode, method: 'PUT', passAuthorization: true,
      headers: { 'X-GitHub-Event': 'mine', 'Content-Type': 'text/x-own' },
    });
    const body = Buffer.from('{}');
    const { headers } = sendAs(senderOf('github'), KEY, { body });
    const { received } = await relayed(house, 'a', { body, headers: { ...headers, ...CALLER } });
    assert.match(received.head, /^PUT \/sink HTTP/);
    assert.deepEqual(valuesOf(received, 'authorization'), ['Bearer planted']);
    assert.deepEqual(valuesOf(received, 'x-github-event'), ['mine']);
    assert.deepEqual(valuesOf(received, 'content-type'), ['text/x-own']);
  });
}

test('method and Authorization are those of the caller, and a GET has no body', async (context) => {
  const house = await open(context, 'http');
  const { target, relay } = house;
  await relay.hook(
    { actionType: 'http-forward',
      options: { url: target.url('/sink'), pass: true, passAuthorization: true } },
    { pathSegment: 'a', allowedMethods: ['GET', 'PUT'] });
  const headers = { Authorization: 'Bearer mine' };
  for (const [method, body] of [['GET'], ['PUT', Buffer.from('{}')]] as const) {
    const { received } = await relayed(house, 'a', { method, headers, ...body && { body } });
    assert.match(received.head, new RegExp(`^${method} `));
    assert.deepEqual(valuesOf(received, 'authorization'), ['Bearer mine']);
    assert.deepEqual(received.body, body ?? Buffer.alloc(0));
    assert.equal(valuesOf(received, 'content-type').length, body === undefined ? 0 : 1);
  }
});

test('refuses options of pass that are not sound', async (context) => {
  const relay = await startRelayFor(context);
  for (const options of [{ pass: 'yes' }, { passAuthorization: true }]) {
    const { status, text } = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'http-forward', options: { url: relay.url, ...options } });
    assert.equal(status, 422);
    assert.match(text, /must be true or false|passAuthorization needs pass/);
  }
});
