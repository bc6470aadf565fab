import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeJson } from '../../../src/base/json/encode.ts';
import { longTest } from '../../support/long.ts';

const DEPTH = 50_000;

longTest('writes JSON that nests deeper than the stack allows', () => {
  for (const [open, inner, close] of [
    ['[', '', ']'], ['{"a":', '{}', '}'], ['[1,{"b\\n":[null,"\\"",', '-0.5', ']},true]'],
  ] as const) {
    const text = open.repeat(DEPTH) + inner + close.repeat(DEPTH);
    // Where the engine has a larger stack than Node 20's, it does so by itself.
    assert.ok(encodeJson(JSON.parse(text)) === text, open);
  }
});

test('writes other JSON as the engine does', () => {
  for (const value of [null, 1, 'é"\u2028', [], {}, [{ a: [1, { b: null }] }, 'x']]) {
    assert.equal(encodeJson(value), JSON.stringify(value));
  }
});
