import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findTopAuthors, findTopFacets, findTopKeywords,
} from '../../../src/books/aggregates/table-answers.ts';
import { createColumn } from '../../../src/books/engine/columns.ts';
import { createValueTable } from '../../../src/books/engine/value-tables.ts';
import { joinWords, parseClauses } from '../../../src/books/query/words.ts';
import { FACETS } from '../../../src/books/query/query-parameters.ts';
import { createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { changeBooks } from '../../support/changing-catalog.ts';
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
const BYTES_MAX = 2 ** 20;

test('facets of all books are those of a scan, after any changes', async () => {
  const compared = await checkSources(async ({ catalog, sources, told }) => {
    const valuesByFacet = FACETS.map((facet) => [facet, sources[facet]] as const);
    const indexes = createIndexes(catalog);
    const top = runAll(findTopFacets({ indexes, valuesByFacet }, 20));
    const expected = await catalog.ask('facets');
    assert.deepEqual({ total: catalog.collection.size, facets: top }, expected, told);
    return top?.author?.length ?? 0;
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

test('a table that takes too much memory forgets all, and takes no more', () => {
  const table = createValueTable('author', 2000);
  const bytesOf = (index: number): Buffer =>
    Buffer.from(`{"id":"a","title":"b","authors":[{"name":"Author ${index}"}]}`);
  for (let index = 0; index < 5; index += 1) table.add(bytesOf(index));
  assert.equal(table.isTooLarge, false);
  assert.ok(table.bytes > 700 && table.bytes < 2000, `${table.bytes} bytes`);
  for (let index = 0; index < 20; index += 1) table.add(bytesOf(index));
  assert.deepEqual([table.isTooLarge, table.bytes, [...table.valueCounts()]], [true, 0, []]);
  table.remove(bytesOf(1));
});

test('a table without books takes no memory, whatever was in it', () => {
  const random = createRandom(1);
  const books = Array.from({ length: 300 }, (_, index) =>
    Buffer.from(JSON.stringify(randomBook(random, `id-${index}`))));
  for (const name of ['author', 'keyword', 'publisher'] as const) {
    const table = createValueTable(name, BYTES_MAX);
    for (const bytes of books) table.add(bytes);
    assert.ok(table.bytes > 0);
    for (const bytes of books) table.remove(bytes);
    assert.deepEqual([table.bytes, [...table.valueCounts()]], [0, []]);
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

/** What knows the values of the books in a collection, and follows its changes. */
function createSources(collection: FakeCollection) {
  const tables = {
    author: createValueTable('author', BYTES_MAX), keyword: createValueTable('keyword', BYTES_MAX),
    publisher: createValueTable('publisher', BYTES_MAX),
  };
  const columns = {
    inLanguage: createColumn('inLanguage', 0), decade: createColumn('datePublished', 0),
    bookFormat: createColumn('bookFormat', 0),
  };
  const put = (slot: number, before: Buffer | null, after: Buffer | null): void => {
    for (const table of Object.values(tables)) {
      if (after !== null) table.add(after);
      if (before !== null) table.remove(before);
    }
    for (const column of Object.values(columns)) column.set(slot, after ?? undefined);
  };
  for (let slot = 0; slot < collection.slotBound; slot += 1) {
    put(slot, null, collection.bytesAt(slot) ?? null);
  }
  collection.onChange(({ before, after }, slot) => put(slot, before, after));
  return { ...tables, ...columns };
}
