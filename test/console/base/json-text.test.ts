/** JSON as it was sent, on many lines, and to compare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeepingDigits, formatPrettyJson } from '../../../src/console/base/json-text.ts';

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

test('keeps the digits of numbers, and what is said twice', () => {
  assert.equal(formatPrettyJson('{"id":9007199254740995,"price":1.10,"id":1E2}'),
    '{\n  "id": 9007199254740995,\n  "price": 1.10,\n  "id": 1E2\n}');
  assert.deepEqual(parseKeepingDigits('{"id":9007199254740995,"low":-0,"text":"12","is":true}'),
    { id: '9007199254740995', low: '-0', text: '12', is: true });
});

for (const text of ['', '{', '01', '[1,]', 'NaN', '{"a" 1}', '"a', '['.repeat(1e5)]) {
  test(`is no JSON: ${text.slice(0, 9)}`, () => {
    assert.equal(formatPrettyJson(text), null);
    assert.equal(parseKeepingDigits(text), undefined);
  });
}

test('what is too deep to be laid out is left as it is', () => {
  const text = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  assert.notEqual(parseKeepingDigits(text), undefined);
  assert.equal(formatPrettyJson(text), null);
});
