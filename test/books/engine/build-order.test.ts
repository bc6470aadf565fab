import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Steps } from '../../../src/base/turns.ts';
import { buildOrder } from '../../../src/books/engine/build-order.ts';
import { createHeadWriter, isWholeText } from '../../../src/books/engine/text-heads.ts';
import { IS_LONG } from '../../support/long.ts';
import { ORDER_KEYS, OrderHarness } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { runAll } from '../../support/turns.ts';

const BOOKS = IS_LONG ? 20_000 : 2000;

for (const key of ORDER_KEYS) {
  test(`by ${key}, the order of all books is what inserting each gives`, () => {
    const random = createRandom(1);
    const shelf = new OrderHarness(key);
    shelf.change(random, BOOKS, 0.1);
    // Long titles that begin alike, of which some are the same.
    for (let count = 0; count < 300; count += 1) {
      const word = pick(random, ['war', 'war\0', 'É', 'wars']);
      const title = `A history of the river and its ${word} ${below(random, 100)}`;
      const id = `id-${below(random, 100_000)}`;
      shelf.put({ ...randomBook(random, id), title, authors: [{ name: title }] });
    }
    const expected = shelf.ids;
    const slots = finish(buildOrder(shelf.collection, key, noneMissed));
    assert.deepEqual(slots.map((slot) => shelf.collection.idAt(slot)), expected);
    shelf.order.replaceAll(Uint32Array.from(slots));
    assert.deepEqual(shelf.ids, expected);
    assert.equal(shelf.size, expected.length);
    shelf.change(random, 500, 0.5);
    const changed = finish(buildOrder(shelf.collection, key, noneMissed));
    assert.deepEqual(listSlots(shelf), changed, 'it can be changed');
  });

  test(`by ${key}, books that change meanwhile are left out, and the others are in order`, () => {
    const random = createRandom(2);
    const shelf = new OrderHarness(key);
    shelf.change(random, 600, 0);
    const staleSlots = new Set<number>();
    shelf.collection.onChange((_, slot) => staleSlots.add(slot));
    const steps = buildOrder(shelf.collection, key, () => BitSet.of(staleSlots));
    const slots = finish(steps, () => {
      if (random() < 0.3) shelf.change(random, 1 + below(random, 3), 0.4);
    });
    const expected = listSlots(shelf);
    assert.deepEqual(slots, expected.filter((slot) => !staleSlots.has(slot)));
    assert.ok(staleSlots.size > 3 && slots.length > 200, `${staleSlots.size}, ${slots.length}`);
  });
}

test('no catalog has an order of no books', () => {
  const shelf = new OrderHarness('title');
  assert.deepEqual(finish(buildOrder(shelf.collection, 'title', noneMissed)), []);
});

test('heads and tails order texts as the texts themselves', () => {
  const random = createRandom(3);
  for (let round = 0; round < 60; round += 1) {
    const texts = Array.from({ length: 200 }, () => randomText(random));
    const splitters = [...new Set(texts.slice(0, below(random, 40)))].sort();
    const write = createHeadWriter(splitters);
    const heads = new Float64Array(texts.length);
    const tails = new Float64Array(texts.length);
    for (const [index, text] of texts.entries()) write(text, heads, tails, index);
    assert.ok([...heads, ...tails].every((number) => Number.isSafeInteger(number) && number >= 0));
    for (let pair = 0; pair < 2000; pair += 1) {
      const [left, right] = [below(random, texts.length), below(random, texts.length)];
      const order = Math.sign((heads[left] ?? 0) - (heads[right] ?? 0))
        || Math.sign((tails[left] ?? 0) - (tails[right] ?? 0));
      const expected = compare(texts[left] ?? '', texts[right] ?? '');
      const told = `${JSON.stringify([texts[left], texts[right]])} ${order}`;
      if (order !== 0 || isWholeText(tails[left] ?? 0)) assert.equal(order, expected, told);
    }
  }
});

function listSlots({ order }: OrderHarness): readonly number[] {
  const slots: number[] = [];
  for (let block = 0; block < order.end.block; block += 1) slots.push(...order.slotsIn(block));
  return slots;
}

/** Texts of few letters, the least and the greatest among them, that often begin alike. */
function randomText(random: Random): string {
  const start = pick(random, ['', 'the ', 'the history of ', 'aaaaaaaaaaaaaaaaaaaaaaaa']);
  return start + Array.from({ length: below(random, 9) }, () =>
    pick(random, ['a', 'b', '\0', '\xff'])).join('');
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function finish(steps: Steps<Uint32Array>, between: () => void = () => {}): readonly number[] {
  return [...runAll(steps, between)];
}

function noneMissed(): BitSet {
  return new BitSet();
}
