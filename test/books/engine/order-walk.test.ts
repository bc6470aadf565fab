/** How much a walk looks at; find-books.test.ts has what it finds, by each key and direction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrderWalk, WALK_END, WALK_PAUSE } from '../../../src/books/engine/order-walk.ts';
import type { OrderWalkOptions } from '../../../src/books/engine/order-walk.ts';
import { longTest } from '../../support/long.ts';
import { OrderHarness } from '../../support/order-harness.ts';
import { createRandom } from '../../support/random.ts';

const DIRECTIONS = [[false, false], [false, true], [true, false], [true, true]] as const;

longTest('books that are not accepted are not read', () => {
  for (const [isDescending, isIdDescending] of DIRECTIONS) {
    const random = createRandom(1);
    const shelf = new OrderHarness('author');
    shelf.change(random, 3000, 0);
    shelf.reads = 0;
    const walk = createWalk(shelf, { isDescending, isIdDescending, from: null });
    assert.equal(walk.next(() => false), WALK_END);
    assert.equal(walk.looks, shelf.order.snapshot().end);
    assert.ok(shelf.reads < 60, `${shelf.reads} books were read`);
  }
});

test('a call takes no more looks than it may', () => {
  const random = createRandom(1);
  const shelf = new OrderHarness('title');
  shelf.change(random, 500, 0);
  for (const [isDescending, isIdDescending] of DIRECTIONS) {
    const walk = createWalk(shelf, { isDescending, isIdDescending, from: null });
    assert.equal(walk.next(() => false, 100), WALK_PAUSE);
    assert.equal(walk.looks, 100);
    assert.equal(walk.next(() => false, 1), WALK_PAUSE);
    assert.equal(walk.looks, 101);
  }
});

function createWalk(
  { order, readBook }: OrderHarness, options: Omit<OrderWalkOptions, 'readBook'>,
): OrderWalk {
  return new OrderWalk(order, { ...options, readBook });
}
