import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTopOfFacet } from '../../../src/books/aggregates/table-answers.ts';
import { FACETS } from '../../../src/books/query/conditions.ts';
import { createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { COLUMN_NAMES, createColumn } from '../../support/engine-harness.ts';
import { createIndexes } from '../../support/index-all.ts';
import { createRandom } from '../../support/random.ts';
import { randomBook } from '../../support/random-books.ts';

test('decades are counted in steps of few dates', () => {
  const column = createColumn('datePublished');
  for (let slot = 0; slot < 12_000; slot += 1) {
    const date = new Date(Date.UTC(1980, 0, slot)).toISOString().slice(0, 10);
    column.set(slot, Buffer.from(`{"id":"${slot}","datePublished":"${date}"}`));
  }
  const [decade] = FACETS.filter(({ name }) => name === 'decade');
  assert.ok(decade !== undefined);
  const indexes = createIndexes(createAggregateCatalog(false));
  let steps = 1;
  const work = findTopOfFacet(indexes, column, decade, 20);
  while (work.next().done !== true) steps += 1;
  assert.ok(steps > 40, `${steps} steps`);
});

test('a column without books knows no value, whatever was in it', () => {
  const random = createRandom(1);
  const books = Array.from({ length: 300 }, (_, index) =>
    Buffer.from(JSON.stringify(randomBook(random, `id-${index}`))));
  for (const name of COLUMN_NAMES) {
    const column = createColumn(name);
    for (const [slot, bytes] of books.entries()) column.set(slot, bytes);
    assert.ok(column.dictionary.bytes > 0);
    for (const slot of books.keys()) column.set(slot, undefined);
    assert.deepEqual([column.dictionary.bytes, [...column.dictionary.valueCounts()]], [0, []]);
  }
});
