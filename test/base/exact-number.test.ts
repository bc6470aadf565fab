import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeJson } from '../../src/base/json/encode.ts';
import {
  ExactNumber, ScalarSet, compareNumbers, isSameScalar, normalizeNumber, parseNumber,
} from '../../src/base/exact-number.ts';
import { parseJsonText } from '../../src/base/json/exact-parser.ts';
import { below, createRandom } from '../support/random.ts';

const LOSSY = [
  '820982911946154508', '-820982911946154508', '10.00', '1.0', '-0', '-0.0', '0.0', '1e400',
  '-1e400', '1e5', '1E5', '1e+2', '12345678901234567', '0.10', '0.0000001', '0.0000010',
  '1e-400', '0.1234567890123456789', '9007199254740993', '100000000000000000000000',
];
const PLAIN = [
  '0', '1', '-1', '10', '1.5', '-12.25', '123456789012345', '9007199254740991',
  '9007199254740992', '0.30000000000000004', '1e+21', '1e-7', '5e-324', '0.000001',
];

test('keeps the text of a number that a double would write otherwise, wherever it stands', () => {
  for (const text of [...LOSSY, ...PLAIN]) {
    for (const json of [
      text, ` ${text} `, `[${text}]`, `[ ${text}]`, `[1,${text},2]`, `{"a":${text}}`,
      `{"a" :${text}}`, `{"a":{"b":[[],{},${text}]},"c":"\\"${text}"}`, `[\n\t${text}\r\n]`,
      `["\\\\",${text}]`, `{"a":{"1":[true,false,null,${text}]},"b":"[1.0,"}`,
    ]) {
      assert.equal(encodeJson(parseJsonText(json)), json.replaceAll(/[ \n\t\r]/g, ''));
    }
    assert.equal(parseJsonText(text) instanceof ExactNumber, LOSSY.includes(text), text);
  }
});

test('reads all else as the engine does', () => {
  for (const json of [
    '{"__proto__":{"a":1},"n":1.0}', '{"a":1.0,"b":2,"a":3}', '{"b":1.0,"1":2,"0":3}',
    '{"a\\u0062\\"":"\\ud83e\\udd8a","é\\\\":1.0}', '["1.0", "2.50 in a text", ": 10.00"]',
    '[1.0,{},[],[[{"":""}]],"",true,false,null]', ' [ 1.0 , "]" , "}" , "{\\"a\\":[" ] ',
  ]) {
    const expected: unknown = JSON.parse(json);
    assert.equal(JSON.stringify(parseJsonText(json)), JSON.stringify(expected), json);
    assert.deepEqual(Object.keys(Object(parseJsonText(json))), Object.keys(Object(expected)));
  }
  for (const json of ['', '[1.0', '[1.0,]', '[01.0]', '[1.]', '{"a":1.0}}', '[+1.0]', '[.50]']) {
    assert.throws(() => parseJsonText(json), SyntaxError, json);
  }
  const deep = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`;
  assert.ok(encodeJson(parseJsonText(deep)) === deep);
});

test('writes exact numbers in any value, with and without lines', () => {
  const number = parseJsonText('10.00');
  const value = { a: [number, { }, []], b: undefined, c: new Date(0), d: 'x', e: () => 1 };
  assert.equal(encodeJson(value), '{"a":[10.00,{},[]],"c":"1970-01-01T00:00:00.000Z","d":"x"}');
  const plain = { a: [1, { b: [] }], c: {} };
  assert.equal(encodeJson({ ...plain, n: number }, 2),
    JSON.stringify({ ...plain, n: 1 }, null, 2).replace('"n": 1', '"n": 10.00'));
  assert.equal(encodeJson([undefined, number]), '[null,10.00]');
});

test('compares numbers by their value, with all digits', () => {
  const order = [
    '-1e400', '-9007199254740993', '-9007199254740992', '-1.50', '-1', '0', '1e-400', '0.1', '1',
    '1.00000000000000000001', '2', '9007199254740992', '9007199254740993', '9007199254740993.1',
    '820982911946154500', '820982911946154508', '1e400', '2e400', '1e401',
  ].map(parseNumber);
  for (const [index, left] of order.entries()) {
    for (const [other, right] of order.entries()) {
      assert.equal(Math.sign(compareNumbers(left, right)), Math.sign(index - other));
      assert.equal(isSameScalar(left, right), index === other);
    }
  }
  const random = createRandom(7);
  for (let count = 0; count < 1000; count += 1) {
    const [left, right] = [0, 0].map(() =>
      BigInt(below(random, 1e9)) * BigInt(below(random, 1e9)) * BigInt(below(random, 3) - 1));
    const sign = Number(left! > right!) - Number(left! < right!);
    assert.equal(
      Math.sign(compareNumbers(parseNumber(String(left)), parseNumber(String(right)))), sign);
  }
});

test('takes numbers of one value for the same', () => {
  for (const [left, right] of [
    ['10.00', '10'], ['1e1', '10'], ['-0', '0'], ['0.00', '0'], ['820982911946154508.0',
      '820982911946154508'], ['8209829119461545080', '820982911946154508e1'], ['1e400', '10E399'],
    ['123.4500000000000000000', '123.45'], ['0.1234567890123456789', '12345678901234567.89e-17'],
  ] as const) {
    const [first, second] = [parseNumber(left), parseNumber(right)];
    assert.ok(isSameScalar(first, second), left);
    assert.ok(new ScalarSet([first]).has(second), left);
    assert.ok(new ScalarSet([second]).has(first), left);
  }
  const set = new ScalarSet([parseNumber('820982911946154508'), 'x', null]);
  assert.deepEqual(['820982911946154500', '820982911946154509'].map((text) =>
    set.has(parseNumber(text))), [false, false]);
  assert.deepEqual([set.has('x'), set.has(null), set.has('820982911946154508')],
    [true, true, false]);
  assert.equal(String(normalizeNumber(new ExactNumber('-8209829119461545080.0'))),
    '-8209829119461545080');
});

test('reads a number as long as a body once, however often it is compared', () => {
  const number = new ExactNumber(`1${'0'.repeat(1 << 20)}1`);
  const started = process.cpuUsage();
  for (let count = 0; count < 10_000; count += 1) assert.equal(isSameScalar(number, 5), false);
  assert.ok(process.cpuUsage(started).user < 1_000_000);
});
