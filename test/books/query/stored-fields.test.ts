import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareId, readBookFormat, readCreatedAt, readDatePublished, readFirstAuthor, readId,
  readIsbn, readKeywords, readLanguage, readPublisher, readTitle, readUpdatedAt,
} from '../../../src/books/query/stored-fields.ts';
import { encodeDate } from '../../../src/books/query/date-range.ts';
import { createRandom } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';

const TITLES = [
  'plain', '"', '\\', '\\"', 'ends with \\', '\\\\"', 'a\nb\t\u0001', '\u2028', 'é', '漢字 "x"',
  '"title":"no"', '","updatedAt":"2000', '😀\\', 'x'.repeat(1000),
];

test('members are read from the bytes as from the parsed book', () => {
  const random = createRandom(1);
  for (let round = 0; round < 500; round += 1) {
    const { metadata, ...members } = randomBook(random, `id-${round}`);
    const book = {
      ...members, title: pick(random, TITLES),
      publisher: pick(random, TITLES), keywords: [pick(random, TITLES), pick(random, TITLES)],
      authors: [{ name: pick(random, TITLES), address: { streetAddress: pick(random, TITLES) } },
        { name: 'second' }],
      ...metadata === undefined ? {} : { metadata },
    };
    const bytes = Buffer.from(JSON.stringify(book));
    assert.equal(readId(bytes), book.id);
    assert.equal(readTitle(bytes), book.title);
    assert.equal(readIsbn(bytes), book.isbn ?? null);
    assert.equal(readLanguage(bytes), book.inLanguage ?? null);
    assert.equal(readBookFormat(bytes), book.bookFormat ?? null);
    assert.equal(readPublisher(bytes), book.publisher);
    assert.deepEqual(readKeywords(bytes), book.keywords);
    assert.deepEqual(readFirstAuthor(bytes), book.authors[0]);
    const date = book.datePublished;
    assert.equal(readDatePublished(bytes), date === undefined ? null : encodeDate(date));
  }
});

test('a member of the metadata is not the book\'s', () => {
  const names = ['isbn', 'datePublished', 'inLanguage', 'publisher', 'bookFormat'];
  const inner = {
    ...Object.fromEntries(names.map((name) => [name, '1999'])), authors: [{ name: 'A' }],
    keywords: ['x'],
  };
  const bytes = Buffer.from(JSON.stringify({
    id: 'a', updatedAt: '2026-01-01T00:00:00.000Z', title: '"metadata":{', metadata: inner,
  }));
  assert.deepEqual([readIsbn, readDatePublished, readLanguage, readPublisher, readBookFormat,
    readFirstAuthor].map((read) => read(bytes)), [null, null, null, null, null, null]);
  assert.deepEqual(readKeywords(bytes), []);
  const outer = Buffer.from(JSON.stringify({
    id: 'a', title: 'x', isbn: '9780441172719', inLanguage: 'de', metadata: inner,
  }));
  assert.deepEqual([readIsbn(outer), readLanguage(outer), readDatePublished(outer)],
    ['9780441172719', 'de', null]);
});

test('dates and times as numbers compare as their text does', () => {
  const dates = ['0001', '0001-01', '0001-01-01', '1960', '1960-01', '1960-05', '1960-05-17',
    '1960-12-31', '1961', '9999-12-31'];
  const numbers = dates.map(encodeDate);
  assert.deepEqual(numbers, numbers.toSorted((left, right) => left - right));
  const random = createRandom(2);
  const times = Array.from({ length: 300 }, () =>
    new Date(Math.floor(random() * 253402300799999)).toISOString()).sort();
  const read = times.map((updatedAt) =>
    readUpdatedAt(Buffer.from(JSON.stringify({ id: 'a', createdAt: '', updatedAt }))));
  assert.deepEqual(read, times.map((createdAt) =>
    readCreatedAt(Buffer.from(JSON.stringify({ id: 'a', createdAt, updatedAt: times[0] })))));
  assert.deepEqual(read, read.toSorted((left, right) => left - right));
  assert.equal(new Set(read).size, new Set(times).size);
  assert.ok(read.every(Number.isSafeInteger));
});

test('an id is compared in place as its text is', () => {
  const ids = ['a', 'a-', 'a.', 'a0', 'aA', 'aa', 'ab', 'b', '~', 'a'.repeat(128)];
  for (const left of ids) {
    const bytes = Buffer.from(JSON.stringify({ id: left, title: 'x' }));
    for (const right of ids) {
      const expected = Number(left > right) - Number(left < right);
      assert.equal(Math.sign(compareId(bytes, right)), expected, `${left} ${right}`);
    }
  }
});

test('members of a book as the service stores it are read from where they mostly stand', () => {
  const texts = ['plain', 'Éclair', '"quoted"', 'back\\slash', '{"name":"', ''];
  const names = [{}, { givenName: 'Ann' }, { familyName: 'Lee' }];
  for (const text of texts) {
    for (const more of [...names, { givenName: text, familyName: text }, { url: 'x:"y"' },
      { givenName: 'A', familyName: 'B', birthDate: '1900' }]) {
      for (const subtitle of [undefined, text]) {
        const book = {
          id: '018f0000-0000-7000-8000-000000000000', createdAt: '2026-01-01T00:00:00.001Z',
          updatedAt: '2026-01-02T00:00:00.002Z', title: text, subtitle,
          authors: [{ name: text, ...more }], datePublished: '1960',
          metadata: { datePublished: '1', authors: [] },
        };
        const bytes = Buffer.from(JSON.stringify(book));
        assert.equal(readTitle(bytes), text);
        assert.deepEqual(readFirstAuthor(bytes), book.authors[0]);
        assert.deepEqual([readCreatedAt(bytes) % 1000, readUpdatedAt(bytes) % 1000], [1, 2]);
        assert.equal(readDatePublished(bytes), 19_600_000);
        const parsed = Buffer.from(JSON.stringify({ ...book, authors: [] }));
        assert.equal(readFirstAuthor(parsed), null);
      }
    }
  }
});
