import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMemberText } from '../../../src/base/json/find-member.ts';

test('the text of a member is found as it stands, the last one of its name', () => {
  const values = [
    '1.0', '"a\\"}"', '"\\\\"', '{"x":[1,{"y":"]"}]}', '[[],"\\\\\\"",{}]', '-0', 'null',
  ];
  for (const value of values) {
    for (const text of [
      `{"x":${value}}`, `\ufeff \n{ "x" : ${value} }\n`, `{"a":{"x":1},"x":\t${value}\r\n,"y":[2]}`,
      `{"x":0,"\\u0078":${value},"X":3,"":4}`, `{"é\\"x":"x","x":${value}}`,
    ]) {
      assert.equal(findMemberText(Buffer.from(text), 'x')?.toString(), value, text);
    }
  }
  for (const text of ['{}', ' { } ', '{"y":{"x":1}}', '{"y":"x"}', '{"y":["x"],"z":"\\"x\\":1"}']) {
    assert.equal(findMemberText(Buffer.from(text), 'x'), undefined, text);
  }
});
