import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList } from '../../../src/books/list/book-list.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { getList, walkPages } from '../../support/list-harness.ts';
import { IS_LONG } from '../../support/long.ts';
import { naiveFold, naiveList } from '../../support/naive-list.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { naiveCorrections } from '../../support/naive-typos.ts';
import { createIndexes } from '../../support/index-all.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';
import { someTurns } from '../../support/turns.ts';

const SEEDS = IS_LONG ? 40 : 2;
const WORDS = [
  'silent', 'river', 'rivers', 'hobbit', 'harry', 'mountain', 'mountains', 'Éclair', 'Łódź',
  'крепость', 'крепости', '𐌰𐌱𐌲𐌳𐌴', 'warlocks', 'war', 'foundation', 'Strasse', 'c3po', '1984',
];
const LETTERS = [...'aeirstxь𐌱'];

test('a mistyped word becomes the nearest word of the catalog, as a naive model says', async () => {
  let corrected = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const { collection, list } = createCatalog();
    const books = new Map<string, NaiveBook>();
    for (let round = 0; round < 60; round += 1) {
      change(random, collection, books, below(random, 40));
      const q = Array.from({ length: 1 + below(random, 2) }, () =>
        mistype(random, pick(random, WORDS), below(random, 4))).join(' ');
      const told = `seed ${seed}, round ${round}: ${q}`;
      const expected = naiveCorrections([...books.values()], q);
      const answer = await getList(list, `q=${encodeURIComponent(q)}`);
      assert.deepEqual(readCorrections(answer.headers), expected, told);
      const correctQ = q.split(' ').map((word) => expected.get(naiveFold(word)) ?? word).join(' ');
      const matches = naiveList([...books.values()], { q: correctQ });
      assert.deepEqual(answer.books, matches, told);
      corrected += expected.size;
    }
  }
  assert.ok(corrected > 15 * SEEDS, `${corrected} words were corrected`);
});

test('words of authors are corrected among those of authors, beside those of q', async () => {
  let corrected = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const { collection, list } = createCatalog();
    const books = new Map<string, NaiveBook>();
    for (let round = 0; round < 60; round += 1) {
      change(random, collection, books, below(random, 40));
      const word = (): string => mistype(random, pick(random, WORDS), below(random, 3));
      const query = { ...random() < 0.3 ? { q: word() } : {}, author: [word(), word()] };
      const told = `seed ${seed}, round ${round}: ${JSON.stringify(query)}`;
      const search = [...query.q === undefined ? [] : [`q=${encodeURIComponent(query.q)}`],
        ...query.author.map((text) => `author=${encodeURIComponent(text)}`)].join('&');
      const answer = await getList(list, search);
      const { correctedQuery, pairs } = correctNaively([...books.values()], query);
      assert.deepEqual(answer.headers['x-search-corrected'], pairs, told);
      assert.deepEqual(answer.books, naiveList([...books.values()], correctedQuery), told);
      if (pairs !== undefined) corrected += 1;
    }
  }
  assert.ok(corrected > 10 * SEEDS, `${corrected} queries were corrected`);
});

type AuthorQuery = { readonly q?: string; readonly author: readonly string[] };

/** Nothing is corrected where books match. */
function correctNaively(
  books: readonly NaiveBook[], query: AuthorQuery,
): { readonly correctedQuery: AuthorQuery; readonly pairs: string | undefined } {
  if (naiveList(books, query).length > 0) return { correctedQuery: query, pairs: undefined };
  const { q, author } = query;
  const ofWords = naiveCorrections(books, q ?? '');
  const ofAuthors = naiveCorrections(books, author.join(' '), 'author');
  const pairs = [...ofWords, ...ofAuthors].map((pair) => pair.map(encodeURIComponent).join('='));
  return {
    correctedQuery: {
      ...q === undefined ? {} : { q: ofWords.get(naiveFold(q)) ?? q },
      author: author.map((text) => ofAuthors.get(naiveFold(text)) ?? text),
    },
    pairs: pairs.length === 0 ? undefined : [...new Set(pairs)].join(', '),
  };
}

