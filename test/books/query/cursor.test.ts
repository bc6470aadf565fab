import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { encodeByteString, fold } from '../../../src/base/text/fold.ts';
import { decodeCursor, encodeCursor } from '../../../src/books/query/cursor.ts';
import type { SortValue } from '../../../src/books/query/sort-keys.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { parseSort } from '../../../src/books/query/book-sort.ts';
import { below, createRandom } from '../../support/random.ts';

const { filter: FILTER } = parseBookQuery('q=hary+potter+19845&author=hary&author=tolkein');
const ID = '0190f2a4-7c3b-7000-8000-000000000001';

const POSITIONS: readonly (readonly [sort: string, ...sortValues: SortValue[]])[] = [
  ['id'],
  ['-id,title'],
  ['title', ''],
  ['title', 'the river'],
  ['title', encodeByteString(fold('Пётр и "東京" \\ 😀'))],
  ['title', 'x'.repeat(1000)],
  ['title', encodeByteString(fold('\ufdfa'.repeat(1000)))],
  ['author', encodeByteString('łem\0stanisław')],
  ['author', null],
  ['datePublished', 19600500],
  ['datePublished', null],
  ['updatedAt', 1_750_000_000_000_123],
  ['createdAt', 0],
  ['author,-datePublished,title,-id', null, 19600500, 'emma'],
  ['-updatedAt,createdAt,datePublished,author', 5, 7, null, 'lee\0ann'],
];

for (const [sort, ...sortValues] of POSITIONS) {
  test(`a cursor gives back its place by ${sort}: ${String(sortValues).slice(0, 20)}`, () => {
    const cursor = encodeCursor({ sortValues, id: ID }, 'print');
    assert.match(cursor, /^[A-Za-z0-9_-]+$/);
    assert.deepEqual(decodeCursor(cursor, 'print', parseSort(sort), FILTER),
      { position: { sortValues, id: ID }, corrections: new Map() });
    assert.throws(() => decodeCursor(cursor, 'other', parseSort(sort), FILTER),
      { message: /another query/ });
  });
}

test('the cursor of the longest random title and author fits a request', () => {
  const random = createRandom(7);
  const [title, author] = [1000, 300].map((length) => Array.from({ length }, () =>
    String.fromCodePoint(0x20000 + below(random, 0xa000))).join(''));
  const sortValues = [title ?? '', author ?? ''].map((text) => encodeByteString(fold(text)));
  assert.ok(encodeCursor({ sortValues, id: ID }, 'print').length < 8000);
});

test('what no cursor is, is refused', () => {
  const forge = (value: unknown): string =>
    Buffer.concat([Buffer.of(0), Buffer.from(JSON.stringify(value))]).toString('base64url');
  // A cursor but for the white space after it, which makes a few bytes ten million.
  const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(
    Buffer.concat([Buffer.from(JSON.stringify(['print', ID])), Buffer.alloc(1e7, 0x20)]))]);
  const cases: readonly (readonly [cursor: string, sort: string])[] = [
    ['AA', 'id'], ['====', 'id'], ['\u0000', 'id'], [bomb.toString('base64url'), 'id'],
    [forge({}), 'id'], [forge([]), 'id'], [forge(['print']), 'id'], [forge(['print', 7]), 'id'],
    [forge(['print', 'a/b']), 'id'], [forge(['print', 'x'.repeat(129)]), 'id'],
    [forge(['print', 'text', ID]), 'id'], [forge(['print', 5, ID]), 'title'],
    [forge(['print', null, ID]), 'title'], [forge(['print', 1.5, ID]), 'datePublished'],
    [forge(['print', 'x', ID]), 'updatedAt'], [forge(['print', null, ID]), 'updatedAt'],
    [forge(['print', null, ID]), 'createdAt'], [forge(['print', 5, ID]), 'author'],
    [forge(['print', 'x', ID]), 'title,author'], [forge(['print', 'x', 'y', ID]), 'title'],
    [forge(['print', 'x', ['y'], ID]), 'title,author'],
    [forge(['print', ID, ['anyText', ['hary', 'harry']]]), 'id'],
    [forge(['print', ID, 'hary']), 'id'],
    [forge(['print', [['anyText', ['hary', 'harry']]]]), 'id'],
    [forge(['print', ID, [['hary', 'harry']]]), 'id'],
    [forge(['print', ID, [['review', ['hary', 'harry']]]]), 'id'],
    [forge(['print', ID, [['anyText', ['tolkein', 'tolkien']]]]), 'id'],
    [forge(['print', ID, [['author', ['potter', 'potters']]]]), 'id'],
    ...[['hary'], ['harry', 'hary'], ['hary', 7], ['hary', 'Harry'], ['hary', 'a b'], ['hary', ''],
      ['hary', '東京'], ['19845', '19846'], 'hary', 7].map((pair) =>
      [forge(['print', ID, [['anyText', pair]]]), 'id'] as const),
  ];
  for (const [cursor, sort] of cases) {
    assert.throws(() => decodeCursor(cursor, 'print', parseSort(sort), FILTER),
      { code: 'malformed' }, cursor);
  }
});

test('a cursor gives back the corrections of its query', () => {
  const corrections = new Map([
    ['author', new Map([['tolkein', 'tolkien']])],
    ['anyText', new Map([['hary', 'harry'], ['potter', 'поттер']])],
  ] as const);
  const position = { sortValues: ['a'], id: ID };
  const cursor = encodeCursor(position, 'print', corrections);
  assert.deepEqual(decodeCursor(cursor, 'print', parseSort('title'), FILTER),
    { position, corrections });
});

test('a cursor is bound to filters and order, not to the size of the page', () => {
  const print = (search: string): string => parseBookQuery(search).fingerprint;
  assert.equal(print('limit=5&q=A&fields=title'), print('q=a&limit=9'));
  const prints = ['', 'q=a', 'author=a', 'q=a+b', 'sort=title', 'sort=-title', 'keyword=a',
    'author=a&author=b', 'author=a+b', 'publisher=a', 'keyword=a&keyword=b', 'keyword.not=a',
    'q=a&typos=off',
    'hasIsbn=true', 'hasIsbn=false', 'bookFormat=EBook', 'sort=title,author', 'sort=author,title',
    'sort=-id', 'sort=title,-id',
    'inLanguage=en', 'publishedFrom=1960', 'publishedTo=1960', 'isbn=9780441172719',
  ].map(print);
  assert.equal(new Set(prints).size, prints.length);
});
