/** Secrets as people copy them are understood, or refused with the form that is meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createSignatureHeaders, findSecretProblem,
} from '../../../src/webhooks/outgoing/outgoing-signature.ts';
import { createSigningKey } from '../../../src/webhooks/senders/signing/signing-key.ts';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import {
  createVerificationKey,
} from '../../../src/webhooks/senders/verification/verification-key.ts';

const KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SECRET = `whsec_${KEY}`;
const PUBLIC = `whpk_${Buffer.alloc(32, 1).toString('base64')}`;
const MEANT = [
  `v1,${SECRET}`, `WHSEC_${KEY}`, `v1a,Whsec_${KEY}`, ` ${SECRET}\n`, `v1 ${SECRET}`,
  `whsec-${KEY}`, `whsec:${KEY}`,
];

function schemeOf(name: string): Scheme {
  const scheme = findPreset(name)?.scheme ?? null;
  assert.ok(scheme !== null, name);
  return scheme;
}

function bytesOf(secret: string): unknown {
  const key = createVerificationKey(schemeOf('standard'), secret);
  return 'problem' in key ? key.problem : key.key.export();
}

function findProblem(key: object): string | null {
  return 'problem' in key ? String(key.problem) : null;
}

test('a secret of Standard Webhooks is the same however it is copied', () => {
  const sign = (secret: string): unknown =>
    createSignatureHeaders(secret, 'id', 0, Buffer.from('a'))['webhook-signature'];
  for (const secret of MEANT) {
    assert.deepEqual(bytesOf(secret), bytesOf(SECRET), secret);
    assert.equal(findProblem(createSigningKey(schemeOf('standard'), secret)), null);
    assert.equal(findSecretProblem(secret), null);
    assert.equal(sign(secret), sign(SECRET));
  }
  assert.equal(bytesOf('v1,whsec_!'), 'is not base64 after whsec_');
  assert.match(String(findSecretProblem('V1,WHSEC_!')), /base64 after whsec_/);
});

test('a public key is never taken as a secret', () => {
  for (const key of [PUBLIC, `v1a,${PUBLIC}`, `v1a ${PUBLIC}`, PUBLIC.replace('whpk', 'WHPK')]) {
    assert.match(String(findSecretProblem(key)), /public key/);
    assert.match(String(findProblem(createSigningKey(schemeOf('standard'), key))), /public key/);
    assert.match(String(findProblem(createVerificationKey(schemeOf('github'), key))), /public key/);
    const verifier = createVerificationKey(schemeOf('standard'), key);
    assert.equal(!('problem' in verifier) && verifier.algorithm, 'ed25519');
  }
  assert.match(String(findSecretProblem('v1a,whsk_AA==')), /Ed25519/);
});

test('user and password of HTTP Basic have a colon', () => {
  const basic = schemeOf('basic');
  assert.equal(findProblem(createVerificationKey(basic, 'secret')), 'is not user:password');
  assert.equal(findProblem(createVerificationKey(basic, 'a:b')), null);
});
