import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { IndexHost } from '../../../src/books/index/index-host.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import type { BookList, BookListExplanation } from '../../../src/books/list/book-list.ts';
import type { Exchange } from '../../../src/server/http-route.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { getList, walkPages } from '../../support/list-harness.ts';
import type { NaiveBook } from '../../support/naive-list.ts';
import { createIndexes, indexAll } from '../../support/index-all.ts';

const BOOKS: readonly NaiveBook[] = [
  book('a', 'the Left Hand of Darkness', {
    authors: [{ name: 'Ursula K. Le Guin' }], isbn: '9780441478125', datePublished: '1969-03',
    inLanguage: 'en', keywords: ['Science Fiction', 'gender'], publisher: 'Ace "Books"',
    bookFormat: 'Paperback',
  }),
  book('b', 'Élan', {
    subtitle: 'Poésie complète', authors: [{ name: 'José Bové' }, { name: 'Ann Lee' }],
    datePublished: '1969', inLanguage: 'fr-CA', keywords: ['Poésie'], publisher: 'Éditions Ace',
    bookFormat: 'EBook',
  }),
  book('c', 'elan', { datePublished: '1969-03-31', inLanguage: 'fr' }),
  book('d', 'Zorba', { authors: [{ name: 'Νίκος Καζαντζάκης' }], datePublished: '1946' }),
  book('e', '東京物語', { inLanguage: 'ja', isbn: '9780441172719', keywords: ['fiction', '1984'] }),
  book('f', 'Łódź 1984', { datePublished: '1970-01-01', inLanguage: 'frm' }),
];

const CASES: readonly (readonly [search: string, ids: string])[] = [
  ['', 'abcdef'],
  ['q=left', 'a'],
  ['q=poesie', 'b'],
  ['q=guin+left', 'a'],
  ['q=978', 'ae'],
  ['q=nothing', ''],
  ['author=le', 'ab'],
  ['author=left', ''],
  ['author=jose+lee', 'b'],
  ['isbn=0-441-17271-7', 'e'],
  ['inLanguage=fr', 'bc'],
  ['inLanguage=f', ''],
  ['inLanguage=*', 'abcef'],
  ['keyword=SCIENCE+fiction', 'a'],
  ['keyword=po%C3%A9sie', 'b'],
  ['keyword=poesie', ''],
  ['publishedFrom=1969-03', 'acf'],
  ['publishedTo=1969-03', 'acd'],
  ['publishedFrom=1969&publishedTo=1969', 'abc'],
  ['sort=-id', 'fedcba'],
  ['sort=-title', 'edafbc'],
  ['sort=-datePublished', 'fcabde'],
  ['sort=updatedAt', 'fedcba'],
  ['q=e&inLanguage=fr&sort=-datePublished', 'cb'],
  // Any of several values, and all of several parameters.
  ['author=guin&author=nikos', 'a'],
  ['author=guin&author=%CE%BD%CE%B9%CE%BA%CE%BF%CF%83', 'ad'],
  ['author=guin&author=', 'a'],
  ['publisher=ace', 'ab'],
  ['publisher=', 'abcdef'],
  ['isbn=9780441172719&isbn=0-441-47812-3', 'ae'],
  ['hasIsbn=true', 'ae'],
  ['hasIsbn=false', 'bcdf'],
  ['inLanguage=en&inLanguage=fr', 'abc'],
  ['bookFormat=EBook&bookFormat=Paperback', 'ab'],
  ['keyword.not=fiction', 'abcdf'],
  // Several keys.
  ['sort=author', 'badcef'],
  ['sort=-author', 'dabcef'],
  ['sort=-author,title', 'dabcfe'],
  ['sort=datePublished,author,title,-id', 'dbacfe'],
];

for (const withIndex of [false, true]) {
  for (const [search, expected] of CASES) {
    const how = withIndex ? 'with the index' : 'without';
    test(`?${decodeURIComponent(search)} gives “${expected}”, ${how}`, async () => {
      const { list } = createList(withIndex);
      const { status, books, total, next } = await getList(list, search);
      assert.equal(status, 200);
      assert.equal(ids(books), expected);
      assert.equal(total, expected.length);
      assert.equal(next, null, 'no Link without a limit');
      const pages = await walkPages(list, `${search}&limit=2`);
      assert.equal(ids(pages), expected);
    });
  }
}

