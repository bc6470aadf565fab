import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mediaTypeOf, parseForm, sortedFields,
} from '../../../src/webhooks/senders/request/form.ts';
import { below, createRandom } from '../../support/random.ts';

const PIECES = [
  'a', 'b', '=', '&', '+', '%', '%20', '%C3%A9', '%c3', '%zz', 'é', '%2B', '__proto__',
  '%EF%BB%BF', '%f0%9f', '%98', '%80', '%FF', '%2', '%%41', '\u{1f600}', '%26', '%3D',
];

test('reads forms as URLSearchParams does', () => {
  const random = createRandom(7);
  for (let round = 0; round < 2000; round += 1) {
    const text = Array.from({ length: below(random, 12) },
      () => PIECES[below(random, PIECES.length)]).join('');
    // Node's own reads raw text beside a broken escape byte by byte.
    const wanted = new URLSearchParams(`&${text.replace(/[^\x00-\x7f]+/gu, encodeURIComponent)}`);
    const form = parseForm(Buffer.from(text)) ?? new Map();
    assert.deepEqual([...form], [...new Set(wanted.keys())].map((name) =>
      [name, wanted.getAll(name)]), text);
  }
});

test('gives up a form of too many fields', () => {
  assert.equal(parseForm(Buffer.from('a=1&'.repeat(9_999)))?.get('a')?.length, 9_999);
  assert.equal(parseForm(Buffer.from('a=1&'.repeat(10_000))), null);
});

test('sorts fields by code units, with a repeated value once', () => {
  const form = parseForm(Buffer.from('b=2&a=3&a=1&A=0&a=3&%F0%9F%98%80=x&%EF%BF%BD=y'));
  assert.equal(sortedFields(form ?? new Map()), 'A0a1a3b2\u{1f600}x\ufffdy');
});

test('sorts many names and few as code units have them', () => {
  const random = createRandom(11);
  const starts = ['', 'a', 'ab', 'abc', 'abcd', 'b', '\u{1f600}', '\uffff', '\u{10ffff}'];
  for (const count of [0, 1, 5, 20, 64, 65, 200]) {
    const names = Array.from({ length: count }, () =>
      `${starts[below(random, starts.length)]}${below(random, 40).toString(36)}`);
    const form = parseForm(Buffer.from(new URLSearchParams(
      names.map((name): [string, string] => [name, '.'])).toString())) ?? new Map();
    const wanted = [...new Set(names)].sort().map((name) => `${name}.`).join('');
    assert.equal(sortedFields(form), wanted, names.join());
  }
});

test('a media type is known without its parameters, in either case', () => {
  assert.equal(mediaTypeOf(' Application/JSON ; charset=utf-8'), 'application/json');
  assert.equal(mediaTypeOf(undefined), '');
});
