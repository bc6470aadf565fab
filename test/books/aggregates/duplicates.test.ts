import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { checkChangingCatalogs, createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveDuplicates } from '../../support/naive-aggregates.ts';
import { below } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 100 : 4;

for (const by of ['isbn', 'title']) {
  test(`duplicates by ${by} are those that a naive comparison finds`, async () => {
    const options = { seeds: SEEDS, rounds: 10, withIndex: false };
    const found = await checkChangingCatalogs(options, async (catalog, random, told) => {
      // Copies, some of which are other editions.
      for (const book of [...catalog.books.values()].slice(0, 6)) {
        const edition = pick(random, [{}, { bookEdition: '2' }, { bookEdition: '\"é' }]);
        // The metadata come last in what is stored.
        const { metadata: _, ...members } = book;
        const copy = {
          ...members, id: `id-${below(random, 90)}`, title: book.title.toUpperCase(), ...edition,
          metadata: { bookEdition: '3', isbn: '9780441172719' },
        };
        catalog.books.set(copy.id, copy);
        catalog.collection.put(copy);
      }
      const expected = naiveDuplicates([...catalog.books.values()], by);
      assert.deepEqual(await catalog.ask(`duplicates?by=${by}`), expected, told);
      return expected.length;
    });
    assert.ok(found > 10 * SEEDS, `${found} groups`);
  });
}

test('different keys of one hash are no duplicates', async () => {
  const titles = ['plumless', 'buckeroo'];
  assert.equal(new Set(titles.map((title) => crc32(JSON.stringify([title, '', ''])))).size, 1);
  const catalog = createAggregateCatalog(false);
  for (const [index, title] of titles.entries()) {
    catalog.collection.put({ id: `${index}`, title, authors: [] });
  }
  assert.deepEqual(await catalog.ask('duplicates?by=title'), []);
  catalog.collection.put({ id: '2', title: 'Buckeroo', authors: [] });
  assert.deepEqual(await catalog.ask('duplicates?by=title'), [{ books: [
    { id: '1', title: 'buckeroo', authors: [] }, { id: '2', title: 'Buckeroo', authors: [] },
  ] }]);
});

test('a key whose hash is 0 ends the search as any other', async () => {
  const isbn = 'cacaaaaccccacacaccaccaaccacaccccaaaaaaaa';
  assert.equal(crc32(JSON.stringify([isbn, ''])), 0);
  const catalog = createAggregateCatalog(false);
  for (const id of ['1', '2']) catalog.collection.put({ id, title: 'a', authors: [], isbn });
  assert.deepEqual(await catalog.ask('duplicates?by=isbn'),
    [{ books: ['1', '2'].map((id) => ({ id, title: 'a', authors: [], isbn })) }]);
});

test('books that change while the answer is sent are sent as they were found', async () => {
  const catalog = createAggregateCatalog(false);
  const description = 'd'.repeat(20_000);
  const ids = Array.from({ length: 40 }, (_, index) => `id-${index + 10}`);
  const put = (id: string, title: string): void =>
    catalog.collection.put({ id, title, authors: [], description });
  for (const id of ids) put(id, 'a');
  let pieces = 0;
  const answer = await catalog.ask('duplicates?by=title', { destroyed: false }, () => {
    pieces += 1;
    for (const id of ids) put(id, `b ${id}`);
  });
  assert.deepEqual(answer, [{ books: ids.map((id) => ({ id, title: 'a', authors: [] })) }]);
  assert.ok(pieces > 3, `${pieces} pieces`);
});

const WRONG: readonly (readonly [search: string, message: RegExp])[] = [
  ['', /`by` is required: `by=isbn` or `by=title`/],
  ['by=', /`by` must be one of isbn, title, not ""/],
  ['by=author', /`by` must be one of isbn, title, not "author"/],
  ['by=isbn&by=title', /`by` stands twice/],
  ['by=isbn&q=a', /unknown query parameter `q`/],
];
for (const [search, message] of WRONG) {
  test(`duplicates refuse "${search}", and say how to mend it`, async () => {
    await assert.rejects(createAggregateCatalog(false).ask(`duplicates?${search}`),
      { code: 'malformed', message });
  });
}