test('an answer says what it is, how many match and where the next page is', async () => {
  const { list } = createList();
  const first = await getList(list, 'limit=2&q=l%26%3E&sort=title&inLanguage=*');
  assert.deepEqual(Object.keys(first.headers), ['content-type', 'x-total-count', 'vary', 'link']);
  assert.equal(first.headers['content-type'], 'application/json');
  assert.equal(first.total, 3);
  const next = first.next ?? '';
  assert.match(next, /^limit=2&q=l%26%3E&sort=title&inLanguage=\*&cursor=[A-Za-z0-9_-]+$/);
  const second = await getList(list, next);
  assert.equal(second.total, 3, 'the count is of all pages');
  assert.equal(second.books.length, 1);
  assert.equal(second.next, null);
  const rest = await getList(list, next.replace('limit=2&', ''));
  assert.deepEqual(rest.books, second.books, 'a cursor without limit gives all the rest');
  await assert.rejects(getList(list, next.replace('sort=title', 'sort=-title')), {
    code: 'malformed', message: /another query/,
  });
});

test('the count is of all pages where a page in id order goes on behind a cursor', async () => {
  const { list } = createList();
  const first = await getList(list, 'limit=1&inLanguage=fr');
  const second = await getList(list, first.next ?? '');
  assert.deepEqual([first.total, second.total], [2, 2]);
  assert.deepEqual([ids(first.books), ids(second.books), second.next], ['b', 'c', null]);
});

test('a page that ends with the last book has no next', async () => {
  const { list } = createList();
  assert.notEqual((await getList(list, 'limit=5')).next, null);
  assert.equal((await getList(list, 'limit=6')).next, null);
  assert.equal((await getList(list, 'limit=1000')).next, null);
});

test('the whole collection asked for again is the same, and never older than a write', async () => {
  const { list, collection } = createList();
  const texts: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const { text, total, headers } = await getList(list, '');
    texts.push(text);
    assert.equal(total, 6);
    assert.equal(headers['content-length'] === undefined, round === 0, 'kept from the second on');
    if (round > 0) assert.equal(Number(headers['content-length']), Buffer.byteLength(text));
  }
  assert.equal(new Set(texts).size, 1);
  assert.equal(collection.listenerCount, 1);
  collection.put(book('g', 'new', {}));
  assert.equal(collection.listenerCount, 0, 'a write ends it');
  for (let round = 0; round < 3; round += 1) {
    assert.equal(ids((await getList(list, '')).books), 'abcdefg');
  }
  collection.delete('a');
  assert.equal(ids((await getList(list, '')).books), 'bcdefg');
});

test('fields are members of the answer, in the order of the model', async () => {
  const { list } = createList();
  const [first] = (await getList(list, 'fields=keywords,title,subtitle&limit=1')).books;
  assert.deepEqual(Object.keys(first ?? {}), ['id', 'title', 'keywords']);
  for (let round = 0; round < 3; round += 1) {
    const { text, headers, total } = await getList(list, 'fields=isbn');
    const expected = BOOKS.map(({ id, isbn }) => JSON.stringify({ id, isbn }));
    assert.equal(text, `[${expected.join(',\n')}]\n`);
    assert.equal(headers['content-length'], undefined);
    assert.equal(total, 6);
    await getList(list, '');
  }
  const page = await getList(list, 'fields=id&limit=2&sort=-title');
  assert.equal(page.text, '[{"id":"e"},\n{"id":"d"}]\n');
  assert.match(page.next ?? '', /^fields=id&limit=2&sort=-title&cursor=/);
});

test('the link to the next page repeats all values', async () => {
  const { list } = createList();
  const { next } = await getList(list, 'keyword=1984&limit=1&keyword=gender&keyword.not=a%26b');
  assert.match(next ?? '', /^keyword=1984&keyword=gender&limit=1&keyword\.not=a%26b&cursor=/);
  assert.equal(ids((await getList(list, next ?? '')).books), 'e');
});

test('an empty collection is an empty array', async () => {
  const { list, collection } = createList();
  for (const id of [...collection.ids]) collection.delete(id);
  for (const search of ['', 'limit=5', 'sort=title', 'q=a', 'sort=title&inLanguage=en']) {
    const answer = await getList(list, search);
    assert.deepEqual([JSON.parse(answer.text), answer.total, answer.next], [[], 0, null], search);
  }
});

