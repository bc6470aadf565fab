import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBytes } from '../../../src/webhooks/senders/verification/encoding.ts';

test('base64 is taken in either alphabet, with its whole padding or without any', () => {
  for (const text of ['+/8=', '+/8', '-_8=', '-_8']) {
    assert.equal(decodeBytes(text, 'base64')?.toString('hex'), 'fbff', text);
  }
  for (const text of ['YQ=', 'Y', 'YQ== ', 'Y=Q=', '']) {
    assert.equal(decodeBytes(text, 'base64'), null, text);
  }
});
