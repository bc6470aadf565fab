import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestName, quote } from '../../../src/base/text/error-message.ts';

test('a refused value is quoted, cut when it is long, and without credentials', () => {
  const cases: readonly [unknown, string][] = [
    ['post', '"post"'], [12, '12'], [null, 'null'], [true, 'true'], [['a'], 'an array'],
    [{ a: 1 }, 'an object'], ['a"b\n', '"a\\"b\\n"'], ['x'.repeat(81), `"${'x'.repeat(80)}…"`],
    ['ftp://u:planted@h/', '"ftp://***@h/"'], ['http://u:"planted@h/@x', '"http://***@x"'],
    ['http://h/?token=planted', '"http://h/?token=***"'],
  ];
  for (const [value, shown] of cases) assert.equal(quote(value), shown);
});

test('a refused name gets the one that was meant, else those that there are', () => {
  assert.equal(suggestName('lvel', ['level', 'mode']), ': did you mean `level`?');
  assert.equal(suggestName('zzz', ['level', 'mode']), ': known are level, mode');
  assert.equal(suggestName('zzz', ['level']), ': known is level');
  assert.equal(suggestName('zzz', []), ': none is known');
  const many = Array.from({ length: 25 }, (_, index) => `n${index}`);
  assert.match(suggestName('x'.repeat(1000), many), /n19 and 5 more$/);
});
