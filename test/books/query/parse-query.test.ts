import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { NO_CONDITIONS, createValueCheck } from '../../../src/books/query/book-filter.ts';
import { parseBookListQuery, parseBookQuery } from '../../../src/books/query/parse-query.ts';
import type { BookQuery } from '../../../src/books/query/parse-query.ts';
import { bookQueryParameters } from '../../../src/books/query/query-parameters.ts';

const REFUSED: readonly (readonly [search: string, message: RegExp])[] = [
  ['limit=0', /`limit` must be an integer from 1 to 1000/],
  ['limit=1001', /`limit`/],
  ['limit=', /`limit`/],
  ['limit=-1', /`limit`/],
  ['limit=1.5', /`limit`/],
  ['limit=1e2', /`limit`/],
  ['limit=ten', /`limit`/],
  ['limit=99999999999999999999', /`limit`/],
  ['limit=1&limit=2', /`limit` stands twice/],
  ['Limit=1', /did you mean `limit`/],
  ['lang=en', /unknown query parameter `lang`/],
  ['language=en', /did you mean `inLanguage`/],
  ['publishedform=1960', /did you mean `publishedFrom`/],
  ['=1', /unknown query parameter/],
  ['__proto__=1', /unknown query parameter `__proto__`/],
  ['q=%', /percent-encoding/],
  ['q=%ff', /percent-encoding/],
  ['%zz=1', /percent-encoding/],
  ['isbn=', /`isbn` must be an ISBN/],
  ['isbn=978-0-441-17271-8', /`isbn`.*check digit/],
  ['isbn=12345', /`isbn`/],
  ['inLanguage=', /`inLanguage`/],
  ['inLanguage=e_n', /`inLanguage`/],
  ['inLanguage=englishlanguage', /`inLanguage`/],
  ['keyword=', /`keyword` must not be empty/],
  ['publishedFrom=', /`publishedFrom` must be a date/],
  ['publishedFrom=1960-13', /`publishedFrom`/],
  ['publishedTo=1961-02-29', /`publishedTo`.*no 1961-02-29/],
  ['publishedTo=60', /`publishedTo`/],
  ['sort=', /`sort` must be keys such as `title`.*known are id, title, author, datePub/],
  ['sort=publisher', /`sort`.*not "publisher"/],
  ['sort=Title', /`sort`.*did you mean `title`/],
  ['sort=title,-autor', /`sort`.*not "autor": did you mean `author`/],
  ['sort=--title', /`sort`/],
  ['sort=title,', /`sort`/],
  ['sort=title,-title', /`sort` has `title` twice: leave one out/],
  ['sort=id,author,-id', /`sort` has `id` twice/],
  ['sort=id,title,author,updatedAt,createdAt', /at most 4 keys, not 5: leave out/],
  ['sort=title&sort=id', /`sort` stands twice: leave one out/],
  ['hasIsbn=', /`hasIsbn` must be true or false, not ""/],
  ['status=done', /`status` must be one of to-read, reading.*: did you mean `read`\?/],
  ['status=Read', /did you mean `read`/],
  ['shelf=', /`shelf` must not be empty: give it a whole shelf/],
  ['series=', /`series` must not be empty: give it a whole name/],
  ['ratingFrom=6', /`ratingFrom` must be a number from 0 to 5, not "6"/],
  ['ratingTo=', /`ratingTo` must be a number/],
  ['ratingTo=1e0', /`ratingTo` must be a number/],
  ['ratingTo=-1', /`ratingTo` must be a number/],
  ['ratingFrom=1&ratingFrom=2', /`ratingFrom` stands twice/],
  ['finishedFrom=May', /`finishedFrom` must be a date/],
  ['owned=maybe', /`owned` must be true or false/],
  ['in=title', /`in` must be one of review, metadata, not/],
  ['in=review&in=review', /`in` stands twice/],
  ['in=review', /give `q` some words, or leave `in` out/],
  ['in=review&q=+&author=a', /give `q` some words/],
  ['sort=--series', /`sort`/],
  ['sort=series,-series', /`sort` has `series` twice/],
  ['hasIsbn=yes', /`hasIsbn` must be true or false/],
  ['hasIsbn=true&hasIsbn=true', /`hasIsbn` stands twice/],
  ['q=a&q=b', /`q` stands twice/],
  ['publishedFrom=1960&publishedFrom=1961', /`publishedFrom` stands twice/],
  ['keyword.not=', /`keyword.not` must not be empty/],
  ['keyword=a&keyword=', /`keyword` must not be empty/],
  ['keyword.no=a', /did you mean `keyword.not`/],
  ['isbn=9780441172719&isbn=1', /`isbn`/],
  ['bookFormat=hardcover', /`bookFormat` must be one of Hardcover.*did you mean `Hardcover`/],
  ['bookFormat=', /`bookFormat`/],
  ['fields=', /`fields` must name members of a book, such as/],
  ['fields=title,', /`fields`/],
  ['fields=titel', /`fields`.*not "titel": did you mean `title`/],
  ['fields=name', /`fields`.*not "name"/],
  ['fields=title&fields=isbn', /`fields` stands twice/],
  ['cursor=', /`cursor`/],
  ['cursor=abc', /`cursor`/],
  ['cursor=!!', /`cursor`/],
];

