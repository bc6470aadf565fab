/** The deliveries of requests to routes, seen beside those of webhooks and forwards. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRelay, startRelayFor, type Relay } from '../relay.ts';

let relay: Relay;
let request = '';
let routeHook = '';
before(async () => {
  relay = await startRelay({ outgoing: { retrySchedule: [3600] } });
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await relay.ask('POST', path, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  };
  await post('/api/outgoing-webhooks',
    { name: 'both', targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'up' });
  await post('/api/action-configurations', { identifier: 'to-log', actionType: 'log' });
  const hook = await post('/api/incoming-webhooks', {
    pathSegment: 'in', name: 'in-hook', inbox: 'all', actionConfiguration: 'to-log',
  });
  routeHook = String(hook['identifier']);
  await post('/api/events', { name: 'up', payload: {} });
  await relay.webhooks.deliveries.queueForward({
    url: 'http://127.0.0.1:9/', method: 'POST', headers: {}, body: Buffer.from('{}'),
    hiddenParameters: [],
  });
  await post('/webhook/in/in', { event: 'x' });
  const { text } = await relay.ask('GET', '/api/requests');
  request = String(JSON.parse(text)[0].id);
});
after(() => relay.close());

async function kinds(query: string): Promise<readonly [readonly string[], unknown]> {
  const { status, text, headers } = await relay.ask('GET', `/api/deliveries${query}`);
  assert.equal(status, 200, text);
  return [JSON.parse(text).map(({ kind }: { kind: string }) => kind), headers['x-total-count']];
}

test('a list has webhooks and forwards, unless it is asked for another kind', async () => {
  assert.deepEqual(await kinds(''), [['webhook', 'forward'], '2']);
  assert.deepEqual(await kinds('?kind=webhook'), [['webhook'], '1']);
  assert.deepEqual(await kinds('?kind=forward'), [['forward'], '1']);
  assert.deepEqual(await kinds('?kind=route'), [['route'], '1']);
  assert.deepEqual(await kinds('?kind=all'), [['webhook', 'forward', 'route'], '3']);
  assert.deepEqual(await kinds('?kind=route&hook=in-hook&status=delivered'), [['route'], '1']);
  assert.deepEqual(await kinds('?kind=all&hook=in-hook'), [['route'], '1']);
  assert.deepEqual(await kinds('?kind=all&hook=both'), [['webhook'], '1']);
  assert.deepEqual(await kinds('?kind=route&status=pending'), [[], '0']);
  const wrong = await relay.ask('GET', '/api/deliveries?kind=some');
  assert.deepEqual([wrong.status, /webhook, forward, route/.test(wrong.text)], [400, true]);
});

test('the delivery of a route says what it belongs to, and how it was attempted', async () => {
  const { json } = await relay.ask('GET', `/api/deliveries/${request}.0`);
  const { attempts, createdAt, ...rest } = json as Record<string, unknown>;
  assert.deepEqual(rest, {
    identifier: `${request}.0`, kind: 'route', hook: routeHook, hookName: 'in-hook', target: null,
    event: null, eventId: null, key: null, request, route: 'default', status: 'delivered',
    nextAttemptAt: null, waitsFor: null, resendOf: null, sent: null,
  });
  assert.equal(typeof createdAt, 'string');
  const [attempt] = attempts as Record<string, unknown>[];
  assert.deepEqual(Object.keys(attempt ?? {}), ['at', 'durationMs', 'success', 'message', 'data']);
});

test('a delivery of an event names the event', async () => {
  const { text } = await relay.ask('GET', '/api/deliveries');
  const [{ identifier, event, eventId, request: none, route }] = JSON.parse(text);
  assert.deepEqual([event, none, route], ['up', null, null]);
  assert.match(eventId, /^[0-9a-f-]{36}$/);
  assert.notEqual(eventId, identifier);
});

test('many deliveries are tried or sent again without those of routes', async (t) => {
  const small = await startRelayFor(t);
  await small.hook({ identifier: 'to-log', actionType: 'log' }, { inbox: 'all' });
  await small.ask('POST', '/webhook/in/hook', {});
  assert.equal((await small.ask('GET', '/api/deliveries?kind=all')).headers['x-total-count'], '1');
  const counted = await small.ask('POST', '/api/deliveries/resend', { dryRun: true });
  assert.equal(counted.json['count'], 0);
  const resent = await small.ask('POST', '/api/deliveries/resend', {});
  assert.deepEqual([resent.json['total'], resent.json['status']], [0, 'done']);
});

for (const verb of ['retry', 'resend', 'cancel']) {
  test(`${verb} of a route's delivery names its request instead`, async () => {
    const { status, text } = await relay.ask('POST', `/api/deliveries/${request}.0/${verb}`);
    assert.deepEqual([status, text.includes(`request ${request}`)], [409, true], text);
    const gone = await relay.ask('POST', `/api/deliveries/${request}.7/${verb}`);
    assert.equal(gone.status, 404);
  });
}

test('the body of a route\'s delivery is said to be at its request', async () => {
  const { status, text } = await relay.ask('GET', `/api/deliveries/${request}.0/body`);
  assert.deepEqual([status, text.includes('the body of that request')], [404, true], text);
  const { text: unknown } = await relay.ask('GET', `/api/deliveries/${request}.7/body`);
  assert.match(unknown, /there is no delivery/);
});
