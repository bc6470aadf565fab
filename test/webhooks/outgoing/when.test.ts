import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assertRefused, startRelayFor, type Answer, type Relay } from '../relay.ts';

async function start(context: TestContext): Promise<Relay> {
  const relay = await startRelayFor(context);
  return relay;
}

function listen(relay: Relay, members: object): Promise<Answer> {
  return relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*', ...members });
}

async function emit(relay: Relay, name: string, payload: unknown): Promise<string[]> {
  const { status, text, json } = await relay.ask('POST', '/api/events', { name, payload });
  assert.equal(status, 202, text);
  const ids = json['deliveries'] as string[];
  const shown = await Promise.all(ids.map((id) => relay.ask('GET', `/api/deliveries/${id}`)));
  return shown.map((one) => String(one.json['hook']));
}

const over = (path: string, op: string, value: unknown): object => ({ when: { path, op, value } });

test('an event makes deliveries for those alone whose condition it meets', async (context) => {
  const relay = await start(context);
  const hooks = [];
  for (const members of [
    {}, over('payload.total', 'gt', 100), over('event', 'suffix', '.paid'),
    over('payload', 'contains', 'a'),
  ]) hooks.push(String((await listen(relay, members)).json['identifier']));
  const [all, large, paid, listed] = hooks;
  assert.deepEqual(await emit(relay, 'shop.opened', { total: 1 }), [all]);
  assert.deepEqual(await emit(relay, 'shop.opened', { total: 101 }), [all, large]);
  assert.deepEqual(await emit(relay, 'shop.paid', { total: '101' }), [all, paid]);
  assert.deepEqual(await emit(relay, 'shop.opened', ['b', 'a']), [all, listed]);
  assert.deepEqual(await emit(relay, 'shop.opened', null), [all]);
});

test('a condition that is changed or removed counts from then on', async (context) => {
  const relay = await start(context);
  const { json: { identifier } } = await listen(relay, over('payload.a', 'eq', 1));
  const path = `/api/outgoing-webhooks/${String(identifier)}`;
  const put = (members: object): Promise<Answer> => relay.ask('PUT', path,
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*', ...members });
  assert.deepEqual(await emit(relay, 'shop.a', { a: 2 }), []);
  assert.equal((await put(over('payload.a', 'eq', 2))).status, 200);
  assert.deepEqual(await emit(relay, 'shop.a', { a: 2 }), [identifier]);
  assert.deepEqual(await emit(relay, 'shop.a', { a: 1 }), []);
  assert.equal((await put({})).status, 200);
  assert.deepEqual(await emit(relay, 'shop.a', { a: 1 }), [identifier]);
  assert.equal((await relay.ask('DELETE', path)).status, 204);
  assert.deepEqual(await emit(relay, 'shop.a', { a: 1 }), []);
});

test('an event for very many is filtered as well', async (context) => {
  const relay = await start(context);
  const { outgoing } = relay.webhooks.resources;
  const count = 1100;
  await Promise.all(Array.from({ length: count }, (_, index) => outgoing.add({
    targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*',
    ...over('payload.kind', 'eq', index % 2 === 0 ? 'even' : 'odd'),
  })));
  const ids = await relay.webhooks.emit('shop.a', { kind: 'even' });
  assert.equal(ids.length, count / 2);
  assert.deepEqual(await relay.webhooks.emit('shop.a', { kind: 'none' }), []);
});

const REFUSED: readonly (readonly [object, string, RegExp])[] = [
  [over('headers.a', 'eq', 'b'), '/when/path', /must begin with payload or event, not "headers"/],
  [over('method', 'eq', 'POST'), '/when/path', /must begin with payload or event/],
  [{ when: { all: [{ path: 'payload.a', op: 'like', value: 'b' }] } }, '/when/all/0/op', /one of/],
];

test('a condition over what an event has not is refused', async (context) => {
  const relay = await start(context);
  for (const [members, pointer, detail] of REFUSED) {
    assertRefused(await listen(relay, members), pointer, detail);
  }
});
