import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ValueCounts } from '../../../src/books/aggregates/value-counts.ts';
import { checkChangingCatalogs, createAggregateCatalog } from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { NAIVE_FACETS, naiveFacets, naiveTop } from '../../support/naive-aggregates.ts';
import { pick, randomQuery, searchOf } from '../../support/random-books.ts';
import { below, createRandom } from '../../support/random.ts';

const SEEDS = IS_LONG ? 40 : 2;

for (const withIndex of [false, true]) {
  const how = withIndex ? 'through the index' : 'by looking at every book';

  test(`facets of any query are those of a naive count, ${how}`, async () => {
    const options = { seeds: SEEDS, rounds: 25, withIndex };
    const counted = await checkChangingCatalogs(options, async (catalog, random, told) => {
      const { sort: _, ...query } = randomQuery(random);
      const facets = random() < 0.5 ? NAIVE_FACETS
        : [...new Set([pick(random, NAIVE_FACETS), pick(random, NAIVE_FACETS)])];
      const by = facets === NAIVE_FACETS ? '' : `by=${facets.join(',')}&`;
      // The naive count corrects no mistakes.
      const search = `${by}${searchOf({ ...query, typos: 'off' })}`;
      const answer = await catalog.ask(`facets?${search}`);
      assert.deepEqual(answer, naiveFacets([...catalog.books.values()], query, facets),
        `${told}: ${decodeURIComponent(search)}`);
      return JSON.stringify(answer).split('"value"').length - 1;
    });
    assert.ok(counted > 200 * SEEDS, `${counted} values`);
  });
}

test('a book counts once for a keyword that it spells in two ways, in the commonest', async () => {
  const catalog = createAggregateCatalog(false);
  for (const [index, keywords] of [['War', 'war'], ['war'], ['WAR'], ['peace']].entries()) {
    catalog.collection.put({ id: `${index}`, title: 'a', authors: [], keywords });
  }
  assert.deepEqual(await catalog.ask('facets?by=keyword'), {
    total: 4, facets: { keyword: [{ value: 'war', count: 3 }, { value: 'peace', count: 1 }] },
  });
});

const WRONG: readonly (readonly [search: string, message: RegExp])[] = [
  ['by=colour', /`by` must be some of author, keyword, .*, by commas, not "colour"$/],
  ['by=language', /did you mean `inLanguage`/],
  ['by=', /`by` must be some of/],
  ['by=author,,keyword', /`by` must be some of/],
  ['by=author&by=keyword', /`by` stands twice/],
  ['limit=5', /unknown query parameter `limit`/],
  ['sort=title', /unknown query parameter `sort`/],
  ['isbn=123', /`isbn` must be an ISBN/],
];
for (const [search, message] of WRONG) {
  test(`facets refuse ${search}, and say how to mend it`, async () => {
    await assert.rejects(createAggregateCatalog(false).ask(`facets?${search}`),
      { code: 'malformed', message });
  });
}

type Options = ConstructorParameters<typeof ValueCounts>[0];

/** Passes over the lists as often as the counts need it; tells how often. */
function countAll(lists: readonly (readonly string[])[], options: Options) {
  const counts = new ValueCounts(options);
  let passes = 0;
  do {
    for (const list of lists) {
      counts.add(list);
      if (counts.isFull) for (const _ of counts.split());
    }
    for (const _ of counts.finishShare());
    passes += 1;
  } while (!counts.isDone);
  return { top: counts.top, passes };
}

for (const isCaseless of [false, true]) {
  const how = isCaseless ? ' without regard to case' : '';
  test(`values beyond the memory are counted in passes, as exactly${how}`, () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const random = createRandom(seed);
      const lists = Array.from({ length: 200 }, () => Array.from({ length: below(random, 4) },
        () => `${random() < 0.5 ? 'é' : 'É'}${below(random, 1 + below(random, 200))}`));
      const { top, passes } = countAll(lists, { topMax: 20, isCaseless, bytesMax: 6_000 });
      assert.ok(passes > 1, `${passes} passes`);
      assert.deepEqual(top, naiveTop(lists, isCaseless), `seed ${seed}`);
    }
  });
}

test('far too many values are refused, instead of memory growing without end', () => {
  const lists = Array.from({ length: 500 }, (_, index) => [`value ${index}`]);
  assert.throws(() => countAll(lists, { topMax: 20, bytesMax: 400 }),
    { code: 'unavailable', message: /narrow them down by a filter/ });
});