test('a word that begins one of a title is a mistyped author all the same', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'Tolstoi', { authors: [{ name: 'Leo Tolstoy' }] });
  put(collection, 'b', 'Tolstoi', { authors: [{ name: 'Henri Troyat' }] });
  const { books, headers } = await getList(list, 'q=tolstoi&author=tolstoi');
  assert.deepEqual([books.map(({ id }) => id), headers['x-search-corrected']],
    [['a'], 'tolstoi=tolstoy']);
  assert.equal((await getList(list, 'author=tolstoi&typos=off')).total, 0);
  assert.equal((await getList(list, 'publisher=tolstoi')).total, 0);
  const first = await getList(list, 'author=tolstoi&author=troiat&limit=1');
  assert.deepEqual([first.total, first.headers['x-search-corrected']],
    [2, 'tolstoi=tolstoy, troiat=troyat']);
  assert.deepEqual((await walkPages(list, first.next ?? '')).map(({ id }) => id), ['b']);
});

test('a word of seven letters has one mistake, of eight two; of three letters none', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'warlock mountain sea');
  const cases: Readonly<Record<string, string | undefined>> = {
    warlokc: 'warlokc=warlock', warlxxk: undefined, muontian: 'muontian=mountain',
    muontiaan: undefined, se1: undefined, xea: undefined, seaa: 'seaa=sea',
  };
  for (const [q, expected] of Object.entries(cases)) {
    assert.equal((await getList(list, `q=${q}`)).headers['x-search-corrected'], expected, q);
  }
});

test('a list of more books than are held at once is corrected, too, by an index that is made',
  async () => {
    const { collection, list } = createCatalog();
    for (let number = 0; number < 17_000; number += 1) put(collection, `a${number}`, 'harry');
    const { headers, total, books } = await getList(list, 'q=hary');
    assert.deepEqual([headers['x-search-corrected'], total, books.length],
      ['hary=harry', 17_000, 17_000]);
  });

test('several corrections stand in the header, folded and percent-encoded', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'Łódź крепость');
  const answer = await getList(list, `q=${encodeURIComponent('ŁÓDŹZ крипость lodz')}`);
  assert.equal(answer.headers['x-search-corrected'],
    `lodzz=lodz, ${encodeURIComponent('крипость')}=${encodeURIComponent('крепость')}`);
  assert.equal(answer.total, 1);
});

test('later pages have the correction of the first, whatever was written meanwhile', async () => {
  const { collection, list } = createCatalog();
  for (let number = 0; number < 9; number += 1) put(collection, `a${number}`, 'harry');
  const first = await getList(list, 'q=hary&limit=2');
  assert.equal(first.headers['x-search-corrected'], 'hary=harry');
  put(collection, 'b', 'hary');
  const seen = await walkPages(list, first.next ?? '');
  assert.equal(seen.length, 7);
  const { headers } = await getList(list, first.next ?? '');
  assert.equal(headers['x-search-corrected'], 'hary=harry');
  assert.equal((await getList(list, 'q=hary')).total, 1);
});

test('a word that had books on the first page is not corrected when they are gone', async () => {
  const { collection, list } = createCatalog();
  for (const id of ['1', '2', '3']) put(collection, id, 'hary');
  put(collection, '4', 'harry');
  const { next } = await getList(list, 'q=hary&limit=1');
  for (const id of ['1', '2', '3']) collection.delete(id);
  const { books, headers } = await getList(list, next ?? '');
  assert.deepEqual([books, headers['x-search-corrected']], [[], undefined]);
});

test('a word whose last book has left just now is corrected', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'hary');
  put(collection, 'b', 'harry');
  assert.equal((await getList(list, 'q=harry')).total, 1);
  await someTurns();
  collection.delete('a');
  const { headers } = await getList(list, 'q=hary');
  assert.equal(headers['x-search-corrected'], 'hary=harry');
});

test('typos=off leaves words as they are, and its cursors are its own', async () => {
  const { collection, list } = createCatalog();
  for (const id of ['1', '2']) put(collection, id, 'harry');
  const { total, headers } = await getList(list, 'q=hary&typos=off');
  assert.deepEqual([total, headers['x-search-corrected']], [0, undefined]);
  const { next } = await getList(list, 'q=hary&typos=on&limit=1');
  await assert.rejects(getList(list, `${next}`.replace('typos=on', 'typos=off')),
    { message: /another query/ });
  await assert.rejects(getList(list, 'q=hary&typos=no'), { message: /must be on or off/ });
});

