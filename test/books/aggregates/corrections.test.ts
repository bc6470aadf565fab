import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askCorrected, checkChangingCatalogs, createAggregateCatalog,
} from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveFacets, naiveSuggestions } from '../../support/naive-aggregates.ts';
import { naiveCorrections } from '../../support/naive-typos.ts';
import { pick } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 40 : 2;
const TIME = '2026-01-01T00:00:00.000Z';
const MISTYPED = ['rivre', 'lodze', 'strasen', 'fictoin', 'river', 'ursla', 'ursula lgu', 'wart'];

test('facets and suggestions are those of the corrected words, as a naive model says', async () => {
  const options = { seeds: SEEDS, rounds: 25, withIndex: true };
  const corrected = await checkChangingCatalogs(options, async (catalog, random, told) => {
    const q = pick(random, MISTYPED);
    const books = [...catalog.books.values()];
    const corrections = naiveCorrections(books, q);
    const correctQ = q.split(' ').map((word) => corrections.get(word) ?? word).join(' ');
    const header = corrections.size === 0
      ? undefined : [...corrections].map((pair) => pair.join('=')).join(', ');
    const search = `q=${encodeURIComponent(q)}`;
    const facets = await askCorrected(catalog, `facets?by=keyword&${search}`);
    assert.deepEqual(facets, {
      body: naiveFacets(books, { q: correctQ }, ['keyword']), corrected: header,
    }, `${told}: ${q}`);
    const suggestions = await askCorrected(catalog, `suggest?${search}`);
    assert.deepEqual(suggestions, {
      body: naiveSuggestions(books, correctQ), corrected: header,
    }, `${told}: ${q}`);
    return corrections.size;
  });
  assert.ok(corrected > 10 * SEEDS, `${corrected} corrections`);
});

for (const [name, empty] of [
  ['facets?by=author&', { total: 0, facets: { author: [] } }], ['suggest?', []],
] as const) {
  test(`${name} leaves words as they are with typos=off`, async () => {
    const catalog = createHarry();
    const answer = await askCorrected(catalog, `${name}q=hary&typos=off`);
    assert.deepEqual(answer, { body: empty, corrected: undefined });
    await assert.rejects(catalog.ask(`${name}q=hary&typos=no`), { message: /must be on or off/ });
  });
}

test('the beginning of a word is no mistake', async () => {
  const { corrected } = await askCorrected(createHarry(), 'suggest?q=harr');
  assert.equal(corrected, undefined);
});

test('facets are corrected whatever filter of their own leaves no book', async () => {
  const answer = await askCorrected(createHarry(), 'facets?by=author&q=hary&author=nobody');
  assert.deepEqual(answer, {
    body: { total: 0, facets: { author: [{ value: 'Harrison', count: 1 }] } },
    corrected: 'hary=harry',
  });
});

function createHarry(): ReturnType<typeof createAggregateCatalog> {
  const catalog = createAggregateCatalog(true);
  catalog.collection.put({
    id: '1', createdAt: TIME, updatedAt: TIME, title: 'harry', authors: [{ name: 'Harrison' }],
  });
  return catalog;
}
