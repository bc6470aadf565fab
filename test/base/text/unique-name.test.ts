import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeUniqueName } from '../../../src/base/text/unique-name.ts';

test('a name that is taken gets the first number that is free, and is taken then', () => {
  const takenNames = new Set(['a', 'a-3']);
  const names = ['b', 'a', 'a', 'a'].map((base) =>
    takeUniqueName(base, takenNames, { separator: '-' }));
  assert.deepEqual(names, ['b', 'a-2', 'a-4', 'a-5']);
});

test('a name is no longer than it may be, with its number', () => {
  const takenNames = new Set<string>();
  const names = Array.from({ length: 11 }, () =>
    takeUniqueName('abcdef', takenNames, { separator: '_', lengthMax: 4 }));
  assert.deepEqual([names[0], names[1], names[10]], ['abcd', 'ab_2', 'a_11']);
});
