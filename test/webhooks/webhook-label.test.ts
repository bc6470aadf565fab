import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetLabel, webhookLabel } from '../../src/webhooks/webhook-label.ts';

test('a webhook is labelled by its name, else its path segment, else its identifier', () => {
  assert.equal(webhookLabel({ identifier: 'id', name: 'code', pathSegment: 'github' }), 'code');
  assert.equal(webhookLabel({ identifier: 'id', pathSegment: 'github' }), 'github');
  assert.equal(webhookLabel({ identifier: 'id' }), 'id');
  assert.equal(webhookLabel({ identifier: 'id', name: 'other' }), 'id', 'means something else');
  assert.equal(webhookLabel({ identifier: 'id', pathSegment: 'forward' }), 'id');
});

test('a target is labelled by host, port and path, without user, password and query', () => {
  assert.equal(targetLabel('https://user:hush@example.com:8443/hooks/one?token=hush'),
    'example.com:8443/hooks/one');
  assert.equal(targetLabel('http://example.com'), 'example.com/');
  assert.equal(targetLabel('http://example.com/a;token=hush/b'), 'example.com/a;token=***');
});
