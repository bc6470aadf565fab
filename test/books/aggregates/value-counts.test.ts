import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ValueCounts } from '../../../src/books/aggregates/value-counts.ts';
import { naiveTop } from '../../support/naive-aggregates.ts';
import { below, createRandom } from '../../support/random.ts';

type Options = ConstructorParameters<typeof ValueCounts>[0];

/** Passes over the lists as often as the counts need it; tells how often. */
function countAll(lists: readonly (readonly string[])[], options: Options) {
  const counts = new ValueCounts(options);
  let passes = 0;
  do {
    for (const list of lists) {
      counts.add(list);
      if (counts.isFull) for (const _ of counts.split());
    }
    for (const _ of counts.finishShare());
    passes += 1;
  } while (!counts.isDone);
  return { top: counts.top, passes };
}

for (const isCaseless of [false, true]) {
  const how = isCaseless ? ' without regard to case' : '';
  test(`values beyond the memory are counted in passes, as exactly${how}`, () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const random = createRandom(seed);
      const lists = Array.from({ length: 200 }, () => Array.from({ length: below(random, 4) },
        () => `${random() < 0.5 ? 'é' : 'É'}${below(random, 1 + below(random, 200))}`));
      const { top, passes } = countAll(lists, { topMax: 20, isCaseless, bytesMax: 6_000 });
      assert.ok(passes > 1, `${passes} passes`);
      assert.deepEqual(top, naiveTop(lists, isCaseless), `seed ${seed}`);
    }
  });
}

test('far too many values are refused, instead of memory growing without end', () => {
  const lists = Array.from({ length: 500 }, (_, index) => [`value ${index}`]);
  assert.throws(() => countAll(lists, { topMax: 20, bytesMax: 400 }),
    { code: 'unavailable', message: /narrow them down by a filter/ });
});
