/** Texts as JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeString, isEmptyObject } from '../../../src/base/json/encode.ts';

const TEXTS = [
  '', 'plain', 'a "quote"', 'back\\slash', 'line\nbreak', 'Grüße', '\u{1f600}', '\ud800',
  'x'.repeat(64), 'x'.repeat(65), `${'x'.repeat(65)}"`,
];

test('a text is written as JSON.stringify writes it', () => {
  for (const text of TEXTS) assert.equal(encodeString(text), JSON.stringify(text));
});

test('an object is empty whose JSON is {}, and no other', () => {
  class Told { toJSON(): string { return 'told'; } }
  for (const value of [null, [], { a: undefined, b: 1 }, new Told(), { a: null }]) {
    assert.equal(isEmptyObject(value), false);
  }
  assert.equal(isEmptyObject({}), true);
  assert.equal(isEmptyObject(JSON.parse('{}')), true);
});
