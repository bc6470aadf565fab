import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findTopAuthors, findTopKeywords, findTopOfFacet,
} from '../../../src/books/aggregates/table-answers.ts';
import type { ValueColumn } from '../../../src/books/engine/value-column.ts';
import { joinWords, parseClauses } from '../../../src/books/query/words.ts';
import type { ColumnName } from '../../../src/books/query/book-values.ts';
import { FACETS } from '../../../src/books/query/conditions.ts';
import { createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { changeBooks } from '../../support/changing-catalog.ts';
import { COLUMN_NAMES, createColumn } from '../../support/engine-harness.ts';
import type { FakeCollection } from '../../support/fake-collection.ts';
import { createIndexes } from '../../support/index-all.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveSuggestions } from '../../support/naive-aggregates.ts';
import { createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { randomBeginning, randomBook } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';

type Suggestion = { readonly member: string };

const SEEDS = IS_LONG ? 40 : 2;

test('facets of all books are those of a scan, after any changes', async () => {
  const compared = await checkSources(async ({ catalog, sources, told }) => {
    const indexes = createIndexes(catalog);
    const facets = Object.fromEntries(FACETS.map((facet) => [
      facet.name, runAll(findTopOfFacet(indexes, sources[facet.column], facet, 20)),
    ]));
    const expected = await catalog.ask('facets');
    assert.deepEqual({ total: catalog.collection.size, facets }, expected, told);
    return facets['author']?.length ?? 0;
  });
  assert.ok(compared > 100 * SEEDS, `${compared} values`);
});

test('authors and keywords are found by beginnings as a naive count finds them', async () => {
  const compared = await checkSources(async ({ catalog, sources, random, told }) => {
    const { author, keyword } = sources;
    let suggested = 0;
    for (let count = 0; count < 10; count += 1) {
      const q = randomBeginning(random);
      const words = parseClauses(q, '`q`');
      if (words.length === 0 || joinWords(q) === '') continue;
      // Without titles, so that ten others are found.
      const books = [...catalog.books.values()].map((book) => ({ ...book, title: '-' }));
      const expected = naiveSuggestions(books, q);
      const found = [
        ...runAll(findTopAuthors(author, words, 10)).map((one) => ({ member: 'authors', ...one })),
        ...runAll(findTopKeywords(keyword, joinWords(q), 10))
          .map((one) => ({ member: 'keywords', ...one })),
      ];
      for (const member of ['authors', 'keywords']) {
        const ofMember = (list: readonly object[]): readonly object[] =>
          (list as readonly Suggestion[]).filter((one) => one.member === member);
        assert.deepEqual(ofMember(found), ofMember(expected), `${told}: ${q}`);
      }
      suggested += expected.length;
    }
    return suggested;
  });
  assert.ok(compared > 200 * SEEDS, `${compared} suggestions`);
});

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

type Round = {
  readonly catalog: ReturnType<typeof createAggregateCatalog>;
  readonly sources: ReturnType<typeof createSources>;
  readonly random: Random;
  readonly told: string;
};

/** Changes random catalogs, and calls `check` after each change; resolves to the sum of results. */
async function checkSources(check: (round: Round) => Promise<number>): Promise<number> {
  let sum = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const catalog = createAggregateCatalog(false);
    changeBooks(random, catalog, 50);
    const sources = createSources(catalog.collection);
    for (let round = 0; round < 30; round += 1) {
      changeBooks(random, catalog, 20);
      sum += await check({ catalog, sources, random, told: `seed ${seed}, round ${round}` });
    }
  }
  return sum;
}

/** The columns of the books in a collection, which follow its changes. */
function createSources(collection: FakeCollection): Readonly<Record<ColumnName, ValueColumn>> {
  const sources = createColumns();
  const put = (slot: number): void => {
    for (const column of Object.values(sources)) column.set(slot, collection.bytesAt(slot));
  };
  for (let slot = 0; slot < collection.slotBound; slot += 1) put(slot);
  collection.onChange((_, slot) => put(slot));
  return sources;
}

function createColumns(): Readonly<Record<ColumnName, ValueColumn>> {
  const columns = COLUMN_NAMES.map((name) => [name, createColumn(name)] as const);
  return Object.fromEntries(columns) as Record<ColumnName, ValueColumn>;
}
