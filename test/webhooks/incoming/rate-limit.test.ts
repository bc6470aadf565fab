import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Rejections, WebhookTraffic,
} from '../../../src/webhooks/incoming/receiving/webhook-traffic.ts';
import { createContext } from '../context.ts';
import { startRelayFor } from '../relay.ts';

test('a rate limit counts on when its webhook is edited or moved', async (context) => {
  // One token, and the next in a hundred seconds: no run of this takes so long.
  const relay = await startRelayFor(context, { incoming: { rateLimit: 0.01 } });
  const made = await relay.hook({ actionType: 'log' });
  const path = `/api/incoming-webhooks/${String(made.json['identifier'])}`;
  assert.equal((await relay.ask('POST', '/webhook/in/hook', '{}')).status, 200);
  assert.equal((await relay.ask('POST', '/webhook/in/hook', '{}')).status, 429);
  for (const change of [
    { allowedMethods: ['POST', 'PUT'] }, { enabled: false }, { enabled: true },
    { secret: 'new' }, { pathSegment: 'moved' },
  ]) {
    assert.equal((await relay.ask('PATCH', path, change)).status, 200);
  }
  const limited = await relay.ask('POST', '/webhook/in/moved', '{}');
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers['retry-after']) > 1);
  await relay.hook({ actionType: 'log' }, { pathSegment: 'another' });
  assert.equal((await relay.ask('POST', '/webhook/in/another', '{}')).status, 200);
});

test('a bucket holds the tokens of one second, however long nobody calls', () => {
  const traffic = new WebhookTraffic(new Rejections(null, createContext({}), () => {}));
  traffic.limitRate(2, 0);
  const take = (): number | undefined => traffic.bucket?.take(3_600_000);
  assert.deepEqual([take(), take(), take()], [0, 0, 1]);
});

test('requests beyond the rate limit do not make a webhook rejecting', async (context) => {
  const relay = await startRelayFor(context, { incoming: { rateLimit: 0.01 } });
  await relay.hook({ actionType: 'log' });
  for (let count = 0; count < 10; count += 1) await relay.ask('POST', '/webhook/in/hook', '{}');
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/hook');
  assert.equal(Object(json['health']).state, 'healthy');
});