test('what is found is sent as it was found, whatever is written meanwhile', async () => {
  for (const search of ['sort=title', 'inLanguage=*&sort=-id', 'sort=updatedAt&publishedTo=2000']) {
    const { list, collection } = createList();
    const expected = (await getList(list, search)).books;
    let isFirst = true;
    // Long descriptions, so that the answer is more than one piece.
    for (const one of BOOKS) collection.put({ ...one, description: 'x'.repeat(30_000) });
    const betweenPieces = (): void => {
      if (!isFirst) return;
      isFirst = false;
      for (const one of BOOKS) {
        if (one.id < 'd') collection.put({ ...one, title: 'changed' });
        else collection.delete(one.id);
      }
      collection.put(book('g', 'new', {}));
    };
    const answer = await getList(list, search, { betweenPieces });
    assert.equal(ids(answer.books), ids(expected), search);
    assert.equal(answer.total, answer.books.length);
    assert.deepEqual(answer.books.filter(({ title }) => title === 'changed'), []);
    assert.ok(collection.listenerCount <= 1, 'only the columns listen on');
  }
});

test('a page in id order looks at its own books only', async () => {
  const { list, collection } = createList();
  const { next } = await getList(list, 'limit=2');
  let looks = 0;
  collection.onRead = () => { looks += 1; };
  const page = await getList(list, next ?? '');
  assert.equal(ids(page.books), 'cd');
  assert.equal(looks, 3, 'one more shows that there is more');
});

test('a client that leaves ends the search for its answer', async () => {
  const { list, collection } = createList();
  const response = { destroyed: true };
  for (const search of ['sort=title', 'sort=title&limit=2', 'q=left']) {
    await assert.rejects(getList(list, search, { response }), { code: 'timeout' });
  }
  assert.ok(collection.listenerCount <= 1, 'only the indexes listen on');
});

test('a client that leaves while a writer is shown the books ends that', async () => {
  const collection = new FakeCollection();
  for (let number = 1000; number < 5000; number += 1) {
    collection.put({ id: `id-${number}`, title: `${number}` });
  }
  const list = createBookList({ collection, turns: createTurns(systemClock), indexes: null });
  const response = { destroyed: false };
  let shown = 0;
  const writer = {
    prepare: (books: readonly Buffer[]) => {
      shown += books.length;
      response.destroyed = shown > 100;
    },
    begin: () => '', write: () => '', end: () => '',
  };
  const exchange = { search: '', response, route: { path: '/api/books' } };
  await assert.rejects(
    async () => list.sendAs(exchange as unknown as Exchange, { headers: [], writer }),
    { code: 'timeout' });
  assert.ok(shown < 1000, `${shown} books`);
});

test('a program gets books, their number and the cursor', async () => {
  const { list } = createList();
  const first = await list.list({ limit: 2, sort: '-id' });
  assert.deepEqual([first.books.map(({ id }) => id), first.total], [['f', 'e'], 6]);
  const second = await list.list({ limit: 9, sort: '-id', cursor: first.cursor ?? '' });
  assert.deepEqual(second.books, BOOKS.slice(0, 4).toReversed());
  assert.equal(second.cursor, null);
  assert.deepEqual((await list.list()).books, BOOKS);
  assert.deepEqual((await list.list({ sort: 'title' })).total, 6);
  await assert.rejects(list.list({ limit: 0 }), { code: 'malformed' });
  const several = await list.list({ keyword: ['gender', '1984'], fields: 'title' });
  assert.deepEqual(several.books, [
    { id: 'a', title: 'the Left Hand of Darkness' }, { id: 'e', title: '東京物語' },
  ]);
});

const PLANS: readonly (readonly [search: string, plan: string, reason: string, total: number])[] = [
  ['', 'whole', 'all 6 books are asked for in the order of their ids, in which they are stored', 6],
  ['limit=2', 'page-by-id', 'all 6 books match, and in the order of ids none is read but those of '
    + 'the page', 6],
  ['limit=2&sort=title', 'scan', 'there is no index by title yet', 6],
  ['inLanguage=fr', 'scan', 'no index is of use: all 6 books are read', 2],
  ['q=elan&sort=title&limit=1', 'sorted-matches',
    '2 of 6 match, and there is no index by title yet', 2],
  ['q=elan&inLanguage=fr', 'scan-candidates',
    'the indexes say that 2 of 6 books may match: only these are read', 2],
];

