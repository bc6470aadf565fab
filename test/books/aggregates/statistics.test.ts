import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkChangingCatalogs, createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { NAIVE_STATISTICS, naiveStatistics } from '../../support/naive-aggregates.ts';
import { pick, randomQuery, searchOf } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 40 : 2;

for (const withIndex of [false, true]) {
  const how = withIndex ? 'through the index' : 'by looking at every book';

  test(`statistics of any query are those of a naive count, ${how}`, async () => {
    const options = { seeds: SEEDS, rounds: 25, withIndex };
    const counted = await checkChangingCatalogs(options, async (catalog, random, told) => {
      const { sort: _, ...anyQuery } = randomQuery(random);
      // Most conditions leave few books that are read.
      const query = random() < 0.5 ? anyQuery : {};
      const by = pick(random, NAIVE_STATISTICS);
      // The naive count corrects no mistakes.
      const search = `by=${by}&${searchOf({ ...query, typos: 'off' })}`;
      const answer = await catalog.ask(`statistics?${search}`);
      assert.deepEqual(answer, naiveStatistics([...catalog.books.values()], query, by),
        `${told}: ${decodeURIComponent(search)}`);
      return JSON.stringify(answer).split('"value"').length - 1;
    });
    assert.ok(counted > 50 * SEEDS, `${counted} rows`);
  });
}

test('a mean has two decimals, and only books that are rated count for it', async () => {
  const catalog = createAggregateCatalog(false);
  const ratings = [4, 4.25, 4.25, undefined];
  for (const [index, rating] of ratings.entries()) {
    const reading = { status: 'read', ...rating === undefined ? {} : { rating } };
    catalog.collection.put({ id: `${index}`, title: 'a', authors: [], numberOfPages: 9, reading });
  }
  assert.deepEqual(await catalog.ask('statistics?by=language'), {
    by: 'language', total: 4, rows: [{ value: null, books: 4, pages: 36, meanRating: 4.17 }],
  });
});

const WRONG: readonly (readonly [search: string, message: RegExp])[] = [
  ['', /`by` must be one of year, month, .*, not ""/],
  ['by=years', /did you mean `year`/],
  ['by=year,month', /`by` must be one of/],
  ['by=colour', /decade, not "colour"$/],
  ['by=year&by=month', /`by` stands twice/],
  ['by=year&sort=title', /unknown query parameter `sort`/],
  ['by=year&ratingFrom=x', /`ratingFrom` must be a number/],
];
for (const [search, message] of WRONG) {
  test(`statistics refuse ${search || 'a query without by'}, and say how to mend it`, async () => {
    await assert.rejects(createAggregateCatalog(false).ask(`statistics?${search}`),
      { code: 'malformed', message });
  });
}
