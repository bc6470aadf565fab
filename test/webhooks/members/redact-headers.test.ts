import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactHeaders } from '../../../src/webhooks/members/redact-headers.ts';

test('a header that sounds like a token is hidden, also among those that are ours', () => {
  assert.deepEqual(redactHeaders({
    'X-Hookshelf-Chain': '1', 'X-Hookshelf-Token': 'planted', 'x-forwarded-secret': 'planted',
    'x-forwarded-for': '127.0.0.1', 'X-Acme': 'planted', 'content-type': 'text/plain',
  }), [
    'X-Hookshelf-Chain', '1', 'X-Hookshelf-Token', '***', 'x-forwarded-secret', '***',
    'x-forwarded-for', '127.0.0.1', 'X-Acme', '***', 'content-type', 'text/plain',
  ]);
});
