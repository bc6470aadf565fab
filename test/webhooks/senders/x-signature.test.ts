import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  isSignatureValid, signBody, createSignatureKey,
} from '../../../src/webhooks/senders/x-signature.ts';

const SECRET = "It's a Secret to Everybody";
const key = createSignatureKey(SECRET);
const body = Buffer.from('Hello, World!');
const HEX = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

test('the published vector of GitHub holds', () => {
  assert.equal(signBody(key, body), `sha256=${HEX}`);
});

const HEADERS: readonly [string, string | string[] | undefined, boolean][] = [
  ['the right one', `sha256=${HEX}`, true],
  ['upper-case hex', `sha256=${HEX.toUpperCase()}`, true],
  ['missing', undefined, false],
  ['empty', '', false],
  ['no prefix', HEX, false],
  ['an upper-case prefix', `SHA256=${HEX}`, false],
  ['another prefix', `sha1=${HEX}`, false],
  ['short', `sha256=${HEX.slice(2)}`, false],
  ['long', `sha256=${HEX}00`, false],
  ['odd', `sha256=${HEX.slice(1)}`, false],
  ['not hex', `sha256=${HEX.slice(0, -1)}g`, false],
  ['the last digit wrong', `sha256=${HEX.slice(0, -1)}8`, false],
  ['the first digit wrong', `sha256=8${HEX.slice(1)}`, false],
  ['two headers joined', `sha256=${HEX}, sha256=${HEX}`, false],
  ['two headers in a list', [`sha256=${HEX}`, `sha256=${HEX}`], false],
  ['white space inside', `sha256= ${HEX.slice(1)}`, false],
];

for (const [name, header, isValid] of HEADERS) {
  test(`an X-Signature that is ${name} is ${isValid ? 'taken' : 'refused'}`, () => {
    assert.equal(isSignatureValid(key, body, header), isValid);
  });
}

test('signatures are over bytes, UTF-8 or not, and over the empty body', () => {
  const random = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]);
  for (const bytes of [random, Buffer.alloc(0)]) {
    const hex = createHmac('sha256', SECRET).update(bytes).digest('hex');
    assert.ok(isSignatureValid(key, bytes, `sha256=${hex}`));
    assert.ok(!isSignatureValid(key, Buffer.concat([bytes, bytes, body]), `sha256=${hex}`));
  }
});

test('a secret is keyed by its UTF-8 bytes', () => {
  const hex = createHmac('sha256', Buffer.from('pässwörd ✓', 'utf8')).update(body).digest('hex');
  assert.ok(isSignatureValid(createSignatureKey('pässwörd ✓'), body, `sha256=${hex}`));
});
