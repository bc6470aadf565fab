import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { encodeJson } from '../../../src/base/json/encode.ts';
import { findMemberText } from '../../../src/base/json/find-member.ts';
import {
  isJsonContainer, parseJson, parseJsonRecord, parseJsonStrictly,
} from '../../../src/base/json/parse.ts';
import { longTest } from '../../support/long.ts';
import { below, createRandom } from '../../support/random.ts';

function problemOf(bytes: Buffer | string): string {
  try {
    parseJson(Buffer.from(bytes));
  } catch (thrown) {
    assert(thrown instanceof AppError);
    assert.equal(thrown.code, 'malformed');
    return thrown.message;
  }
  return 'none';
}

const broken: readonly [string, string][] = [
  ['', '1, column 1: expected a value, found the end of the text'],
  ['  \n ', '2, column 2: expected a value, found the end of the text'],
  ['{', '1, column 2: expected a member name in double quotes, found the end of the text'],
  ['{"a"', '1, column 5: expected ":", found the end of the text'],
  ['{"a" 1}', '1, column 6: expected ":", found "1"'],
  ['{"a":}', '1, column 6: expected a value, found "}"'],
  ['{"a":1', '1, column 7: expected "," or "}", found the end of the text'],
  ['{"a":1,}', '1, column 8: expected a member name in double quotes, found "}"'],
  ['{"a":1 "b":2}', '1, column 8: expected "," or "}", found "\\""'],
  ["{'a':1}", '1, column 2: expected a member name in double quotes, found "\'"'],
  ['{a:1}', '1, column 2: expected a member name in double quotes, found "a"'],
  ['[1,]', '1, column 4: expected a value, found "]"'],
  ['[1 2]', '1, column 4: expected "," or "]", found "2"'],
  ['[', '1, column 2: expected a value, found the end of the text'],
  ['{\n  "a": 1,\n  "b": tru\n}', '3, column 8: expected a value, found "t"'],
  ['{\r\n"a": nul}', '2, column 6: expected a value, found "n"'],
  ['NaN', '1, column 1: expected a value, found "N"'],
  ['-', '1, column 2: expected a digit, found the end of the text'],
  ['-x', '1, column 2: expected a digit, found "x"'],
  ['01', '1, column 1: a number must not begin with 0'],
  ['-012', '1, column 1: a number must not begin with 0'],
  ['00', '1, column 1: a number must not begin with 0'],
  ['1.', '1, column 3: expected a digit, found the end of the text'],
  ['1.e3', '1, column 3: expected a digit, found "e"'],
  ['1e', '1, column 3: expected a digit, found the end of the text'],
  ['1e+', '1, column 4: expected a digit, found the end of the text'],
  ['+1', '1, column 1: expected a value, found "+"'],
  ['.5', '1, column 1: expected a value, found "."'],
  ['1 2', '1, column 3: expected the end, found "2"'],
  ['{} x', '1, column 4: expected the end, found "x"'],
  ['"abc', '1, column 5: expected the closing quote of a string, found the end of the text'],
  ['"a\\', '1, column 3: not an escape that JSON knows'],
  ['"a\\x"', '1, column 3: not an escape that JSON knows'],
  ['"\\u12"', '1, column 2: expected four hexadecimal digits after \\u'],
  ['"\\u12G4"', '1, column 2: expected four hexadecimal digits after \\u'],
  ['"a\nb"', '1, column 3: a control character in a string must be escaped'],
  ['"a\u0000"', '1, column 3: a control character in a string must be escaped'],
  ['["日本", 😀]', '1, column 8: expected a value, found "😀"'],
  ['\u00a0{}', '1, column 1: expected a value, found "\u00a0"'],
  ['// a\n{}', '1, column 1: expected a value, found "/"'],
];

test('refuses what is not JSON with line, column and what was expected', () => {
  for (const [text, expected] of broken) {
    assert.equal(problemOf(text), `not valid JSON at line ${expected}`, JSON.stringify(text));
  }
});

test('of a record the first line is not named', () => {
  const parse = (text: string) => () => parseJsonRecord(Buffer.from(text, 'latin1'));
  assert.throws(parse('{"a":}'), { message: /^not valid JSON at column 6: / });
  assert.throws(parse('{"a"\n:}'), { message: /^not valid JSON at line 2, column 2: / });
  assert.throws(parse('"\xff"'), { message: 'not valid UTF-8 at column 2' });
});

test('a record has a bounded number of values, however many commas its texts have', () => {
  const parse = (text: string) => () => parseJsonRecord(Buffer.from(text));
  const list = (count: number): string => `[${Array(count).fill('{}').join(',')}]`;
  assert.throws(parse(list(60_000)), { code: 'malformed', message: 'has more than 100000 values' });
  assert.doesNotThrow(parse(list(40_000)));
  assert.doesNotThrow(parse(JSON.stringify({ review: ',[{\\"'.repeat(60_000) })));
  assert.doesNotThrow(() => parseJson(Buffer.from(list(60_000))));
});

