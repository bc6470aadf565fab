import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList } from '../../../src/books/list/book-list.ts';
import { changeBooks, createChangingCatalog } from '../../support/changing-catalog.ts';
import type { ChangingCatalog } from '../../support/changing-catalog.ts';
import { getList, walkPages } from '../../support/list-harness.ts';
import type { ListAnswer } from '../../support/list-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveList, naiveSelect } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { randomFields, randomQuery, searchOf } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 400 : 2;
// The columns, the buffer of the whole and the index.
const LASTING_LISTENERS = 3;

for (const withIndex of [false, true]) {
  const how = withIndex ? 'through the index' : 'by looking at every book';

  test(`any query finds what a naive list finds, ${how}`, async () => {
    let found = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = createRandom(seed);
      const catalog = createCatalog(withIndex);
      const { collection, books, list } = catalog;
      for (let round = 0; round < 25; round += 1) {
        changeBooks(random, catalog, 12);
        const query = randomQuery(random);
        const expected = naiveList([...books.values()], query);
        // The naive list corrects no mistakes: typos.test.ts does.
        const search = searchOf({ ...query, typos: 'off' });
        const told = `seed ${seed}, round ${round}: ${decodeURIComponent(search)}`;
        const all = await getList(list, search);
        assert.deepEqual(ids(all.books), ids(expected), told);
        assert.equal(all.total, expected.length, told);
        assert.deepEqual(all.books, expected, told);
        found += expected.length;
        const limit = 1 + below(random, 8);
        const paged = await walkPages(list, `limit=${limit}&${search}`);
        assert.deepEqual(ids(paged), ids(expected), `limit ${limit}, ${told}`);
        const fields = randomFields(random);
        const selection = await getList(list, `fields=${fields}&${search}`);
        assert.deepEqual(selection.books, expected.map((book) => naiveSelect(book, fields)),
          `fields ${fields}, ${told}`);
        await checkAnyPages(random, list, search, expected, told);
      }
      assert.ok(collection.listenerCount <= LASTING_LISTENERS, 'listeners are given back');
    }
    assert.ok(found > 80 * SEEDS, `${found} books were found`);
  });
}

/** A walk in which each page has a limit and fields of its own. */
async function checkAnyPages(
  random: Random, list: BookList, search: string, expected: readonly NaiveBook[], told: string,
): Promise<void> {
  const found: object[] = [];
  const selections: object[] = [];
  for (let next: string | null = `limit=1&fields=id&${search}`; next !== null;) {
    const fields = randomFields(random);
    next = next.replace(/\blimit=\d+/, `limit=${1 + below(random, 5)}`)
      .replace(/\bfields=[^&]*/, `fields=${fields}`);
    const page: ListAnswer = await getList(list, next);
    const books = expected.slice(found.length, found.length + page.books.length);
    found.push(...page.books);
    selections.push(...books.map((book) => naiveSelect(book, fields)));
    next = page.next;
  }
  assert.equal(found.length, expected.length, told);
  assert.deepEqual(found, selections, told);
}

function createCatalog(withIndex: boolean): ChangingCatalog & { readonly list: BookList } {
  const catalog = createChangingCatalog(withIndex);
  return { ...catalog, list: createBookList(catalog) };
}

function ids(books: readonly NaiveBook[]): string[] {
  return books.map(({ id }) => id);
}