for (const [search, plan, reason, total] of PLANS) {
  test(`?${search} is explained as ${plan}`, async () => {
    const { list, collection, indexes } = createList();
    if (search.startsWith('q=') && indexes !== null) indexAll(indexes);
    const explained = await explain(list, `${search}&explain=true`);
    assert.deepEqual(explained.body, { plan, reason, total, ms: explained.body.ms });
    assert.ok(explained.body.ms >= 0);
    const asksIndex = /q=|sort=|inLanguage=/.test(search);
    assert.equal(collection.listenerCount, asksIndex ? 1 : 0, 'the indexes alone');
  });
}

test('an explained query is the same query: its cursor, its corrections, its errors', async () => {
  const { list } = createList();
  const page = await getList(list, 'q=1984&limit=1&sort=title&explain=false');
  const { body } = await explain(list, (page.next ?? '').replace('false', 'true'));
  // The order by title is made meanwhile.
  assert.match(body.plan, /^(?:sorted-matches|order-walk)$/);
  assert.equal(body.total, 2);
  const corrected = await explain(list, 'q=darkmess&explain=true');
  assert.deepEqual(corrected.headers,
    ['X-Search-Corrected', 'darkmess=darkness', 'Vary', 'Accept']);
  assert.equal(corrected.body.total, 1);
  await assert.rejects(explain(list, 'explain=true&limit=0'), { code: 'malformed' });
  await assert.rejects(explain(list, 'explain=yes'), {
    code: 'malformed', message: '`explain` must be true or false, not "yes"',
  });
});

test('the time of an explained query is that from its parameters to its books', async () => {
  let nowMs = 5;
  const clock = { monotonicMs: () => nowMs };
  const collection = new FakeCollection();
  for (const one of BOOKS) collection.put(one);
  collection.onRead = () => { nowMs += 0.25; };
  const list = createBookList({
    collection, turns: createTurns(systemClock), indexes: null, clock,
  });
  assert.equal((await list.explain({ sort: 'title', limit: 2 })).ms, 1.5);
});

test('who may not have a query explained is refused, and gets books', async () => {
  const collection = new FakeCollection();
  const list = createBookList({
    collection, turns: createTurns(systemClock), indexes: null,
    checkExplainer: () => { throw new AppError('forbidden', 'not you'); },
  });
  let reads = 0;
  collection.onRead = () => { reads += 1; };
  for (const one of BOOKS) collection.put(one);
  await assert.rejects(explain(list, 'explain=true&sort=title'), { code: 'forbidden' });
  assert.equal(reads, 0);
  assert.equal((await getList(list, 'explain=false')).status, 200);
});

test('a program has a query explained by a call of its own', async () => {
  const { list } = createList();
  const { plan, total } = await list.explain({ q: 'elan', sort: 'title' });
  assert.deepEqual([plan, total], ['sorted-matches', 2]);
  assert.equal((await list.explain()).plan, 'whole');
  const query: object = { explain: true };
  await assert.rejects(list.list(query), {
    code: 'malformed', message: /^unknown member `explain`/,
  });
});

async function explain(list: BookList, search: string): Promise<{
  readonly body: BookListExplanation; readonly headers: readonly string[];
}> {
  const sent: { body: BookListExplanation; headers: readonly string[] }[] = [];
  const exchange = {
    search, isControl: false, response: { destroyed: false },
    sendJson(_: number, body: BookListExplanation, headers: readonly string[]) {
      sent.push({ body, headers });
    },
  };
  await list.sendJson(exchange as unknown as Exchange);
  const [answer] = sent;
  assert.ok(answer !== undefined && sent.length === 1);
  return answer;
}

function createList(withIndex = true): {
  list: BookList; collection: FakeCollection; indexes: IndexHost | null;
} {
  const collection = new FakeCollection();
  for (const one of BOOKS) collection.put(one);
  const turns = createTurns(systemClock);
  const indexes = withIndex ? createIndexes({ collection, turns }) : null;
  return { list: createBookList({ collection, turns, indexes }), collection, indexes };
}

function book(id: string, title: string, rest: Partial<NaiveBook>): NaiveBook {
  const updatedAt = `2026-01-01T00:00:00.${900 - id.charCodeAt(0)}Z`;
  const createdAt = '2026-01-01T00:00:00.000Z';
  const { subtitle, authors = [], keywords, ...others } = rest;
  return {
    id, createdAt, updatedAt, title, ...subtitle === undefined ? {} : { subtitle }, authors,
    ...others, ...keywords === undefined ? {} : { keywords },
  };
}

function ids(books: readonly NaiveBook[]): string {
  return books.map(({ id }) => id).join('');
}