for (const [search, message] of REFUSED) {
  test(`?${search} is refused as malformed`, () => {
    assert.throws(() => parseBookQuery(search), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'malformed');
      assert.match(error.message, message);
      return true;
    });
  });
}

test('values are read into what they mean', () => {
  const query = parseBookQuery('limit=25&isbn=0-441-17271-7&inLanguage=iw&keyword=Stra%C3%9Fe'
    + '&publishedFrom=1960&publishedTo=1961-05&sort=-datePublished&q=a+b%20c');
  assert.equal(query.limit, 25);
  assert.deepEqual(countClauses(query), { q: [3] });
  assert.deepEqual(listValues(query), {
    isbn: ['9780441172719'], keyword: ['STRASSE'],
    // An outdated tag stands for the one that is stored.
    inLanguage: ['he'],
    publishedFrom: [19600101], publishedTo: [19610531],
  });
  assert.deepEqual(query.sort, {
    orders: [{ key: 'datePublished', isDescending: true }], isIdDescending: false,
  });
});

/** The values that each condition asks for. */
function listValues({ filter: { values } }: BookQuery): object {
  return Object.fromEntries(values.map(({ row, wanted }) => [row.name, wanted]));
}

/** How many clauses the alternatives of each condition on words have. */
function countClauses({ filter: { words } }: BookQuery): object {
  return Object.fromEntries(words.map(({ row, wanted }) =>
    [row.name, wanted.map(({ length }) => length)]));
}

test('nothing asked is everything, in id order', () => {
  for (const search of ['', '&', 'q=', 'q=%20', 'author=', 'author=&publisher=']) {
    const { limit, after, filter, sort } = parseBookQuery(search);
    assert.deepEqual({ limit, after, sort }, {
      limit: null, after: null, sort: { orders: [], isIdDescending: false },
    });
    assert.deepEqual(filter, NO_CONDITIONS);
  }
});

test('signs alone are a condition', () => {
  for (const name of ['q', 'author', 'publisher']) {
    const { filter } = parseBookQuery(`${name}=%20???`);
    assert.deepEqual(filter.words.map(({ row, wanted }) => [row.name, wanted]),
      [[name, [[[[{ text: '???', isUnspaced: true }]]]]]]);
  }
});

test('a query object is read like a query string', () => {
  assert.equal(parseBookListQuery({ limit: 3, q: undefined, sort: 'title' }).limit, 3);
  const refuse = (query: object, message: RegExp): void => {
    assert.throws(() => parseBookListQuery(query), { code: 'malformed', message });
  };
  refuse({ limit: 0 }, /`limit`/);
  refuse({ limit: 1.5 }, /`limit`/);
  refuse({ tag: 'x' }, /`tag`/);
  refuse({ Sort: 'id' }, /did you mean `sort`/);
  refuse({ q: ['a'] }, /`q` must be a string$/);
  refuse({ q: true }, /`q` must be a string/);
  refuse({ keyword: ['a', null] }, /`keyword` must be a string or an array of strings/);
  refuse({ keyword: [] }, /`keyword` must not be an empty array: leave it out/);
  refuse({ keyword: Array.from({ length: 65 }, () => 'a') }, /`keyword`.*at most 64 times/);
  refuse({ hasIsbn: ['true'] }, /`hasIsbn` must be a string/);
  const query = parseBookListQuery({
    keyword: ['a', 'b'], 'keyword.not': 'c', author: ['x y'], hasIsbn: true,
  });
  assert.deepEqual(listValues(query),
    { keyword: ['A', 'B'], 'keyword.not': ['C'], hasIsbn: ['true'] });
  assert.deepEqual(countClauses(query), { author: [2] });
});

