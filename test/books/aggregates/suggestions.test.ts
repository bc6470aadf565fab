import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkChangingCatalogs, createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveSuggestions } from '../../support/naive-aggregates.ts';
import { randomBeginning } from '../../support/random-books.ts';

const TIME = '2026-01-01T00:00:00.000Z';
const STAMPS = { createdAt: TIME, updatedAt: TIME };
const SEEDS = IS_LONG ? 40 : 2;

for (const withIndex of [false, true]) {
  const how = withIndex ? 'through the index' : 'by looking at every book';

  test(`suggestions for any beginning are those of a naive count, ${how}`, async () => {
    const options = { seeds: SEEDS, rounds: 40, withIndex };
    const suggested = await checkChangingCatalogs(options, async (catalog, random, told) => {
      const q = randomBeginning(random);
      const expected = naiveSuggestions([...catalog.books.values()], q);
      assert.deepEqual(await catalog.ask(`suggest?typos=off&q=${encodeURIComponent(q)}`), expected,
        `${told}: ${q}`);
      return expected.length;
    });
    assert.ok(suggested > 80 * SEEDS, `${suggested} suggestions`);
  });
}

test('titles and keywords are suggested by their beginning, authors by any word', async () => {
  const catalog = createAggregateCatalog(false);
  const books = [
    { title: '"Harry" Potter', authors: [{ name: 'J. Harkness' }], keywords: ['Harbour', 'a har'] },
    { title: 'Prince Harry', authors: [{ name: 'Thomas Hardy' }], keywords: ['harbour'] },
    { title: 'Jude', authors: [{ name: 'Thomas Hardy' }, { name: 'Richard' }] },
  ];
  for (const [index, book] of books.entries()) {
    catalog.collection.put({ id: `${index}`, ...STAMPS, ...book });
  }
  assert.deepEqual(await catalog.ask('suggest?q=HÁR'), [
    { member: 'keywords', value: 'Harbour', count: 2 },
    { member: 'authors', value: 'Thomas Hardy', count: 2 },
    { member: 'title', value: '"Harry" Potter', count: 1 },
    { member: 'authors', value: 'J. Harkness', count: 1 },
  ]);
});

test('at most ten are suggested, those of most books first, ties by code point', async () => {
  const catalog = createAggregateCatalog(false);
  for (let index = 0; index < 30; index += 1) {
    catalog.collection.put({ id: `${index}`, ...STAMPS, title: `war ${index % 20}`, authors: [] });
  }
  const answer = await catalog.ask('suggest?q=war');
  assert.deepEqual(answer, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) =>
    ({ member: 'title', value: `war ${number}`, count: 2 })));
});

for (const withIndex of [false, true]) {
  test(`a sign within a word begins nothing, index: ${withIndex}`, async () => {
    const catalog = createAggregateCatalog(withIndex);
    catalog.collection.put({ id: '1', ...STAMPS, title: 'C#', authors: [], keywords: ['C#b'] });
    const expected = [{ member: 'title', value: 'C#', count: 1 }];
    // The index is made after the first answer.
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await catalog.ask('suggest?q=c%23'), expected);
    }
  });
}

test('punctuation alone begins nothing', async () => {
  const catalog = createAggregateCatalog(false);
  catalog.collection.put({ id: '1', title: '"', authors: [] });
  assert.deepEqual(await catalog.ask('suggest?q=%22'), []);
});

const WRONG: readonly (readonly [search: string, message: RegExp])[] = [
  ['', /`q` must not be empty: give it the beginning of a title/],
  ['q=', /`q` must not be empty/],
  ['q=+%20', /`q` must not be empty/],
  ['q=a&q=b', /`q` stands twice/],
  ['q=a&author=b', /unknown query parameter `author`/],
  [`q=${Array.from({ length: 70 }, (_, index) => index).join('+')}`, /at most 64 words/],
];
for (const [search, message] of WRONG) {
  test(`suggestions refuse "${search.slice(0, 20)}", and say how to mend it`, async () => {
    await assert.rejects(createAggregateCatalog(false).ask(`suggest?${search}`),
      { code: 'malformed', message });
  });
}
