/** Signing by the clock of the tests; test/webhooks/outgoing/signing.test.ts has the presets. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import {
  createSigner, signRequest, signSample,
} from '../../../src/webhooks/senders/signing/sign-request.ts';

const NOW_MS = 1_770_000_000_000;

/** The headers of a request with the body `{}`. */
function sign(
  scheme: Scheme, secrets: readonly (readonly [string, number])[],
): Readonly<Record<string, string>> {
  const signer = createSigner({
    scheme, quirk: {}, settings: {},
    secrets: secrets.map(([text, validUntilMs], index) =>
      ({ text, role: index === 0 ? 'current' : 'previous', validUntilMs })),
  });
  assert.ok(!('problem' in signer));
  return signRequest(signer, {
    method: 'POST', body: Buffer.from('{}'), contentType: null, id: 'd', atMs: NOW_MS, search: '',
  }).headers;
}

const hmac = (secret: string): string =>
  createHmac('sha256', secret).update(`${NOW_MS / 1000}.{}`).digest('hex');

test('a previous secret signs as well until its time is over', () => {
  const scheme = findPreset('stripe')?.scheme;
  assert.ok(scheme);
  const both = [['new', Infinity], ['old', NOW_MS + 1]] as const;
  assert.deepEqual(sign(scheme, both), {
    'Stripe-Signature': `t=${NOW_MS / 1000},v1=${hmac('new')},v1=${hmac('old')}`,
  });
  assert.deepEqual(sign(scheme, [['new', Infinity], ['old', NOW_MS]]), {
    'Stripe-Signature': `t=${NOW_MS / 1000},v1=${hmac('new')}`,
  });
});

test('an unusable previous secret is no reason not to sign', () => {
  const scheme = findPreset('standard')?.scheme;
  assert.ok(scheme);
  const { 'webhook-signature': text } = sign(scheme, [['new', Infinity], ['whsec_?', Infinity]]);
  assert.match(String(text), /^v1,\S+$/);
});

test('the body of a sample gets its time, and stays as it is where it has no place for one', () => {
  const scheme = findPreset('linear')?.scheme;
  assert.ok(scheme);
  const signer = createSigner({
    scheme, quirk: {}, settings: {},
    secrets: [{ text: 's', role: 'current', validUntilMs: Infinity }],
  });
  assert.ok(!('problem' in signer));
  for (const [text, filled] of [
    ['{"webhookTimestamp":{timestamp}}', `{"webhookTimestamp":${NOW_MS}}`], ['\xff{', '\xff{'],
  ] as const) {
    const { body } = signSample(signer, {
      method: 'POST', body: Buffer.from(text, 'latin1'), contentType: null, id: 'd', atMs: NOW_MS,
      search: '',
    });
    assert.equal(body.toString('latin1'), filled);
  }
});
