import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideQuerySecrets } from '../../../src/webhooks/url-secrets.ts';
import { startRelay } from '../relay.ts';

test('the action log writes payload, context and options at its level, redacted', async () => {
  const relay = await startRelay();
  await relay.hook({ actionType: 'log', options: { level: 'warning' } });
  const body = { kept: 'yes', password: 'planted-1', nested: [{ apiKey: 'planted-2' }] };
  const path = '/webhook/in/hook?a=1&access_token=planted-3&%74oken=planted-4&b';
  await relay.ask('POST', path, body, {
    Authorization: 'planted-5', 'X-Hub-Signature-256': 'planted-6', 'X-Kept': 'too',
  });
  const line = relay.logLines.find((text) => text.includes('webhook received')) ?? '';
  await relay.close();
  const { level, payload, context, options } = JSON.parse(line);
  assert.equal(level, 'warning');
  assert.deepEqual(payload, { kept: 'yes', password: '***', nested: [{ apiKey: '***' }] });
  assert.equal(context.headers['x-kept'], 'too');
  assert.equal(context.query, 'a=1&access_token=***&%74oken=***&b');
  assert.deepEqual(options, { level: 'warning' });
  assert.ok(!relay.logLines.some((text) => text.includes('planted')));
});

test('a query that cannot be decoded is left as it is', () => {
  assert.equal(hideQuerySecrets('%zz=1&secret=2&=3'), '%zz=1&secret=***&=3');
  assert.equal(hideQuerySecrets(''), '');
});
