/** JSON as it was sent, on many lines, and to compare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  encodeJson, formatPrettyJson, parseJson, parseJsonOrText,
} from '../../../src/console/base/json-text.ts';

for (const value of [
  {}, [], null, 0, 'a', '', { a: {} }, [[]], [{}, []], { a: [1, 'b,{}[]:"\\', { c: null }] },
  [[1], [[2, { d: [] }]]], { '': '\n', ü: -1.5e-7 },
]) {
  const text = JSON.stringify(value);
  test(`lays out ${text} as JSON.stringify does, however it was laid out`, () => {
    const expected = JSON.stringify(value, null, 2);
    for (const sent of [text, expected, ` ${JSON.stringify(value, null, '\t')}\r\n`]) {
      assert.equal(formatPrettyJson(sent)?.trim(), expected);
    }
  });
}

test('sends the digits that came, whatever a double makes of them', () => {
  for (const text of [
    '{"id":820982911946154508,"price":10.00,"a":[1e400,-0,1E2],"b":1.5,"c":"10.00","date":"2-0"}',
    '820982911946154508', '[{"__proto__":10.0}]', '{"a":"1e400 \\" 1e400"}',
  ]) assert.equal(encodeJson(parseJson(text)), text);
  assert.equal(`${parseJson('10.00')}`, '10.00');
  assert.equal(encodeJson(parseJson('{"a":1.50}'), 2), '{\n  "a": 1.50\n}');
  assert.throws(() => parseJson('{"id":820982911946154508,}'), SyntaxError);
});

test('keeps the digits of numbers, and what is said twice', () => {
  assert.equal(formatPrettyJson('{"id":9007199254740995,"price":1.10,"id":1E2}'),
    '{\n  "id": 9007199254740995,\n  "price": 1.10,\n  "id": 1E2\n}');
});

for (const text of ['', '{', '01', '[1,]', 'NaN', '{"a" 1}', '"a', '['.repeat(1e5)]) {
  test(`is no JSON: ${text.slice(0, 9)}`, () => {
    assert.equal(formatPrettyJson(text), null);
    assert.equal(parseJsonOrText(text), text);
  });
}

test('what is too deep to be laid out is left as it is', () => {
  const text = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  assert.notEqual(parseJsonOrText(text), text);
  assert.equal(formatPrettyJson(text), null);
});
