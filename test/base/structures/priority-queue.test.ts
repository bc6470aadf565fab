import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PriorityQueue } from '../../../src/base/structures/priority-queue.ts';
import { below, createRandom } from '../../support/random.ts';

test('gives what it was given, least first', () => {
  const random = createRandom(4);
  const queue = new PriorityQueue<number>((left, right) => left < right);
  const items = Array.from({ length: 500 }, () => below(random, 100));
  for (const item of items) queue.push(item);
  queue.prune((item) => item % 3 !== 0);
  const sorted = items.filter((item) => item % 3 !== 0).sort((left, right) => left - right);
  assert.deepEqual(Array.from({ length: queue.size }, () => queue.pop()), sorted);
  assert.equal(queue.pop(), undefined);
});
