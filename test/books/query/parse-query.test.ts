import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { parseBookListQuery, parseBookQuery } from '../../../src/books/query/parse-query.ts';
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
  ['sort=', /`sort` must be one of/],
  ['sort=name', /`sort`/],
  ['sort=Title', /`sort`.*did you mean `title`/],
  ['sort=--title', /`sort`/],
  ['sort=title,id', /`sort`/],
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
  assert.equal(query.filter.isbn, '9780441172719');
  assert.equal(query.filter.language, 'he', 'an outdated tag stands for the one that is stored');
  assert.equal(query.filter.keyword, 'STRASSE');
  assert.equal(query.filter.publishedFrom, 19600000);
  assert.equal(query.filter.publishedTo, 19610599);
  assert.deepEqual(query.sort, { key: 'datePublished', isDescending: true });
  assert.equal(query.filter.words.length, 3);
});

test('nothing asked is everything, in id order', () => {
  for (const search of ['', '&', 'q=', 'q=%20...%20', 'author=']) {
    const { limit, after, filter, sort } = parseBookQuery(search);
    assert.deepEqual({ limit, after, sort }, {
      limit: null, after: null, sort: { key: 'id', isDescending: false },
    });
    assert.deepEqual(Object.values(filter).flat().filter((value) => value !== null), []);
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
  refuse({ q: ['a'] }, /`q` must be a string/);
});

test('more than 64 words are refused, and repeated words count once', () => {
  const words = (count: number): string =>
    Array.from({ length: count }, (_, index) => `w${index}`).join('+');
  assert.equal(parseBookQuery(`q=${words(64)}`).filter.words.length, 64);
  assert.throws(() => parseBookQuery(`q=${words(65)}`), { code: 'malformed', message: /64 words/ });
  assert.equal(parseBookQuery(`q=${'same+'.repeat(500)}`).filter.words.length, 1);
});

test('every parameter is published', () => {
  assert.deepEqual(bookQueryParameters.map(({ name }) => name), [
    'limit', 'cursor', 'q', 'author', 'isbn', 'inLanguage', 'keyword', 'publishedFrom',
    'publishedTo', 'sort',
  ]);
});
