import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSortValue } from '../../../src/books/query/sort-keys.ts';
import { IS_LONG } from '../../support/long.ts';
import { ORDER_KEYS, OrderHarness } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

const ROUNDS = IS_LONG ? 40 : 2;
const ID_RANGE = 100_000;

for (const key of ORDER_KEYS) {
  test(`by ${key}, books stand by value, then by id, while they come and go`, () => {
    const random = createRandom(key.length);
    const shelf = new OrderHarness(key);
    for (let round = 0; round < ROUNDS; round += 1) {
      // It grows to thousands of books, shrinks to hardly any, and grows again.
      shelf.change(random, 1500, round % 3 === 2 ? 0.97 : 0.1);
      const sorted = shelf.sorted(key);
      assert.deepEqual(shelf.ids, sorted.map(({ id }) => id), `round ${round}`);
      assert.equal(shelf.size, sorted.length);
    }
    for (const id of shelf.collection.ids.slice()) shelf.delete(id);
    assert.deepEqual([shelf.ids, shelf.size], [[], 0]);
  });

  test(`by ${key}, any value and id has the position that a naive list has`, () => {
    const random = createRandom(key.length);
    const shelf = new OrderHarness(key);
    const { order, collection } = shelf;
    assert.equal(order.slotAt(order.seek(null, null)), -1);
    shelf.change(random, 2500, 0.2);
    const sorted = shelf.sorted(key);
    const values = sorted.map((book) =>
      readSortValue(key, Buffer.from(JSON.stringify(book))));
    const withoutKey = values.indexOf(null);
    const firstWithoutKey = withoutKey < 0 ? sorted.length : withoutKey;
    assert.equal(shelf.countBefore(order.firstWithoutKey()), firstWithoutKey);
    assert.equal(shelf.countBefore(order.end), sorted.length);
    for (let round = 0; round < 200; round += 1) {
      const value = pick(random, values);
      const first = values.indexOf(value);
      const end = values.lastIndexOf(value) + 1;
      assert.equal(shelf.countBefore(order.seek(value, null)), first);
      assert.equal(shelf.countBefore(order.seekAfter(value, null)), end);
      const isThere = random() < 0.5;
      const id = isThere ? sorted[first + below(random, end - first)]?.id ?? ''
        : `id-${below(random, ID_RANGE)}`;
      const same = sorted.slice(first, end);
      const rank = first + same.filter((book) => book.id < id).length;
      const position = order.seek(value, id);
      assert.equal(shelf.countBefore(position), rank);
      assert.equal(collection.idAt(order.slotAt(position)), sorted[rank]?.id);
      assert.equal(shelf.countBefore(order.seekAfter(value, id)),
        first + same.filter((book) => book.id <= id).length);
      const place = order.seekAfter(value, id);
      if (order.slotAt(place) < 0) continue;
      const at = shelf.countBefore(place);
      assert.equal(shelf.countBefore(order.findFirstEqual(place)),
        values.indexOf(values[at] ?? null));
      assert.equal(shelf.countBefore(order.findEqualEnd(place)),
        values.lastIndexOf(values[at] ?? null) + 1);
    }
  });

  test(`by ${key}, a position just past its block is the first one of the next`, () => {
    const shelf = new OrderHarness(key);
    shelf.change(createRandom(key.length), 2500, 0.1);
    const { order } = shelf;
    let looks = 0;
    for (let block = 0; block + 1 < order.end.block; block += 1) {
      const past = { block, position: order.countOf(block) };
      const first = { block: block + 1, position: 0 };
      assert.equal(order.slotAt(past), order.slotAt(first));
      assert.equal(shelf.countBefore(past), shelf.countBefore(first));
      assert.deepEqual(order.findFirstEqual(past), order.findFirstEqual(first));
      assert.deepEqual(order.findEqualEnd(past), order.findEqualEnd(first));
      looks += 1;
    }
    assert.ok(looks > 4, `${looks} blocks`);
  });
}