test('a key behind the id orders nothing, and the id may be reversed behind others', () => {
  const sortOf = (text: string): unknown => parseBookQuery(`sort=${text}`).sort;
  assert.deepEqual(sortOf('id,title'), { orders: [], isIdDescending: false });
  assert.deepEqual(sortOf('author,-createdAt,-id,title'), {
    orders: [{ key: 'author', isDescending: false }, { key: 'createdAt', isDescending: true }],
    isIdDescending: true,
  });
});

test('a filter holds all values of its parameter, each once', () => {
  const query = parseBookQuery('keyword=Crime&inLanguage=en&keyword=poetry&keyword=CRIME'
    + '&keyword.not=War&bookFormat=EBook&isbn=0441172717&isbn=9780441172719&hasIsbn=false'
    + '&author=le+guin&author=&author=lem&publisher=ace&inLanguage=FR');
  assert.deepEqual(listValues(query), {
    keyword: ['CRIME', 'POETRY'], 'keyword.not': ['WAR'], inLanguage: ['en', 'fr'],
    bookFormat: ['EBook'], isbn: ['9780441172719'], hasIsbn: ['false'],
  });
  assert.deepEqual(countClauses(query), { author: [2, 1], publisher: [1] });
});

test('a parameter may stand 64 times, and not 65', () => {
  const times = (name: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${name}=${index}`).join('&');
  for (const name of ['keyword', 'keyword.not', 'author', 'publisher']) {
    parseBookQuery(times(name, 64));
    assert.throws(() => parseBookQuery(times(name, 65)), {
      code: 'malformed', message: /may stand at most 64 times: spread/,
    });
  }
});

test('fields are named in any order, and the id is one of them', () => {
  assert.equal(parseBookQuery('').fields, null);
  assert.deepEqual([...parseBookQuery('fields=isbn,title,isbn').fields ?? []],
    ['id', 'isbn', 'title']);
});

test('more than 64 words are refused, and repeated words count once', () => {
  const words = (count: number): string =>
    Array.from({ length: count }, (_, index) => `w${index}`).join('+');
  assert.deepEqual(countClauses(parseBookQuery(`q=${words(64)}`)), { q: [64] });
  assert.throws(() => parseBookQuery(`q=${words(65)}`), { code: 'malformed', message: /64 words/ });
  assert.deepEqual(countClauses(parseBookQuery(`q=${'same+'.repeat(500)}`)), { q: [1] });
});

test('every parameter is published', () => {
  assert.deepEqual(bookQueryParameters.map(({ name }) => name), [
    'limit', 'cursor', 'q', 'author', 'publisher', 'in', 'isbn', 'hasIsbn', 'inLanguage',
    'bookFormat', 'keyword', 'keyword.not', 'publishedFrom', 'publishedTo', 'status', 'shelf',
    'series', 'ratingFrom', 'ratingTo', 'finishedFrom', 'finishedTo', 'owned', 'typos', 'sort',
    'fields', 'explain',
  ]);
});

const CASES: readonly (readonly [
  from: string | null, to: string | null, inside: readonly string[], outside: readonly string[],
])[] = [
  ['1990-01-01', '1990-12-31', ['1990', '1990-01', '1990-12', '1990-12-31'], ['1989', '1991']],
  ['1990', '1990', ['1990', '1990-06-30'], ['1989-12-31', '1991-01-01']],
  [null, '1990-06-30', ['1989', '1990-06', '1990-06-30'], ['1990', '1990-07', '1990-07-01']],
  [null, '1990-06-29', ['1990-06-29', '1990-05'], ['1990', '1990-06', '1990-06-30']],
  ['1990-01-02', null, ['1990-02', '1990-01-02', '1991'], ['1990', '1990-01', '1990-01-01']],
  ['1990-06-01', null, ['1990-06', '1990-06-01'], ['1990', '1990-05-31']],
  [null, '1900-02-28', ['1900-02'], ['1900']],
  [null, '2000-02-28', ['2000-01'], ['2000-02', '2000']],
  [null, '9999-12-31', ['0001', '9999'], []],
];

for (const [from, to, inside, outside] of CASES) {
  test(`a partial date lies within ${from} to ${to} when all its days do`, () => {
    const { filter } = parseBookListQuery({
      publishedFrom: from ?? undefined, publishedTo: to ?? undefined,
    });
    const check = createValueCheck(filter);
    const isInside = (date: string): boolean =>
      check(Buffer.from(JSON.stringify({ id: 'a', datePublished: date })));
    assert.deepEqual(inside.filter((date) => !isInside(date)), [], 'not found');
    assert.deepEqual(outside.filter(isInside), [], 'found');
  });
}
