import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';

test('JSON is read without its byte order mark', () => {
  const reader = new RequestReader({
    method: 'POST', headers: { 'content-type': 'application/json' }, rawHeaders: [], search: '',
    body: Buffer.from('\ufeff{"a":1}'),
  });
  assert.equal(reader.read({ json: 'a' }), '1');
});
