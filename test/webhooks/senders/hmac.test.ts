import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createHmacKey, computeHmac } from '../../../src/webhooks/senders/hmac.ts';

const HASHES = ['sha1', 'sha256', 'sha512'] as const;
const SECRET_LENGTHS = [0, 1, 20, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200];
const BODY_LENGTHS = [0, 1, 55, 56, 64, 119, 1024, 16_000, 16_255, 16_256,
  16_320, 16_385, 100_000];
const BYTES = Buffer.from([0xff, 0x00, 0xc3]);
const TEXTS = ['', 'v0:1700000000:', 'ü€😀', '\ud800 alone', 'x'.repeat(20_000), '€'.repeat(5400)];

for (const hash of HASHES) {
  test(`an HMAC by ${hash} is what createHmac gives, whatever the lengths`, () => {
    for (const secretLength of SECRET_LENGTHS) {
      const secret = Buffer.alloc(secretLength, 'ab1');
      const key = createHmacKey(hash, secret);
      for (const bodyLength of BODY_LENGTHS) {
        const body = Buffer.alloc(bodyLength, 'xyz');
        assert.equal(computeHmac(key, [body]).toString('hex'), expected(hash, secret, [body]));
      }
    }
  });

  test(`an HMAC by ${hash} of pieces is that of their bytes in order`, () => {
    const secret = Buffer.from('It\'s a Secret to Everybody');
    const key = createHmacKey(hash, secret);
    for (const text of TEXTS) {
      for (const pieces of [[text], [text, BYTES, text], [Buffer.alloc(0), text]]) {
        assert.equal(computeHmac(key, pieces).toString('hex'), expected(hash, secret, pieces));
      }
    }
  });
}

function expected(
  hash: string, secret: Buffer, pieces: readonly (string | Uint8Array)[],
): string {
  const hmac = createHmac(hash, secret);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest('hex');
}
