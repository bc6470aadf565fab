/** Conditions as they are typed and read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatConditionValue, formatCondition, parseConditionValue,
} from '../../../../src/console/parts/forms/condition-text.ts';

for (const [operator, value, text] of [
  ['eq', 'opened', 'opened'], ['eq', 5, '5'], ['eq', '5', '"5"'], ['eq', true, 'true'],
  ['eq', 'true', '"true"'], ['eq', null, 'null'], ['eq', '', ''], ['eq', '-x', '-x'],
  ['prefix', '5', '5'], ['prefix', '"a"', '"a"'], ['in', ['a', 'b'], 'a, b'],
  ['in', ['a', 1, '1'], 'a, 1, "1"'], ['in', ['a, b', 'c'], '["a, b","c"]'],
  ['eq', 'x\ny', '"x\\ny"'], ['prefix', 'x\r\ny', '"x\\r\\ny"'],
  ['in', ['x\ny', 'z'], '"x\\ny", z'], ['in', [' a', 'b'], '" a", b'],
] as const) {
  test(`shows ${JSON.stringify(value)} of ${operator} as ${text}, and reads it so`, () => {
    assert.equal(formatConditionValue(value, operator), text);
    assert.deepEqual(parseConditionValue(text, operator), value);
  });
}

test('says a condition in words', () => {
  assert.equal(formatCondition({ all: [
    { path: 'event', op: 'in', value: ['push', 'ping'] },
    { any: [{ path: 'payload.a', op: 'exists' }, { path: 'payload.b', op: 'gt', value: 3 }] },
    { not: { path: 'method', op: 'exists', value: false } },
  ] }), '(event is one of push, ping and (payload.a is there or payload.b is more than 3)'
    + ' and not (method is not there))');
});

test('keeps the digits of a number that is typed', () => {
  for (const text of ['820982911946154508', '10.00', '1e400, 2']) {
    const operator = text.includes(',') ? 'in' : 'eq';
    assert.equal(formatConditionValue(parseConditionValue(text, operator), operator), text);
  }
});
