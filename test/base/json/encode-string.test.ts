/** Texts as JSON, looked through or remembered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  RepeatedStringEncoder, encodeString, isEmptyObject,
} from '../../../src/base/json/encode.ts';

const TEXTS = [
  '', 'plain', 'a "quote"', 'back\\slash', 'line\nbreak', 'Grüße', '\u{1f600}', '\ud800',
  'x'.repeat(64), 'x'.repeat(65), `${'x'.repeat(65)}"`,
];

test('a text is written as JSON.stringify writes it', () => {
  for (const text of TEXTS) assert.equal(encodeString(text), JSON.stringify(text));
});

test('a text is written so at each place, whatever stood there before', () => {
  const repeated = new RepeatedStringEncoder();
  for (const place of [0, 1, 63, 64, 1000]) {
    for (const before of TEXTS) {
      for (const text of TEXTS) {
        assert.equal(repeated.encode(place, before), JSON.stringify(before));
        assert.equal(repeated.encode(place, text), JSON.stringify(text));
        assert.equal(repeated.encode(place, text), JSON.stringify(text));
      }
    }
  }
});

test('an object is empty whose JSON is {}, and no other', () => {
  class Told { toJSON(): string { return 'told'; } }
  for (const value of [null, [], { a: undefined, b: 1 }, new Told(), { a: null }]) {
    assert.equal(isEmptyObject(value), false);
  }
  assert.equal(isEmptyObject({}), true);
  assert.equal(isEmptyObject(JSON.parse('{}')), true);
});
