import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortByKeys } from '../../../src/base/structures/radix-sort.ts';
import type { Steps } from '../../../src/base/turns.ts';
import { below, createRandom } from '../../support/random.ts';

const BOUNDS = [1, 2, 100, 2 ** 14, 2 ** 28, 2 ** 29, Number.MAX_SAFE_INTEGER];

test('numbers of any size are sorted, and the same ones keep their order', () => {
  const random = createRandom(1);
  for (const bound of BOUNDS) {
    for (const count of [0, 1, 2, 50, 5000]) {
      const keys = Float64Array.from({ length: count }, () => below(random, bound));
      if (count > 1) keys[1] = bound - 1;
      const indexes = Array.from(keys, (_, index) => index);
      const byKey = (left: number, right: number): number =>
        (keys[left] ?? 0) - (keys[right] ?? 0);
      for (const some of [indexes, indexes.toReversed(), indexes.filter(() => random() < 0.5)]) {
        const sorted = finish(sortByKeys(keys, Uint32Array.from(some)));
        assert.deepEqual(sorted, some.toSorted(byKey));
      }
    }
  }
});

test('what is sorted already stays as it is', () => {
  const keys = Float64Array.from({ length: 5000 }, (_, index) => Math.floor(index / 3));
  const indexes = Uint32Array.from(keys, (_, index) => index);
  assert.deepEqual(finish(sortByKeys(keys, indexes.slice())), [...indexes]);
});

function finish(steps: Steps<Uint32Array>): readonly number[] {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return [...step.value];
  }
}
