import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startHttpTarget, type HttpTarget, type TargetRequest } from '../../support/http-target.ts';
import { until } from '../../support/until.ts';
import { startRelay, type Answer, type Headers, type Relay } from '../relay.ts';

const SECRET = 'planted-secret-of-a-sender';
let target: HttpTarget;
let relay: Relay;
before(async () => {
  target = await startHttpTarget();
  relay = await startRelay();
  relay.webhooks.start();
});
after(async () => {
  await relay.close();
  target.close();
});

let count = 0;
async function forward(options: object, hook: object, given: {
  readonly body?: Buffer | string; readonly headers?: Headers; readonly query?: string;
  readonly method?: string;
}): Promise<{ readonly answer: Answer; readonly path: string; readonly got: TargetRequest }> {
  count += 1;
  const pathSegment = `pass-${count}`;
  const made = await relay.hook(
    { actionType: 'http-forward', options: { url: `${target.url}/t`, pass: true, ...options } },
    { pathSegment, allowedMethods: ['POST', 'PUT', 'GET'], ...hook });
  assert.equal(made.status, 201, made.text);
  const { body, headers = {}, query = '', method = 'POST' } = given;
  const answer = await relay.ask(method, `/webhook/in/${pathSegment}${query}`, body, headers);
  assert.equal(answer.status, 200, answer.text);
  await until('it is forwarded', () => target.received.length === count);
  const got = target.received.at(-1);
  assert.ok(got !== undefined);
  return { answer, path: `/webhook/in/${pathSegment}`, got };
}

const BODIES: readonly (readonly [type: string, body: Buffer])[] = [
  ['application/json', Buffer.from('{ "id": "evt_1",\r\n"ü": 1.0 }\r\n')],
  ['application/x-www-form-urlencoded', Buffer.from('payload=%7B%22a%22%3A1%7D&b=+')],
  ['application/octet-stream', Buffer.from([0, 0xff, 0xfe, 0x22, 0x0a, 0x80])],
];

const sign = (body: Buffer, before = ''): string =>
  createHmac('sha256', SECRET).update(before).update(body).digest('hex');

for (const mode of ['sync', 'queue']) {
  for (const [type, body] of BODIES) {
    test(`the target verifies GitHub by itself, ${mode}, ${type}`, async () => {
      const { got } = await forward({ mode }, {
        secret: SECRET, verification: { preset: 'github' },
      }, {
        body, query: '?a=%20b',
        headers: {
          'Content-Type': type, 'X-Hub-Signature-256': `sha256=${sign(body)}`,
          'X-GitHub-Delivery': 'a-delivery', 'X-GitHub-Event': 'push',
        },
      });
      assert.deepEqual(got.body, body);
      assert.equal(got.headers['x-hub-signature-256'], `sha256=${sign(got.body)}`);
      assert.equal(got.headers['content-type'], type);
      assert.equal(got.headers['x-github-event'], 'push');
      assert.equal(got.headers['x-hookshelf-event-id'], 'a-delivery');
      assert.deepEqual([got.method, got.url], ['POST', '/t?a=%20b']);
    });
  }

  test(`the target verifies Stripe by itself, ${mode}`, async () => {
    const [, body] = BODIES[0] ?? ['', Buffer.alloc(0)];
    const time = Math.floor(Date.now() / 1000);
    const signature = `t=${time},v1=${sign(body, `${time}.`)}`;
    const { got } = await forward({ mode, url: `${target.url}/t?x=1` },
      { secret: SECRET, verification: { preset: 'stripe' } },
      { body, query: '?y=2', headers: { 'Stripe-Signature': signature } });
    assert.equal(got.headers['stripe-signature'], `t=${time},v1=${sign(got.body, `${time}.`)}`);
    assert.deepEqual([got.url, got.headers['x-hookshelf-event-id']], ['/t?x=1&y=2', 'evt_1']);
  });

  test(`what is of one connection, or for us alone, stays here, ${mode}`, async () => {
    const { got, answer } = await forward({ mode, headers: { 'X-Own': 'configured' } }, {}, {
      method: 'PUT', body: '{}',
      headers: {
        Connection: 'close, X-Hop', 'X-Hop': 'h', 'Keep-Alive': 'timeout=9', TE: 'trailers',
        Cookie: 'c=planted', Authorization: 'Bearer planted', 'Proxy-Authorization': 'planted',
        'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Host': 'evil', 'X-Hookshelf-Event-Id': 'forged',
        'X-Request-Id': 'forged', 'X-Own': 'caller', 'X-Twice': ['1', '2'],
        'X-Hookshelf-Chain': '2',
      },
    });
    assert.equal(got.method, 'PUT');
    const { headers } = got;
    for (const name of ['x-hop', 'te', 'cookie', 'authorization', 'proxy-authorization',
      'x-hookshelf-event-id']) assert.equal(headers[name], undefined, name);
    assert.ok(!JSON.stringify(got.rawHeaders).includes('planted'));
    assert.equal(headers['x-own'], 'configured');
    assert.equal(headers['x-twice'], '1, 2');
    assert.deepEqual([headers['x-forwarded-for'], headers['x-forwarded-proto']],
      ['127.0.0.1', 'http']);
    assert.equal(headers['x-forwarded-host'], `127.0.0.1:${relay.port}`);
    assert.equal(headers['x-request-id'], answer.headers['x-request-id']);
    assert.equal(headers['x-hookshelf-chain'], '3');
    assert.equal(headers.host, new URL(target.url).host);
  });
}

test('Authorization goes on when that is asked for, and a GET has no body', async () => {
  const { got } = await forward({ passAuthorization: true }, {},
    { method: 'GET', headers: { Authorization: 'Bearer mine' } });
  assert.deepEqual([got.method, got.headers.authorization, got.body.length],
    ['GET', 'Bearer mine', 0]);
  assert.equal(got.headers['content-type'], undefined);
});

test('a configured method goes over the sender\'s', async () => {
  const { got } = await forward({ method: 'PUT' }, {}, { body: '{}' });
  assert.equal(got.method, 'PUT');
});

test('a relay that forwards to itself ends', async () => {
  const made = await relay.hook(
    { actionType: 'http-forward',
      options: { url: `${relay.url}/webhook/in/round`, pass: true, exposeResponse: true } },
    { pathSegment: 'round' });
  assert.equal(made.status, 201, made.text);
  const { status, text } = await relay.ask('POST', '/webhook/in/round', {});
  assert.equal(status, 400);
  assert.match(text, /a chain of more than 8 hops was refused/);
});

test('refuses options of pass that are not sound', async () => {
  for (const options of [{ pass: 'yes' }, { passAuthorization: true }]) {
    const { status, text } = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'http-forward', options: { url: target.url, ...options } });
    assert.equal(status, 422);
    assert.match(text, /must be true or false|passAuthorization needs pass/);
  }
});
