import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotOrder } from '../../../src/books/engine/slot-order.ts';
import { readSortValue } from '../../../src/books/query/sort-keys.ts';
import { IS_LONG } from '../../support/long.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { ORDER_KEYS, OrderHarness } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';

const ROUNDS = IS_LONG ? 40 : 2;
const ID_RANGE = 100_000;

for (const key of ORDER_KEYS) {
  test(`by ${key}, books stand by value, then by id, while they come and go`, () => {
    const random = createRandom(key.length);
    const shelf = new OrderHarness(key);
    for (let round = 0; round < ROUNDS; round += 1) {
      // It grows to thousands of books, shrinks to hardly any, and grows again.
      shelf.change(random, 1500, round % 3 === 2 ? 0.97 : 0.1);
      assert.deepEqual(shelf.ids, shelf.sorted(key).map(({ id }) => id), `round ${round}`);
      shelf.isHeld = true;
      shelf.change(random, 200, 0.5);
      assert.deepEqual(shelf.ids, settledIds(shelf, key), `round ${round}, some are pending`);
      shelf.isHeld = false;
      shelf.apply();
      assert.deepEqual(shelf.ids, shelf.sorted(key).map(({ id }) => id), `round ${round}`);
    }
    for (const id of shelf.collection.ids.slice()) shelf.delete(id);
    assert.deepEqual(shelf.ids, []);
  });

  test(`by ${key}, any value and id has the position that a naive list has`, () => {
    const random = createRandom(key.length);
    const shelf = new OrderHarness(key);
    assert.equal(shelf.order.snapshot().end, 0);
    shelf.change(random, 2500, 0.2);
    shelf.isHeld = true;
    for (let round = 0; round < 20; round += 1) {
      shelf.change(random, 20, 0.4);
      checkPositions(shelf, key, random);
      if (random() < 0.2) shelf.apply();
    }
  });

  test(`by ${key}, an order is right whatever changes while it is made, and merged`, () => {
    const random = createRandom(2);
    const shelf = new OrderHarness(key);
    shelf.change(random, 600, 0);
    const pending = new Set<number>();
    const order = new SlotOrder(key, shelf.collection, (slot) =>
      pending.has(slot) ? undefined : shelf.collection.bytesAt(slot));
    shelf.collection.onChange((_, slot) => pending.add(slot));
    const change = (count = 1 + below(random, 3)): void => {
      shelf.change(random, count, 0.4);
      for (const slot of pending) {
        order.set(slot, shelf.collection.bytesAt(slot));
        pending.delete(slot);
      }
    };
    const changeSometimes = (): void => { if (random() < 0.3) change(); };
    runAll(order.prepare(), changeSometimes);
    for (let slot = 0; slot < shelf.collection.slotBound; slot += 1) {
      order.set(slot, shelf.collection.bytesAt(slot));
      if (slot % 50 === 0) change();
    }
    runAll(order.settle(), changeSometimes);
    assert.deepEqual(listSlots(order), shelf.slots);
    for (let round = 0; round < 4; round += 1) {
      for (let count = 0; count < 4; count += 1) change(500);
      const { bytes } = order;
      runAll(order.settle(), changeSometimes);
      assert.deepEqual(listSlots(order), shelf.slots);
      assert.ok(order.bytes < bytes, `${bytes}, then ${order.bytes} bytes`);
    }
  });
}

/** The ids of the books, but those of pending slots, as the order has them. */
function settledIds(shelf: OrderHarness, sort: string): readonly string[] {
  return shelf.sorted(sort).map(({ id }) => id)
    .filter((id) => !shelf.pending.has(shelf.collection.findSlot(id)));
}

function checkPositions(
  shelf: OrderHarness, key: (typeof ORDER_KEYS)[number], random: Random,
): void {
  const { order, collection } = shelf;
  const valueOf = (book: NaiveBook): ReturnType<typeof readSortValue> =>
    readSortValue(key, Buffer.from(JSON.stringify(book)));
  const sorted = shelf.sorted(key);
  const settled = sorted.filter(({ id }) => !shelf.pending.has(collection.findSlot(id)));
  const values = sorted.map(valueOf);
  const settledValues = settled.map(valueOf);
  const seek = (value: (typeof values)[number], id: string | null, wantsEnd: boolean): number =>
    shelf.slotsBefore(order.snapshot().seek({ value, id, wantsEnd }, shelf.readBook)).length;
  for (let round = 0; round < 20; round += 1) {
    const book = pick(random, sorted);
    const value = random() < 0.1 ? null : pick(random, values);
    const rank = settled.filter((_, index) => isBefore(settledValues[index] ?? null, value)).length;
    const same = settled.filter((_, index) => settledValues[index] === value);
    assert.equal(seek(value, null, false), rank);
    assert.equal(seek(value, null, true), rank + same.length);
    const id = random() < 0.5 ? book.id : `id-${below(random, ID_RANGE)}`;
    assert.equal(seek(value, id, false), rank + same.filter((one) => one.id < id).length);
    assert.equal(seek(value, id, true), rank + same.filter((one) => one.id <= id).length);
  }
}

function isBefore(left: string | number | null, right: string | number | null): boolean {
  if (left === null || right === null) return left !== null;
  return left < right;
}

function listSlots(order: SlotOrder): readonly number[] {
  const slots: number[] = [];
  const all = order.snapshot();
  all.findFirst(0, all.end, (slot) => slots.push(slot) < 0);
  return slots;
}
