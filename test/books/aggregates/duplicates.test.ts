import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { createTurns } from '../../../src/base/turns.ts';
import {
  checkChangingCatalogs, createAggregateCatalog, createAggregateClient,
} from '../../support/aggregate-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveDuplicates } from '../../support/naive-aggregates.ts';
import { below, createRandom } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 100 : 4;
const RACE_SEEDS = IS_LONG ? 2000 : 60;
const TITLES = ['a', 'b', 'c', 'd'];
const LONG = 'd'.repeat(1000);

type Group = { readonly books: readonly { readonly id: string; readonly title: string }[] };

for (const by of ['isbn', 'title']) {
  test(`duplicates by ${by} are those that a naive comparison finds`, async () => {
    const options = { seeds: SEEDS, rounds: 10, withIndex: false };
    const found = await checkChangingCatalogs(options, async (catalog, random, told) => {
      // Copies, some of which are other editions, or have a subtitle.
      for (const book of [...catalog.books.values()].slice(0, 6)) {
        const edition = pick(random, [{}, { bookEdition: '2' }, { bookEdition: '\"é' }]);
        // The metadata come last in what is stored.
        const { metadata: _, ...members } = book;
        const copy = {
          ...members, id: `id-${below(random, 90)}`, ...edition,
          title: book.title.toUpperCase() + pick(random, ['', '', ': A', ': B']),
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
  assert.equal(new Set(titles.map((title) => crc32(JSON.stringify([title, ''])))).size, 1);
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
  const isbn = 'aaccccacaacacccccaaaccacccaaccaaaaaaaaaa';
  assert.equal(crc32(isbn), 0);
  const catalog = createAggregateCatalog(false);
  for (const id of ['1', '2']) catalog.collection.put({ id, title: 'a', authors: [], isbn });
  assert.deepEqual(await catalog.ask('duplicates?by=isbn'),
    [{ books: ['1', '2'].map((id) => ({ id, title: 'a', authors: [], isbn })) }]);
});

test('a book without an edition is there twice beside one that has one, by its ISBN and title',
  async () => {
    const catalog = createAggregateCatalog(false);
    const isbn = '9780441172719';
    const editions = [undefined, '1st', '2nd', undefined, '1st'];
    for (const [id, bookEdition] of editions.entries()) {
      catalog.collection.put({ id: String(id), title: 'Dune', authors: [], isbn, ...bookEdition
        === undefined ? {} : { bookEdition } });
    }
    for (const by of ['isbn', 'title']) {
      assert.deepEqual(await listIds(catalog, by), [['0', '1', '3', '4']], by);
    }
  });

test('a title is there twice beside the same with a subtitle, two subtitles are two books',
  async () => {
    const catalog = createAggregateCatalog(false);
    const titles = ['Sapiens: A Brief History', 'SAPIENS', 'Sapiens : a brief history',
      'Sapiens: A Graphic History', 'Sapiens', '2001:', '2001'];
    for (const [id, title] of titles.entries()) {
      catalog.collection.put({ id: String(id), title, authors: [] });
    }
    assert.deepEqual(await listIds(catalog, 'title'), [['0', '1', '2', '4']]);
  });

async function listIds(
  catalog: ReturnType<typeof createAggregateCatalog>, by: string,
): Promise<readonly (readonly string[])[]> {
  const groups = await catalog.ask(`duplicates?by=${by}`) as readonly Group[];
  return groups.map(({ books }) => books.map(({ id }) => id));
}

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

test('a group of which fewer than two books could be kept is left out', async () => {
  const catalog = createAggregateCatalog(false);
  const description = 'd'.repeat(2 ** 20);
  // Each group has a book that stays, and one that changes.
  const put = (group: number, book: string, title: string): void =>
    catalog.collection.put({ id: `id-${group}-${book}`, title, authors: [], description });
  for (let group = 10; group < 30; group += 1) {
    for (const book of ['a', 'b']) put(group, book, `t ${group}`);
  }
  let isChanged = false;
  const answer = await catalog.ask('duplicates?by=title', { destroyed: false }, () => {
    for (let group = 10; !isChanged && group < 30; group += 1) put(group, 'b', `new ${group}`);
    isChanged = true;
  });
  assert.ok(Array.isArray(answer) && answer.length > 5 && answer.length < 20);
  for (const { books } of answer) assert.equal(books.length, 2);
});

test('whatever is written while groups are found, each has two books of one key or more',
  async () => {
    let found = 0;
    for (let seed = 1; seed <= RACE_SEEDS; seed += 1) {
      const random = createRandom(seed);
      const catalog = createAggregateCatalog(false);
      const { collection } = catalog;
      const unchanged = new Map<string, string>();
      const write = (): void => {
        const id = `id-${below(random, 60)}`;
        unchanged.delete(id);
        if (random() < 0.4) collection.delete(id);
        else collection.put({ id, title: pick(random, TITLES), authors: [], description: LONG });
      };
      for (let index = 0; index < 200; index += 1) write();
      for (const id of collection.ids) {
        unchanged.set(id, JSON.parse(String(collection.findBytes(id))).title);
      }
      let writesLeft = 120;
      let nowMs = 0;
      // Each look at the clock ends a turn, and somebody writes before the next.
      const turns = createTurns({ monotonicMs: () => nowMs += 10 }, (next) => {
        setImmediate(() => {
          for (; writesLeft > 0 && random() < 0.7; writesLeft -= 1) write();
          next();
        });
      });
      const ask = createAggregateClient({ ...catalog, turns });
      const groups = await ask('duplicates?by=title') as readonly Group[];
      for (const { books } of groups) {
        const told = `seed ${seed}: ${JSON.stringify(books)}`;
        assert.ok(books.length > 1, told);
        assert.equal(new Set(books.map(({ title }) => title)).size, 1, told);
      }
      for (const title of TITLES) {
        const ids = [...unchanged].filter(([, one]) => one === title).map(([id]) => id);
        if (ids.length < 2) continue;
        const group = groups.find(({ books }) => books.some(({ id }) => id === ids[0]));
        const sent = group?.books.map(({ id }) => id).filter((id) => ids.includes(id));
        assert.deepEqual(sent?.toSorted(), ids.toSorted(), `seed ${seed}`);
        found += ids.length;
      }
    }
    assert.ok(found > 2 * RACE_SEEDS, `${found} books`);
  });

test('to pass over books that could not be kept gives others turns', async () => {
  const catalog = createAggregateCatalog(false);
  const ids = Array.from({ length: 20_000 }, (_, index) => `id-${index + 10_000}`);
  // Copies of the first four fill the memory for them.
  for (const [index, id] of ids.entries()) {
    const description = 'd'.repeat(index < 4 ? 2 ** 21 - 200 : 700);
    catalog.collection.put({ id, title: `${index >> 1}`, authors: [], description });
  }
  let turns = 0;
  let pieces = 0;
  let isDone = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(countTurn);
  };
  await catalog.ask('duplicates?by=title', { destroyed: false }, () => {
    pieces += 1;
    if (pieces > 1) return;
    for (const id of ids) catalog.collection.delete(id);
    countTurn();
  });
  isDone = true;
  assert.ok(turns > pieces + 5, `${turns} turns for ${pieces} pieces`);
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
