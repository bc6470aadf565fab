import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTargetLabel, formatWebhookLabel } from '../../src/webhooks/webhook-label.ts';

test('a webhook is labelled by its name, else its path segment, else its identifier', () => {
  assert.equal(formatWebhookLabel({ identifier: 'id', name: 'code', pathSegment: 'github' }),
    'code');
  assert.equal(formatWebhookLabel({ identifier: 'id', pathSegment: 'github' }), 'github');
  assert.equal(formatWebhookLabel({ identifier: 'id' }), 'id');
  assert.equal(formatWebhookLabel({ identifier: 'id', name: 'other' }), 'id',
    'means something else');
  assert.equal(formatWebhookLabel({ identifier: 'id', pathSegment: 'forward' }), 'id');
});

test('a target is labelled by host, port and path, without user, password and query', () => {
  assert.equal(formatTargetLabel('https://user:hush@example.com:8443/hooks/one?token=hush'),
    'example.com:8443/hooks/one');
  assert.equal(formatTargetLabel('http://example.com'), 'example.com/');
  assert.equal(formatTargetLabel('http://example.com/a;token=hush/b'), 'example.com/a;token=***');
});
