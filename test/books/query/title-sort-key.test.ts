import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTitleSortKey } from '../../../src/books/query/sort-keys.ts';
import { below, createRandom } from '../../support/random.ts';

const ORDERS: readonly (readonly string[])[] = [
  ['Vol. 2', 'Vol. 10', 'Vol. 100', 'Vol. C'],
  ['1', '2 b', '2a', '10', '2001: A Space Odyssey', '20000 Leagues', 'Zero'],
  ['Part 9', 'Part 1234567890', 'Part 12345678901234567890', 'Part 98765432109876543210', 'Parts'],
  ['"Art"', 'Book', '(Cooking) for two', '“Dune”', '«Élan»', '» Frei «', "'Gone", '「東京」'],
  ['the "end"', 'The End', '"The endless', '[The] x'],
];
for (const titles of ORDERS) {
  test(`titles sort as ${titles.join(' < ')}`, () => {
    const keys = titles.map(createTitleSortKey);
    assert.deepEqual(keys.toSorted(), keys);
    assert.equal(new Set(keys).size, keys.length);
  });
}

const SAME: readonly (readonly string[])[] = [
  ['Vol. 7', 'vol. 007'], ['The End', '"The End', '(the end'], ['0', '000'], ['５０', '50'],
];
for (const titles of SAME) {
  test(`${titles.join(' and ')} sort alike`, () => {
    assert.equal(new Set(titles.map(createTitleSortKey)).size, 1);
  });
}

test('numbers of any length sort by their value', () => {
  const random = createRandom(1);
  const numbers = Array.from({ length: 500 }, () =>
    BigInt(Array.from({ length: 1 + below(random, 60) }, () => below(random, 10)).join('')));
  const byKey = numbers.toSorted((left, right) =>
    createTitleSortKey(`a ${left} b`) < createTitleSortKey(`a ${right} b`) ? -1 : 1);
  const byValue = numbers.toSorted((left, right) => Number(left > right) - Number(left < right));
  assert.deepEqual(byKey, byValue);
});
