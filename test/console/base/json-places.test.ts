/** The places of values in JSON that a person writes, and of mistakes in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePointer } from '../../../src/console/base/field-problem.ts';
import {
  findLine, findPlace, isMistake, locateJson,
} from '../../../src/console/base/json-places.ts';

const TEXT = `{
  "incomingWebhooks": [
    { "pathSegment": "gh", "a/b~c": [1, -2.5e3, true, null] },
    {}
  ],
  "set": "x\\u0041"
}
`;

function valueAt(text: string, pointer: string): string | null {
  const found = locateJson(text);
  assert.ok(!isMistake(found), JSON.stringify(found));
  const place = findPlace(found, pointer);
  return place === null ? null : text.slice(place.start, place.end);
}

for (const [pointer, expected] of [
  ['/incomingWebhooks/0/pathSegment', '"gh"'], ['/incomingWebhooks/0/a~1b~0c/1', '-2.5e3'],
  ['/incomingWebhooks/1', '{}'], ['/set', '"x\\u0041"'],
] as const) {
  test(`finds the value of ${pointer}`, () => assert.equal(valueAt(TEXT, pointer), expected));
}

test('of a value that is missing, finds what is around its place', () => {
  assert.equal(valueAt(TEXT, '/incomingWebhooks/1/routes/0/when'), '{}');
  assert.equal(valueAt(TEXT, '/nowhere'), TEXT.trim());
});

for (const [text, line, column, reason] of [
  ['', 1, 1, /value is missing/], ['{"a": }', 1, 7, /value is missing/],
  ['{\n  "a": 1,\n}', 3, 1, /comma may not stand/], ['[1,\n 2 3]', 2, 4, /comma or \] is missing/],
  ['{"a" 1}', 1, 6, /colon is missing/], ['{a: 1}', 1, 2, /name of a member/],
  ['{} {}', 1, 4, /nothing may follow/], ['["a\n"]', 1, 2, /no end/],
  ["{'a': 1}", 1, 2, /name of a member/], ['[01]', 1, 3, /comma or \]/],
  ['{"a": 1, "b": {"a": 2, "a": 3}}', 1, 24, /"a" stands here for the second time/],
  ['// a\n{}', 1, 1, /value is missing/],
] as const) {
  test(`says where ${JSON.stringify(text)} is no JSON, and why`, () => {
    const found = locateJson(text);
    assert.ok(isMistake(found));
    assert.deepEqual([found.line, found.column], [line, column]);
    assert.match(found.reason, reason);
  });
}

test('what is nested too deeply is a mistake, and no fault', () => {
  const found = locateJson('['.repeat(1e6));
  assert.ok(isMistake(found));
  assert.match(found.reason, /nested too deeply/);
});

for (const value of [
  {}, [], 0, 'a', { '': [{ '"': -0.5, __proto__: null }] }, [[[]], 'é😀\u2028', { a: { b: [] } }],
]) {
  test(`takes ${JSON.stringify(value)} in any layout, as JSON.parse does`, () => {
    for (const space of [0, 2, '\t']) {
      const text = `\r\n${JSON.stringify(value, null, space)} `;
      assert.equal(valueAt(text, ''), text.trim());
    }
  });
}

test('reads pointers, and counts lines', () => {
  assert.deepEqual(parsePointer('/a~1b/0/~01'), ['a/b', '0', '~1']);
  assert.deepEqual(parsePointer(''), []);
  assert.deepEqual([0, 1, 2, 3].map((offset) => findLine('a\n\nb', offset)), [1, 1, 2, 3]);
});
