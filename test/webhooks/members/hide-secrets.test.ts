/** A target may answer with what it got: that is not shown where it is secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeTextStart, hideSecrets, listHeaderSecrets,
} from '../../../src/webhooks/members/http-sender.ts';

const SHOWN_BYTES = 1024;

function shown(text: string, ...secrets: string[]): string {
  return decodeTextStart(hideSecrets(Buffer.from(text), secrets, SHOWN_BYTES), SHOWN_BYTES);
}

for (const length of [8, 100, 5000]) {
  const secret = 's3cret'.padEnd(length, 'X');
  const escaped = [...secret].map((one) =>
    `\\u00${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  for (const echoed of [secret, escaped]) {
    test(`a secret of ${length} letters is hidden wherever it begins${
      echoed === secret ? '' : ', also escaped'}`, () => {
      for (let before = 0; before <= SHOWN_BYTES; before += 64) {
        const text = '-'.repeat(before) + echoed + '-'.repeat(20_000);
        const expected = `${'-'.repeat(before)}***${'-'.repeat(20_000)}`.slice(0, SHOWN_BYTES);
        assert.equal(shown(text, secret), expected.slice(0, shown(text, secret).length));
        assert.equal(shown(text, secret).length, SHOWN_BYTES);
      }
    });
  }

  test(`of very many secrets of ${length} letters none is shown in part`, () => {
    for (const count of [1, 3, 10, 26, 100, 1000]) {
      assert.match(shown(secret.repeat(count), secret), /^\**$/);
    }
  });
}

test('only what may be shown is searched, and the rest is dropped', () => {
  const body = Buffer.alloc(1024 * 1024, 'a');
  assert.ok(hideSecrets(body, ['a secret'], SHOWN_BYTES).length < 4 * SHOWN_BYTES);
  assert.equal(hideSecrets(body, [], SHOWN_BYTES), body);
});

test('headers with secret-like names hold secrets, of Authorization the credentials', () => {
  const headers = {
    'authorization': 'Bearer abcdef', 'x-api-key': ['a key of words', 'another'],
    'x-token': 'short', 'content-type': 'text/plain',
  };
  assert.deepEqual(listHeaderSecrets(headers), ['abcdef', 'a key of words', 'another']);
});