test('a program is told of corrections', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'harry');
  assert.deepEqual((await list.list({ q: 'HARY' })).corrections, { hary: 'harry' });
  assert.deepEqual((await list.list({ q: 'hary', typos: 'off' })).corrections, {});
  assert.deepEqual((await list.list()).corrections, {});
});

test('a word that another filter leaves without books is not mistyped', async () => {
  const { collection, list } = createCatalog();
  put(collection, 'a', 'hary', { keywords: ['poetry'] });
  put(collection, 'b', 'harry', { keywords: ['crime'] });
  const { total, headers } = await getList(list, 'q=hary&keyword=crime');
  assert.deepEqual([total, headers['x-search-corrected']], [0, undefined]);
});

test('a book that changes while corrections are looked for keeps its word', async () => {
  const collection = new FakeCollection();
  put(collection, 'a', 'hary');
  put(collection, 'b', 'harry');
  const turns = createTurns(systemClock);
  const indexes = createIndexes({ collection, turns, memtableBooks: 4 });
  indexes.findCorrections = function* () {
    put(collection, 'a', 'hary again');
    yield;
    return new Map([['hary', 'harry']]);
  };
  const list = createBookList({ collection, turns, indexes });
  const answer = await getList(list, 'q=hary&keyword=none');
  assert.equal(answer.headers['x-search-corrected'], undefined);
});

test('without an index there is no correction', async () => {
  const collection = new FakeCollection();
  put(collection, 'a', 'harry');
  const list = createBookList({ collection, turns: createTurns(systemClock), indexes: null });
  assert.equal((await getList(list, 'q=hary')).total, 0);
});

function createCatalog(): { collection: FakeCollection; list: BookList } {
  const collection = new FakeCollection();
  const turns = createTurns(systemClock);
  const indexes = createIndexes({ collection, turns, memtableBooks: 8 });
  return { collection, list: createBookList({ collection, turns, indexes }) };
}

function change(
  random: Random, collection: FakeCollection, books: Map<string, NaiveBook>, count: number,
): void {
  for (let index = 0; index < count; index += 1) {
    const id = `id-${below(random, 90)}`;
    if (random() < 0.4) {
      books.delete(id);
      collection.delete(id);
      continue;
    }
    const word = (): string =>
      mistype(random, pick(random, WORDS), Math.max(0, below(random, 6) - 3));
    const book = createBook(id, `${word()} ${word()}`, {
      authors: random() < 0.5 ? [{ name: word() }] : [],
      ...random() < 0.5 ? { keywords: [word()] } : {},
    });
    books.set(id, book);
    collection.put(book);
  }
}

function mistype(random: Random, word: string, mistakes: number): string {
  const letters = [...word];
  for (let count = 0; count < mistakes; count += 1) {
    const at = below(random, letters.length);
    const kind = below(random, 4);
    if (kind === 0) letters.splice(at, 0, pick(random, LETTERS));
    else if (kind === 1 && letters.length > 3) letters.splice(at, 1);
    else if (kind === 2) letters[at] = pick(random, LETTERS);
    else letters.splice(at, 2, ...letters.slice(at, at + 2).reverse());
  }
  return letters.join('');
}

function readCorrections(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = headers['x-search-corrected']?.split(', ') ?? [];
  return new Map(pairs.map((pair): [string, string] => {
    const [word = '', correction = ''] = pair.split('=').map(decodeURIComponent);
    return [word, correction];
  }));
}

function put(
  collection: FakeCollection, id: string, title: string, members: Partial<NaiveBook> = {},
): void {
  collection.put(createBook(id, title, members));
}

function createBook(id: string, title: string, members: Partial<NaiveBook>): NaiveBook {
  const time = '2026-01-01T00:00:00.000Z';
  return { id, createdAt: time, updatedAt: time, title, authors: [], ...members };
}
