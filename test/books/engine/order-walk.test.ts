import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrderWalk, WALK_END, WALK_PAUSE } from '../../../src/books/engine/order-walk.ts';
import type { OrderWalkOptions } from '../../../src/books/engine/order-walk.ts';
import { readSortValue } from '../../../src/books/query/sort-keys.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { ORDER_KEYS, OrderHarness } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';

const SEEDS = IS_LONG ? 20 : 1;
const WALKS = IS_LONG ? 60 : 6;
const DIRECTIONS = [[false, false], [false, true], [true, false], [true, true]] as const;

for (const key of ORDER_KEYS) {
  for (const [isDescending, isIdDescending] of DIRECTIONS) {
    const sort = `${isDescending ? '-' : ''}${key},${isIdDescending ? '-' : ''}id`;

    test(`a walk by ${sort} gives the accepted books from any place on`, () => {
      const random = createRandom(1);
      const shelf = new OrderHarness(key);
      shelf.change(random, IS_LONG ? 1500 : 600, 0.2);
      const sorted = shelf.sorted(sort);
      for (let round = 0; round < WALKS; round += 1) {
        const accepts = createCondition(random);
        const start = below(random, sorted.length + 1);
        const before = sorted[start - 1];
        const value = before === undefined ? null
          : readSortValue(key, Buffer.from(JSON.stringify(before)));
        const withId = random() < 0.7;
        const first = withId || before === undefined ? start : sorted.findIndex((book) =>
          readSortValue(key, Buffer.from(JSON.stringify(book))) === value);
        const walk = new OrderWalk(shelf.order, {
          isDescending, isIdDescending, readBook: shelf.readBook,
          from: before === undefined ? null : { value, id: withId ? before.id : null },
        });
        const acceptsSlot = (slot: number): boolean => accepts(shelf.collection.idAt(slot) ?? '');
        const readsMax = random() < 0.5 ? 1 + below(random, 9) : Infinity;
        const ids = takeAll(shelf, walk, acceptsSlot, readsMax);
        assert.deepEqual(ids, sorted.slice(first).map(({ id }) => id).filter(accepts));
      }
    });

    test(`a walk by ${sort} gives each lasting book once, whatever comes and goes`, () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        checkChangingWalk(createRandom(seed), key, { isDescending, isIdDescending, from: null });
      }
    });
  }
}

longTest('books that are not accepted are not read', () => {
  for (const [isDescending, isIdDescending] of DIRECTIONS) {
    const random = createRandom(1);
    const shelf = new OrderHarness('author');
    shelf.change(random, 3000, 0);
    shelf.reads = 0;
    const walk = createWalk(shelf, { isDescending, isIdDescending, from: null });
    assert.equal(walk.next(() => false), WALK_END);
    assert.equal(walk.reads, shelf.order.snapshot().end);
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
    assert.equal(walk.reads, 100);
    assert.equal(walk.next(() => false, 1), WALK_PAUSE);
    assert.equal(walk.reads, 101);
  }
});

/** Holds for some ids: all, few or none. */
function createCondition(random: Random): (id: string) => boolean {
  const modulus = 1 + below(random, 12);
  const rest = below(random, modulus);
  return (id) => Number(id.slice(3)) % modulus === rest;
}

function takeAll(
  shelf: OrderHarness, walk: OrderWalk, accepts: (slot: number) => boolean, readsMax: number,
  between: (ids: readonly string[]) => void = () => {},
): readonly string[] {
  const ids: string[] = [];
  for (;;) {
    const slot = walk.next(accepts, readsMax);
    if (slot === WALK_END) return ids;
    if (slot !== WALK_PAUSE) ids.push(shelf.collection.idAt(slot) ?? '');
    between(ids);
  }
}

function createWalk(
  { order, readBook }: OrderHarness, options: Omit<OrderWalkOptions, 'readBook'>,
): OrderWalk {
  return new OrderWalk(order, { ...options, readBook });
}

function checkChangingWalk(
  random: Random, key: (typeof ORDER_KEYS)[number], options: Omit<OrderWalkOptions, 'readBook'>,
): void {
  const shelf = new OrderHarness(key);
  shelf.change(random, 300, 0);
  shelf.isHeld = true;
  shelf.change(random, 20, 0.5);
  const accepts = createCondition(random);
  const lasting = new Map(shelf.books);
  for (const [id] of lasting) {
    if (shelf.pending.has(shelf.collection.findSlot(id))) lasting.delete(id);
  }
  const changed = new Set(shelf.pending);
  shelf.collection.onChange((_, slot) => changed.add(slot));
  const sort = `${options.isDescending ? '-' : ''}${key},${options.isIdDescending ? '-' : ''}id`;
  const order = shelf.sorted(sort).map(({ id }) => id);
  const walk = new OrderWalk(shelf.order, {
    ...options,
    readBook: (slot) => changed.has(slot) ? undefined : shelf.collection.bytesAt(slot),
  });
  const acceptsSlot = (slot: number): boolean =>
    !changed.has(slot) && accepts(shelf.collection.idAt(slot) ?? '');
  const ids = takeAll(shelf, walk, acceptsSlot, 1 + below(random, 20), () => {
    if (random() < 0.3) return;
    shelf.isHeld = random() < 0.5;
    shelf.change(random, 1 + below(random, 4), 0.5);
    for (const [id, book] of lasting) if (shelf.books.get(id) !== book) lasting.delete(id);
  });
  const lastingIds = order.filter((id) => lasting.has(id) && accepts(id));
  assert.deepEqual(ids.filter((id) => lasting.has(id)), lastingIds);
}
