import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Line } from '../../../src/webhooks/scheduler/ordered-queue.ts';
import { createRandom } from '../../support/random.ts';

const isLess = (left: number, right: number): boolean => left < right;

test('whatever comes in whatever order leaves with the least first', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = createRandom(seed);
    const line = new Line(isLess);
    const model: number[] = [];
    let newest = 0;
    for (let step = 0; step < 5000; step += 1) {
      // Mostly rising, as identifiers do; long spells of nothing but coming, then of going.
      const isComing = random() < (Math.floor(step / 1250) % 2 === 0 ? 0.9 : 0.1);
      if (isComing) {
        newest += 1;
        const item = random() < 0.8 ? newest : Math.floor(random() * newest);
        line.push(item);
        model.push(item);
        model.sort((left, right) => left - right);
      } else {
        assert.equal(line.peek(), model[0]);
        assert.equal(line.pop(), model.shift());
      }
    }
    for (const item of model) assert.equal(line.pop(), item);
    assert.deepEqual([line.peek(), line.pop()], [undefined, undefined]);
  }
});

test('what came in order leaves without a comparison of more than its neighbours', () => {
  let comparisons = 0;
  const line = new Line((left: number, right: number) => {
    comparisons += 1;
    return left < right;
  });
  const count = 10_000;
  for (let item = 0; item < count; item += 1) line.push(item);
  for (let item = 0; item < count; item += 1) assert.equal(line.pop(), item);
  assert.ok(comparisons <= 2 * count, `${comparisons} comparisons`);
});
