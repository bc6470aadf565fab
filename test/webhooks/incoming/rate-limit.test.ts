import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay } from '../relay.ts';

test('a rate limit counts on when its webhook is edited or moved', async (context) => {
  // One token, and the next in a hundred seconds: no run of this takes so long.
  const relay = await startRelay({ incoming: { rateLimit: 0.01 } });
  context.after(() => relay.close());
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
