/** The signature headers of outgoing requests. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  findSecretProblem, createSignatureHeaders,
} from '../../../src/webhooks/outgoing/outgoing-signature.ts';
import { signBody, createSignatureKey } from '../../../src/webhooks/senders/x-signature.ts';

const SECRET = "It's a Secret to Everybody";
const body = Buffer.from('Hello, World!');

test('the published vector of Standard Webhooks holds', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const bytes = Buffer.from('{"test": 2432232314}');
  const headers = createSignatureHeaders(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330_999,
    bytes);
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    'x-signature': signBody(createSignatureKey(secret), bytes),
  });
});

test('a plain secret keys the Standard Webhooks signature by its UTF-8 bytes', () => {
  const mac = createHmac('sha256', SECRET).update('id.7.').update(body).digest('base64');
  assert.equal(createSignatureHeaders(SECRET, 'id', 7_000, body)['webhook-signature'], `v1,${mac}`);
});

test('a whsec_ secret that is no base64 is refused', () => {
  assert.equal(findSecretProblem('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), null);
  assert.equal(findSecretProblem('anything else'), null);
  assert.equal(findSecretProblem('whsec_AAA'), null);
  assert.equal(findSecretProblem('whsec_AAA='), null);
  for (const secret of ['whsec_', 'whsec_=', 'whsec_not base64!', 'whsec_AAAAA', 'whsec_AA=',
    'whsec_AAAA=']) {
    assert.match(String(findSecretProblem(secret)), /base64/);
  }
});

test('the previous secret signs as well until its time is over', () => {
  const validUntil = '1970-01-01T00:00:07.000Z';
  const countSignatures = (atMs: number): number => {
    const headers = createSignatureHeaders(SECRET, 'id', atMs, body, { secret: 'old', validUntil });
    return String(headers['webhook-signature']).split(' ').length;
  };
  assert.deepEqual([countSignatures(6_999), countSignatures(7_000)], [2, 1]);
});
