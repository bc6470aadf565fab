/** Why and since when a webhook is off, as callers of the API see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, startServer } from '../../support/servers.ts';
import { until } from '../../support/until.ts';
import { startRelayFor, type Answer } from '../relay.ts';

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
