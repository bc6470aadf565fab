import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSums } from '../../../src/store/moving/collection-sums.ts';
import type { CollectionSum } from '../../../src/store/moving/collection-sums.ts';

const BOOKS: CollectionSum = { collection: 'books', records: 2, sha256: 'aa' };

const OTHERS: readonly (readonly [string, readonly CollectionSum[]])[] = [
  ['a record less', [{ ...BOOKS, records: 1 }]],
  ['as many records with another checksum', [{ ...BOOKS, sha256: 'bb' }]],
  ['none of them', []],
];

for (const [what, actual] of OTHERS) {
  test(`a store with ${what} does not pass for the one that was copied`, () => {
    assert.throws(() => checkSums([BOOKS], actual, 'the copy'),
      { code: 'damaged', message: /^the copy: the books are not those/ });
  });
}

test('the order of collections does not matter', () => {
  const hooks = { collection: 'hooks', records: 0, sha256: 'cc' };
  checkSums([BOOKS, hooks], [hooks, BOOKS], 'the copy');
});
