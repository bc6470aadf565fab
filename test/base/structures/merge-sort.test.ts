import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeByteString } from '../../../src/base/text/fold.ts';
import { createKeyColumn } from '../../../src/books/list/sort-columns.ts';
import type { SortOrder } from '../../../src/books/query/book-sort.ts';
import { compareSortValues } from '../../../src/books/query/book-sort.ts';
import { sortIndexes } from '../../../src/base/structures/merge-sort.ts';
import { below, createRandom } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

test('it sorts like a stable sort, at every size', () => {
  const random = createRandom(4);
  const sizes = [0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 1000, 5000];
  for (const size of sizes) {
    const keys = Array.from({ length: size }, () => below(random, size / 3 + 1));
    const compare = (left: number, right: number): number => (keys[left] ?? 0) - (keys[right] ?? 0);
    const [sorted] = run(size, compare);
    assert.deepEqual([...sorted], [...keys.keys()].sort(compare), `size ${size}`);
  }
});

test('no step compares more than a few hundred pairs', () => {
  const size = 20_000;
  let compared = 0;
  let comparedMax = 0;
  const [, steps] = run(size, (left, right) => {
    compared += 1;
    return (left * 7919) % size - (right * 7919) % size;
  }, () => {
    comparedMax = Math.max(comparedMax, compared);
    compared = 0;
  });
  assert.ok(comparedMax <= 2048, `${comparedMax} in one step`);
  assert.ok(steps > 100);
});

test('columns compare as the keys do', () => {
  const random = createRandom(5);
  const titles = ['', 'a', 'abcdef', 'abcdefg', 'abcdefh', 'abcdef\0', 'é', '漢字', '😀', 'the river',
    'x'.repeat(40_000)].map(encodeByteString);
  const makers: readonly (readonly [SortOrder['key'], () => string | number | null])[] = [
    ['title', () => pick(random, titles)],
    ['author', () => random() < 0.3 ? null : pick(random, titles)],
    ['updatedAt', () => below(random, 9) * 1e14],
    ['datePublished', () => random() < 0.3 ? null : below(random, 9)],
  ];
  for (const [key, make] of makers) {
    for (const isDescending of [false, true]) {
      const column = createKeyColumn({ key, isDescending });
      const sort = { orders: [{ key, isDescending }], isIdDescending: false };
      const keys = Array.from({ length: 300 }, make);
      for (const value of keys) column.push(value);
      for (let round = 0; round < 3000; round += 1) {
        const left = below(random, keys.length);
        const right = below(random, keys.length);
        const expected =
          compareSortValues([keys[left] ?? null], [keys[right] ?? null], sort);
        const told = `${key} ${isDescending}: ${keys[left]} ${keys[right]}`.slice(0, 80);
        assert.equal(Math.sign(column.compare(left, right)) + 0, expected, told);
      }
    }
  }
});

function run(
  size: number, compare: (left: number, right: number) => number, onStep: () => void = () => {},
): [Uint32Array, number] {
  const work = sortIndexes(size, compare);
  for (let steps = 0; ; steps += 1) {
    const step = work.next();
    onStep();
    if (step.done === true) return [step.value, steps];
  }
}
