import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BitSet } from '../../../src/base/structures/bit-set.ts';
import { createValueCheck } from '../../../src/books/query/book-filter.ts';
import type { ValueCondition } from '../../../src/books/query/book-filter.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { createColumn } from '../../support/engine-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';
import { numbersOf } from '../../support/bit-numbers.ts';

type Books = (Buffer | undefined)[];

// More than a block of slots, so that some blocks come while books are put.
const SLOTS = 5000;
const SEARCHES = [
  'inLanguage=en', 'inLanguage=EN-gb', 'inLanguage=en&inLanguage=pl', 'inLanguage=*',
  'inLanguage=fr', 'inLanguage=zh-Hant', 'bookFormat=EBook', 'bookFormat=GraphicNovel',
  'bookFormat=EBook&bookFormat=Hardcover', 'hasIsbn=true', 'hasIsbn=false', 'publishedFrom=1960',
  'publishedTo=1960', 'publishedFrom=1960&publishedTo=1960', 'publishedFrom=1960-05',
  'publishedTo=1960-05-17', 'publishedTo=1960-05-31', 'publishedTo=1960-12-31',
  'publishedFrom=1960-01-01', 'publishedFrom=1960-05-01', 'publishedFrom=1960-01',
  'publishedTo=1960-02-29', 'publishedFrom=1960-01-01&publishedTo=1960-06-30',
  'publishedFrom=0999-12-31&publishedTo=1961',
  'publishedFrom=1961&publishedTo=1960', 'inLanguage=xa&inLanguage=xb',
];

test('a match that takes several steps is right about every slot that is not set meanwhile', () => {
  const random = createRandom(2);
  for (let round = 0; round < 20; round += 1) {
    const search = pick(random, SEARCHES);
    const condition = pick(random, conditionsOf(search));
    const column = createColumn(condition.row.column ?? 'hasIsbn');
    const books: Books = [];
    const put = (slot: number): void => {
      books[slot] = randomBytes(random);
      column.set(slot, books[slot]);
    };
    for (let slot = 0; slot < 3 * SLOTS; slot += 1) put(slot);
    // Two at a time, and the changes are among what they leave behind for the third.
    const matches = [column.match(condition), column.match(condition)]
      .map((steps) => ({ steps, step: steps.next() }));
    const changedSlots = new Set<number>();
    for (let count = 0; count < 500; count += 1) {
      const slot = below(random, 4 * SLOTS);
      changedSlots.add(slot);
      put(slot);
    }
    const expected = slotsOf(books, condition);
    for (const { steps, step } of matches) {
      const found = step.done === true ? step.value : runAll(steps);
      const unchanged = numbersOf(found).filter((slot) => !changedSlots.has(slot));
      assert.deepEqual(unchanged, expected.filter((slot) => !changedSlots.has(slot)), search);
    }
    assert.deepEqual(numbersOf(runAll(column.match(condition))), expected, search);
  }
});

test('a column of many languages finds each, whether its code takes one byte or two', () => {
  const column = createColumn('inLanguage');
  const put = (slot: number, inLanguage: string): void =>
    column.set(slot, Buffer.from(`{"id":"${slot}","inLanguage":"${inLanguage}"}`));
  const match = (tag: string): BitSet => {
    const [condition] = conditionsOf(`inLanguage=${tag}`);
    assert.ok(condition !== undefined);
    return runAll(column.match(condition));
  };
  for (let slot = 0; slot < 4000; slot += 1) put(slot, `en-x-${slot % 1000}`);
  assert.deepEqual(numbersOf(match('en-x-7')), [7, 1007, 2007, 3007]);
  assert.equal(match('en').count(), 4000);
  // Values that no book has any more give their codes to others, which match other conditions.
  for (let slot = 0; slot < 4000; slot += 1) put(slot, `de-x-${slot % 1000}`);
  assert.equal(match('en').count(), 0);
  assert.equal(match('de').count(), 4000);
  assert.ok(column.bytes < 500_000, `${column.bytes} bytes`);
});

const bookRandom = createRandom(3);
const ALL_BYTES = Array.from({ length: 1000 }, () =>
  Buffer.from(JSON.stringify(randomBook(bookRandom, 'id'))));

function conditionsOf(search: string): readonly ValueCondition[] {
  return parseBookQuery(search).filter.values;
}

/** A book, or none. */
function randomBytes(random: Random): Buffer | undefined {
  return random() < 0.2 ? undefined : pick(random, ALL_BYTES);
}

function slotsOf(books: Books, condition: ValueCondition): readonly number[] {
  const check = createValueCheck({ words: [], values: [condition] });
  const slots: number[] = [];
  for (const [slot, bytes] of books.entries()) {
    if (bytes !== undefined && check(bytes)) slots.push(slot);
  }
  return slots;
}
