/** Why and since when a webhook is off, as callers of the API see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listUnhealthyWebhooks } from '../../../src/webhooks/health/health-monitor.ts';
import { answer, startServer } from '../../support/servers.ts';
import { until } from '../../support/until.ts';
import { assertRefused, startRelayFor, type Answer } from '../relay.ts';

const OUTGOING = '/api/outgoing-webhooks';
const INCOMING = '/api/incoming-webhooks';

function disablingIn({ json: { enabled, disabledReason, disabledAt } }: Answer): object {
  return { enabled, disabledReason, isDated: !Number.isNaN(Date.parse(String(disabledAt))) };
}

const ON = { enabled: true, disabledReason: undefined, isDated: false };
const OFF = { enabled: false, disabledReason: 'manual', isDated: true };

test('who switches a webhook off by hand is told so, of both kinds, until it is on', async (c) => {
  const relay = await startRelayFor(c);
  const incoming = await relay.hook({ actionType: 'log' });
  const outgoing = await relay.ask('POST', OUTGOING, { targetUrl: 'http://a.example/' });
  for (const [path, { json }] of [[INCOMING, incoming], [OUTGOING, outgoing]] as const) {
    const one = `${path}/${String(json['identifier'])}`;
    const { createdAt: _, updatedAt: __, hasSecret: ___, ...whole } = json;
    assert.deepEqual(disablingIn(await relay.ask('GET', one)), ON);
    const off = await relay.ask('PATCH', one, { enabled: false });
    assert.deepEqual(disablingIn(off), OFF);
    const { disabledAt } = off.json;
    // It stays since then, whatever is changed or claimed.
    for (const [method, body] of [
      ['PATCH', { enabled: false, disabledReason: 'gone', disabledAt: '2000-01-01T00:00:00Z' }],
      ['PATCH', { disabledReason: null, disabledAt: null }],
      ['PUT', { ...whole, enabled: false }],
    ] as const) {
      const again = await relay.ask(method, one, body);
      assert.deepEqual([again.status, disablingIn(again), again.json['disabledAt']],
        [200, OFF, disabledAt]);
    }
    assert.deepEqual(disablingIn(await relay.ask('PUT', one, whole)), ON);
    assert.deepEqual(disablingIn(await relay.ask('PUT', one, { ...whole, enabled: false })), OFF);
    const on = await relay.ask('PATCH', one, { enabled: true, disabledReason: 'gone' });
    assert.deepEqual(disablingIn(on), ON);
    const list = await relay.ask('GET', path);
    assert.ok(!list.text.includes('disabledReason'));
  }
  const born = await relay.ask('POST', OUTGOING,
    { targetUrl: 'http://a.example/', enabled: false, disabledReason: 'failing' });
  assert.deepEqual(disablingIn(born), OFF);
});

test('an incoming webhook takes no acknowledgement, also while it is switched off', async (c) => {
  const relay = await startRelayFor(c);
  const { json } = await relay.hook({ actionType: 'log' });
  for (const enabled of [true, false]) {
    const refused = await relay.ask('PATCH', `${INCOMING}/${String(json['identifier'])}`,
      { enabled, acknowledgedAt: '2026-01-01T00:00:00.000Z' });
    assertRefused(refused, '/acknowledgedAt');
  }
});

test('a 410 switches a webhook off with a reason, a time and one warning', async (context) => {
  const relay = await startRelayFor(context);
  const target = await startServer({ onRequest: ({ socket }) => socket.write(answer(410)) });
  context.after(() => target.close());
  const { port } = target;
  const made = await relay.ask('POST', OUTGOING, {
    targetUrl: `http://user:hush@127.0.0.1:${port}/path?token=hush`, triggerEvent: 'shop.opened',
  });
  const hook = String(made.json['identifier']);
  relay.webhooks.start();
  await relay.ask('POST', '/api/events', { name: 'shop.opened', payload: {} });
  const read = (): Promise<Answer> => relay.ask('GET', `${OUTGOING}/${hook}`);
  await until('it is off', async () => (await read()).json['enabled'] === false);
  assert.deepEqual(disablingIn(await read()), { ...OFF, disabledReason: 'gone' });
  await until('that is logged', () => relay.logLines.some((line) => line.includes('was disabled')));
  const lines = relay.logLines.filter((line) => line.includes('was disabled'));
  assert.equal(lines.length, 1);
  const { level, webhook, target: place, reason } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([level, webhook, place, reason],
    ['warning', hook, `127.0.0.1:${port}/path`, 'gone']);
  assert.ok(!relay.logLines.some((line) => line.includes('a webhook fails')));
  const { state, lastFailure } = Object((await read()).json['health']);
  assert.deepEqual([state, lastFailure.reason], ['off', 'HTTP 410']);
  const on = await relay.ask('PATCH', `${OUTGOING}/${hook}`, { enabled: true });
  assert.deepEqual(disablingIn(on), ON);
});

test('a webhook that a failure switched off is named until it is acknowledged', async (context) => {
  const relay = await startRelayFor(context);
  const target = await startServer({ onRequest: ({ socket }) => socket.write(answer(410)) });
  context.after(() => target.close());
  const made = await relay.ask('POST', OUTGOING, {
    name: 'shop', targetUrl: `http://127.0.0.1:${target.port}/`, triggerEvent: 'shop.opened',
  });
  const one = `${OUTGOING}/${String(made.json['identifier'])}`;
  await relay.ask('POST', OUTGOING,
    { name: 'off-before', targetUrl: 'http://a.example/', enabled: false });
  const acknowledge = (): Promise<Answer> => relay.ask('POST', `${OUTGOING}/shop/acknowledge`);
  const isNamed = async (): Promise<boolean> => {
    const isUnhealthy = listUnhealthyWebhooks(relay.webhooks.health).length > 0;
    const listed = await relay.ask('GET', `${OUTGOING}?state=failing`);
    assert.equal(listed.headers['x-total-count'], isUnhealthy ? '1' : '0');
    const sorted = await relay.ask('GET', `${OUTGOING}?sort=state`);
    const [first] = JSON.parse(sorted.text);
    assert.equal(first.name, isUnhealthy ? 'shop' : 'off-before');
    return isUnhealthy;
  };
  const switchOff = async (): Promise<void> => {
    await relay.ask('POST', '/api/events', { name: 'shop.opened', payload: {} });
    await until('it is off', async () => (await relay.ask('GET', one)).json['enabled'] === false);
  };
  assert.equal((await acknowledge()).status, 409);
  relay.webhooks.start();
  await switchOff();
  assert.ok(await isNamed());
  const first = await acknowledge();
  const { acknowledgedAt, disabledAt } = first.json;
  assert.deepEqual([first.status, String(acknowledgedAt) >= String(disabledAt)], [200, true]);
  assert.equal(await isNamed(), false);
  assert.deepEqual(Object(first.json['health']).state, 'off');
  // A second one changes nothing, nor does a change of anything else, whatever it claims.
  assert.deepEqual((await acknowledge()).json, first.json);
  for (const [method, body] of [
    ['PATCH', { description: 'of the shop', acknowledgedAt: null }],
    ['PUT', { ...first.json, acknowledgedAt: '2000-01-01T00:00:00Z' }],
  ] as const) {
    const changed = await relay.ask(method, one, body);
    assert.deepEqual([changed.status, changed.json['acknowledgedAt']], [200, acknowledgedAt]);
  }
  const on = await relay.ask('PATCH', one, { enabled: true });
  assert.deepEqual([disablingIn(on), on.json['acknowledgedAt']], [ON, undefined]);
  await switchOff();
  assert.ok(await isNamed());
  assert.equal((await relay.ask('GET', one)).json['acknowledgedAt'], undefined);
  assert.equal((await acknowledge()).status, 200);
  await relay.ask('PATCH', one, { enabled: true });
  const manual = await relay.ask('PATCH', one, { enabled: false });
  assert.deepEqual([disablingIn(manual), (await acknowledge()).status], [OFF, 409]);
  assert.equal((await relay.ask('POST', `${OUTGOING}/none/acknowledge`)).status, 404);
});