test('JSON of every kind is parsed, with or without a byte order mark', () => {
  const texts = ['{}', '[]', '"x"', '0', '-0.0005', 'true', ' null ', '{"a":[{"b":"\\u00e9"}]}'];
  for (const text of texts) {
    assert.deepEqual(parseJson(Buffer.from(text)), JSON.parse(text));
    assert.deepEqual(parseJson(Buffer.from(`\ufeff${text}`)), JSON.parse(text));
  }
  assert.equal(problemOf('\ufeff{,}').includes('line 1, column 2'), true);
});

test('of members with one name the last counts, and __proto__ is a member', () => {
  assert.deepEqual(parseJson(Buffer.from('{"a":1,"a":2}')), { a: 2 });
  const value = parseJson(Buffer.from('{"__proto__":{"x":1}}'));
  assert(typeof value === 'object' && value !== null);
  assert.equal(Object.hasOwn(value, '__proto__'), true);
  assert.equal('x' in value, false);
});

test('nesting is taken to 64 levels and not beyond', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(problemOf(nested(64)), 'none');
  assert.equal(problemOf(nested(65)),
    'not valid JSON at line 1, column 65: nested over 64 levels deep');
  assert.match(problemOf('{"a":'.repeat(100_000)), /column 321: nested over 64 levels deep$/);
  assert.equal(problemOf(`["${'['.repeat(100)}\\"${'{'.repeat(100)}"]`), 'none');
});

test('refuses invalid UTF-8 with its place', () => {
  const cases: readonly [readonly number[], string][] = [
    [[0xff], '1, column 1'],
    [[0x22, 0xc3, 0x22], '1, column 2'],
    [[0x5b, 0x0a, 0x22, 0xe6, 0x9c, 0xac, 0x80], '2, column 3'],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], '1, column 2'],
    [[0x22, 0xc0, 0x80, 0x22], '1, column 2'],
    [[0x22, 0xf0, 0x9f, 0x98], '1, column 2'],
  ];
  for (const [bytes, place] of cases) {
    assert.equal(problemOf(Buffer.from(bytes)), `not valid UTF-8 at line ${place}`);
  }
});

test('the scanner and the engine agree on every mutation of a text', () => {
  const random = createRandom(7);
  const source = '{"a": [1, -2.5e+3, true, null], "b\\n": {"c": "\\u00e9é"}, "d": ""}';
  const pieces = ['"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', 'e', ' ', '\n', 'x', '.', 'é'];
  let valid = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const characters = [...source];
    for (let edits = 1 + below(random, 2); edits > 0; edits -= 1) {
      const inserted = random() < 0.7 ? [pieces[below(random, pieces.length)] ?? ''] : [];
      characters.splice(below(random, characters.length), below(random, 3), ...inserted);
    }
    const text = characters.join('');
    let isValid = true;
    try {
      JSON.parse(text);
    } catch {
      isValid = false;
    }
    if (isValid) valid += 1;
    const problem = problemOf(text);
    // Without a place the scanner would have found nothing wrong with what the engine refuses.
    assert.match(problem, isValid ? /^none$/ : /^not valid JSON at line \d+, column \d+: /, text);
    const isContainer = isValid && /^[{[]/.test(text.trim());
    assert.equal(isJsonContainer(Buffer.from(text)), isContainer, text);
  }
  assert.ok(valid > 200 && valid < 4_800, `${valid} are valid`);
});

test('what is neither object nor array, invalid UTF-8 or too deep is no container for sure', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  for (const [text, expected] of [
    ['\ufeff {} ', true], ['', false], ['null', false], ['"[]"', false], ['[1,2', false],
    ['[true,false,null]', true], ['[nul]', false], ['["\\u00Ff\\/"]', true], ['["\\u00g0"]', false],
    [deep(64), true], [deep(65), null],
  ] as const) assert.equal(isJsonContainer(Buffer.from(text)), expected, text);
  assert.equal(isJsonContainer(Buffer.from('["\xe9"]', 'latin1')), false);
});

test('strict parsing refuses an object that has a member twice', () => {
  for (const text of ['{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}', '[]', '7', ' "a" ']) {
    assert.deepEqual(parseJsonStrictly(Buffer.from(text)), JSON.parse(text));
  }
  for (const [text, message] of [
    ['{"a": 1,\n  "a": 2}', 'line 2, column 3: the member "a" stands twice'],
    ['\ufeff{"a": [{"x": 1, "\\u0078": 2}]}', 'line 1, column 17: the member "x" stands twice'],
    ['{"a": 1, "a": }', 'not valid JSON at line 1, column 15: expected a value, found "}"'],
  ] as const) {
    assert.throws(() => parseJsonStrictly(Buffer.from(text)), { code: 'malformed', message });
  }
});

test('the place of invalid UTF-8 is right after characters of any length', () => {
  for (const character of ['a', 'é', '漢', '😀']) {
    for (let count = 0; count < 9; count += 1) {
      const bytes = Buffer.concat([
        Buffer.from(`"${character.repeat(count)}`), Buffer.of(0xff), Buffer.from('😀"'),
      ]);
      assert.throws(() => parseJson(bytes), {
        code: 'malformed', message: `not valid UTF-8 at line 1, column ${count + 2}`,
      }, `${count} ${character}`);
    }
  }
});

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
