import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeBytes, decodeHeaderText, encodeHeaderText,
} from '../../../src/webhooks/senders/verification/encoding.ts';

test('base64 is taken in either alphabet, with its whole padding or without any', () => {
  for (const text of ['+/8=', '+/8', '-_8=', '-_8']) {
    assert.equal(decodeBytes(text, 'base64')?.toString('hex'), 'fbff', text);
  }
  for (const text of ['YQ=', 'Y', 'YQ== ', 'Y=Q=', '']) {
    assert.equal(decodeBytes(text, 'base64'), null, text);
  }
});

test('a header is read as UTF-8 where it is, else as it stands', () => {
  assert.equal(decodeHeaderText(encodeHeaderText('pässwörd ✓')), 'pässwörd ✓');
  // Latin-1, ASCII, and a text that no header line can hold.
  for (const text of ['p\xe4ssword', 'password', '\u0101']) {
    assert.equal(decodeHeaderText(text), text);
  }
});
