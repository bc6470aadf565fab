import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import {
  createVerificationKey,
} from '../../../src/webhooks/senders/verification/verification-key.ts';

const SCHEME: Scheme = {
  algorithm: 'ecdsa-p256', key: 'pem', content: '{body}',
  signature: { from: { header: 'X-Signature' }, encoding: 'base64' },
};

function findProblem(scheme: Scheme, secret: string): string | null {
  const key = createVerificationKey(scheme, secret);
  return 'problem' in key ? key.problem : null;
}

test('a private key is refused, though its public key could be derived', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  assert.equal(findProblem(SCHEME, pem), null);
  for (const type of ['pkcs8', 'sec1'] as const) {
    const secret = privateKey.export({ format: 'pem', type }).toString();
    assert.match(String(findProblem(SCHEME, secret)), /^is a private key/, type);
  }
});

test('the seed of an Ed25519 key is no secret to verify with', () => {
  const scheme: Scheme = { ...SCHEME, algorithm: 'hmac-sha256', key: 'whsec' };
  const seed = `whsk_${Buffer.alloc(32).toString('base64')}`;
  assert.match(String(findProblem(scheme, seed)), /^is a private key/);
});
