import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { FieldError } from '../../src/base/errors.ts';
import { parseCountry } from '../../src/books/country.ts';
import { parseBook } from '../support/parse-book.ts';

const SURROGATE = '\ud800';

/** Values of one member that are stored as given. */
const ACCEPTED: Readonly<Record<string, readonly unknown[]>> = {
  title: ['a', 'x'.repeat(1000), '😀'.repeat(1000), ' padded ', '\u0000', 'e\u0301', '__proto__'],
  subtitle: ['', 'x'.repeat(1000)],
  publisher: ['', '😀'.repeat(500)],
  datePublished: ['0001', '9999', '1960-12', '2000-02-29', '1996-02-29', '1961-01-31'],
  inLanguage: ['en', 'pt-BR', 'zh-Hant-TW', 'sl-nedis', 'de-x-mine'],
  numberOfPages: [1, 100_000],
  bookEdition: ['', 'x'.repeat(100)],
  bookFormat: ['Hardcover', 'Paperback', 'EBook', 'AudiobookFormat', 'GraphicNovel'],
  keywords: [[], ['a'], ['a', 'A', 'á'], Array.from({ length: 100 }, (_, index) => `${index}`)],
  series: [[], [{ name: 'a' }, { name: 'á', position: 0 }], [{ name: 'x'.repeat(500) }],
    [{ name: 'a', position: 100_000 }, { name: 'b', position: 0.125 }],
    [{ name: 'c', position: 1.1 }],
    Array.from({ length: 10 }, (_, index) => ({ name: `${index}` }))],
  reading: [
    { status: 'to-read' }, { status: 'reading' }, { status: 'paused' }, { status: 'abandoned' },
    { status: 'read', rating: 0.25 }, { rating: 5 }, { rating: 3.75 }, { owned: false },
    { startedOn: '2024-05', finishedOn: '2024' }, { startedOn: '2024', finishedOn: '2024-01-01' },
    { startedOn: '2024' }, { finishedOn: '2024-02-29' }, { readCount: 0 }, { readCount: 10_000 },
    { shelves: [] }, { shelves: ['own', 'x'.repeat(200)] }, { review: '' },
    { shelves: Array.from({ length: 100 }, (_, index) => `${index}`) },
    { review: 'x'.repeat(100_000) },
  ],
  description: ['', '😀'.repeat(20_000)],
  url: ['http://a', 'https://user@example.org:8443/a?b#c', 'https://ja.wikipedia.org/wiki/本',
    `https://example.org/${'x'.repeat(2028)}`],
  image: ['HTTPS://EXAMPLE.ORG/a.png', 'http://[::1]/'],
  metadata: [{}, JSON.parse('{"__proto__":{"a":1},"constructor":null}'), nested(8),
    { pad: 'x'.repeat(16_384 - 10) }],
  authors: [[], [{ name: 'x'.repeat(300), givenName: 'x'.repeat(150), familyName: '' }],
    [{ name: 'a', birthDate: '1960-05', deathDate: '1960' }],
    [{ name: 'a', birthDate: '1960', deathDate: '1960-01-01' }],
    [{ name: 'a', url: 'https://example.org', address: { postalCode: '01234' } }],
    [{ name: 'a', address: { addressCountry: 'ZW', streetAddress: '' } }],
    Array.from({ length: 100 }, () => ({ name: 'a' }))],
};

/** Values of one member that are refused: the value, where, and why. */
const REFUSED: Readonly<Record<string, readonly (readonly [unknown, string, RegExp])[]>> = {
  title: [
    ['', '', /not be empty/], [' \t\u00a0\n', '', /not be blank/], [SURROGATE, '', /surrogate/],
    ['x'.repeat(1001), '', /at most 1000 characters/], ['😀'.repeat(1001), '', /at most 1000/],
    [1984, '', /must be a string, not a number/], [['a'], '', /not an array/],
  ],
  subtitle: [['x'.repeat(1001), '', /at most 1000/], [false, '', /not a boolean/]],
  isbn: [
    [9780306406157, '', /a string, not a number: leading zeros would be lost/],
    ['9780306406158', '', /check digit/], ['', '', /10 or 13/],
  ],
  publisher: [['x'.repeat(501), '', /at most 500/]],
  datePublished: [
    ['0000', '', /there is no 0000/], ['1961-02-29', '', /there is no 1961-02-29/],
    ['1900-02-29', '', /there is no/], ['1960-13', '', /there is no/], ['1960-00', '', /no/],
    ['1960-04-31', '', /there is no/], ['1960-1', '', /YYYY-MM or/], ['60', '', /YYYY.*not "60"/],
    ['1960-01-01T00:00:00Z', '', /YYYY/], ['10000', '', /YYYY/], ['', '', /YYYY/],
    [1960, '', /not a number: write the year in quotes/], ['1960\n', '', /YYYY/],
  ],
  inLanguage: [['en_US', '', /BCP 47/], ['', '', /BCP 47/], ['e', '', /BCP 47/],
    [`en${'-abcdefgh'.repeat(40)}`, '', /BCP 47/]],
  numberOfPages: [
    [0, '', /from 1 to 100000/], [100_001, '', /from 1/], [1.5, '', /integer/],
    ['3', '', /integer/], [Number('1e400'), '', /integer/], [true, '', /integer/],
  ],
  bookEdition: [['x'.repeat(101), '', /at most 100/]],
  bookFormat: [['hardcover', '', /one of Hardcover, .*: did you mean `Hardcover`/]],
  keywords: [
    [['a', 'b', 'a'], '/2', /not stand twice/], [[''], '/0', /empty/],
    [['x'.repeat(201)], '/0', /200/],
    [[1], '/0', /a string/], [[null], '/0', /a string, not null/],
    ['a', '', /an array, not a string; for example \["…"\]/],
    [Array.from({ length: 101 }, (_, index) => `${index}`), '', /at most 100 items$/],
  ],
  series: [
    [[{}], '/0/name', /is required/], [[{ name: ' ' }], '/0/name', /blank/],
    [[{ name: 'x'.repeat(501) }], '/0/name', /at most 500/],
    [[{ name: 'a' }, { name: 'A', position: 2 }], '/1', /not stand twice/],
    [[{ name: 'a', position: -1 }], '/0/position', /from 0 to 100000 in steps of 0.001/],
    [[{ name: 'a', position: 100_000.5 }], '/0/position', /from 0/],
    [[{ name: 'a', position: 0.0001 }], '/0/position', /in steps of 0.001, not 0.0001/],
    [[{ name: 'a', position: '1' }], '/0/position', /a number/],
    [[{ name: 'a', number: 1 }], '/0/number', /not a known/],
    [Array.from({ length: 11 }, (_, index) => ({ name: `${index}` })), '', /at most 10 items/],
    ['a', '', /array/],
  ],
  reading: [
    [{ status: 'Read' }, '/status', /did you mean `read`/],
    [{ status: 'done' }, '/status', /, not "done": did you mean `read`\?/],
    [{ status: 'Want to Read' }, '/status', /did you mean `to-read`/],
    [{ rating: 0 }, '/rating', /from 0.25 to 5 in steps of 0.25, not 0/],
    [{ rating: 5.25 }, '/rating', /to 5/], [{ rating: 4.1 }, '/rating', /steps/],
    [{ rating: '4' }, '/rating', /number/], [{ startedOn: 'May' }, '/startedOn', /YYYY/],
    [{ startedOn: '2024-05', finishedOn: '2023' }, '/finishedOn', /not be before the start/],
    [{ startedOn: '2024-05-02', finishedOn: '2024-05-01' }, '/finishedOn', /before/],
    [{ readCount: -1 }, '/readCount', /integer/], [{ readCount: 10_001 }, '/readCount', /10000/],
    [{ shelves: ['a', 'A'] }, '/shelves/1', /not stand twice/],
    [{ shelves: ['É', 'e\u0301'] }, '/shelves/1', /twice/],
    [{ shelves: [' '] }, '/shelves/0', /blank/], [{ shelves: [''] }, '/shelves/0', /empty/],
    [{ shelves: ['x'.repeat(201)] }, '/shelves/0', /200/],
    [{ shelves: Array.from({ length: 101 }, (_, index) => `${index}`) }, '/shelves', /at most 100/],
    [{ review: 'x'.repeat(100_001) }, '/review', /at most 100000/],
    [{ owned: 'yes' }, '/owned', /true or false/], [{ stars: 4 }, '/stars', /not a known/],
    [[], '', /object, not an array/],
  ],
  description: [['x'.repeat(20_001), '', /at most 20000/]],
  url: [
    ['ftp://example.org', '', /http or https/], ['example.org', '', /absolute/],
    ['http:', '', /http/],
    ['https://exa mple.org', '', /http/], ['https://example.org/a b', '', /http/],
    ['http:\\\\example.org', '', /http/], ['http://999.999.999.999', '', /http/],
    ['https://example.org/\n', '', /http/], ['javascript:alert(1)', '', /http/],
    [`https://example.org/${'x'.repeat(2029)}`, '', /at most 2048/],
  ],
  image: [['data:image/png;base64,AA', '', /http/]],
  metadata: [
    [[], '', /a JSON object, not an array/], ['a', '', /JSON object/],
    [nested(9), '/a/a/a/a/a/a/a/a', /nested deeper than 8/],
    [{ pad: 'x'.repeat(16_384 - 9) }, '', /at most 16384 bytes of JSON, not 16385/],
    [JSON.parse('{"a":{"b":[1,1e400]}}'), '/a/b/1', /a double can hold/],
    [{ a: SURROGATE }, '/a', /surrogate/], [{ [SURROGATE]: 1 }, '', /surrogate/],
  ],
  authors: [
    [[{}], '/0/name', /is required/], [[{ name: ' ' }], '/0/name', /blank/],
    [['a'], '/0', /^must be a JSON object, not a string; for example \{"name":"…"\}$/],
    ['a', '', /^must be an array, not a string; for example \[\{"name":"…"\}\]$/],
    [[{ name: 'a' }, { name: 'x'.repeat(301) }], '/1/name', /at most 300/],
    [[{ name: 'a', givenName: 'x'.repeat(151) }], '/0/givenName', /at most 150/],
    [[{ name: 'a', birthDate: '1960-05', deathDate: '1960-04-30' }], '/0/deathDate', /before/],
    [[{ name: 'a', birthDate: '1960', deathDate: '1959-12' }], '/0/deathDate', /before/],
    [[{ name: 'a', address: {} }], '/0/address', /at least one member/],
    [[{ name: 'a', address: { addressCountry: null } }], '/0/address', /at least one member/],
    [[{ name: 'a', address: { postalCode: 1234 } }], '/0/address/postalCode', /leading zeros/],
    [[{ name: 'a', address: { postalCode: 'x'.repeat(21) } }], '/0/address/postalCode', /20/],
    [[{ name: 'a', address: { streetAddress: 'x'.repeat(301) } }], '/0/address/streetAddress',
      /300/],
    [[{ name: 'a', address: { addressCountry: 'us' } }], '/0/address/addressCountry', /`US`/],
    [[{ name: 'a', address: { addressCountry: 'XX' } }], '/0/address/addressCountry', /not "XX"/],
    [[{ name: 'a', address: { country: 'US' } }], '/0/address/country', /`addressCountry`/],
    [[{ name: 'a', adress: {} }], '/0/adress', /did you mean `address`/],
    [Array.from({ length: 101 }, () => ({ name: 'a' })), '', /at most 100 items/],
  ],
  publisheddate: [['1960', '', /not a known member: did you mean `datePublished`\?/]],
  author: [[[], '', /did you mean `authors`/]],
};

test('every member takes what its rule allows, as given', () => {
  for (const [name, values] of Object.entries(ACCEPTED)) {
    for (const value of values) {
      const book = parseBook({ title: 'A', [name]: value });
      assert.deepEqual(book[name], value, `${name} ${JSON.stringify(value).slice(0, 80)}`);
    }
  }
});

test('every member refuses what its rule forbids, saying where and why', () => {
  for (const [name, cases] of Object.entries(REFUSED)) {
    for (const [value, below, why] of cases) {
      const label = `${name} ${JSON.stringify(value).slice(0, 80)}`;
      const errors = errorsOf({ title: 'A', [name]: value });
      assert.equal(errors.length, 1, label);
      assert.equal(errors[0]?.pointer, `/${name}${below}`, label);
      assert.match(errors[0]?.detail ?? '', why, label);
    }
  }
});

test('strings are stored in their canonical form where there is one', () => {
  const book = parseBook({ title: 'A', isbn: '0-306-40615-2', inLanguage: 'PT-br' });
  assert.deepEqual(book, { title: 'A', authors: [], isbn: '9780306406157', inLanguage: 'pt-BR' });
});

test('null means absent, but not for the title', () => {
  assert.deepEqual(parseBook({ title: 'A', isbn: null, authors: null, metadata: null, id: null }),
    { title: 'A', authors: [] });
  assert.deepEqual(errorsOf({ title: null }), [{ pointer: '/title', detail: 'is required' }]);
});

test('a reading without members is absent', () => {
  for (const reading of [{}, null, { rating: null, shelves: null }]) {
    assert.deepEqual(parseBook({ title: 'A', reading }), { title: 'A', authors: [] });
  }
  assert.deepEqual(parseBook({ title: 'A', series: [{ name: 'B', position: null }] })['series'],
    [{ name: 'B' }]);
});

test('all mistakes of a reading and of series are told at once', () => {
  const errors = errorsOf({
    title: 'A', series: [{ name: '', position: -1 }, { position: 1 }],
    reading: { status: 'x', rating: 6, startedOn: '2024', finishedOn: '2023', shelves: ['', 'a'] },
  });
  assert.deepEqual(errors.map(({ pointer }) => pointer), ['/series/0/name', '/series/0/position',
    '/series/1/name', '/reading/status', '/reading/rating', '/reading/shelves/0',
    '/reading/finishedOn']);
});

test('the stamps in a body are ignored, whatever they hold', () => {
  assert.deepEqual(parseBook({ title: 'A', createdAt: 1, updatedAt: {} }),
    { title: 'A', authors: [] });
});

test('members come out in one order, whatever order they came in', () => {
  const forward = { title: 'A', authors: [{ name: 'B', url: 'http://b' }], url: 'http://a' };
  const backward = { url: 'http://a', authors: [{ url: 'http://b', name: 'B' }], title: 'A' };
  assert.equal(JSON.stringify(parseBook(forward)), JSON.stringify(parseBook(backward)));
});

test('a body that is no object is refused as a whole', () => {
  for (const body of [null, [], 'a', 1, true]) {
    assert.deepEqual(errorsOf(body).map(({ pointer }) => pointer), ['']);
  }
});

test('all mistakes are told at once, the first thousand of them', () => {
  const errors = errorsOf({ titel: 'A', isbn: 'x', authors: [{}, { name: '' }] });
  assert.deepEqual(errors.map(({ pointer }) => pointer),
    ['/titel', '/title', '/authors/0/name', '/authors/1/name', '/isbn']);
  const life = { birthDate: '1960', deathDate: '1950', url: 'x' };
  assert.deepEqual(errorsOf({ authors: [life] }).map(({ pointer }) => pointer),
    ['/title', '/authors/0/name', '/authors/0/url', '/authors/0/deathDate']);
  assert.deepEqual(errorsOf({ title: 'A', authors: [{ name: 'a', ...life, deathDate: 'x' }] })
    .map(({ pointer }) => pointer), ['/authors/0/deathDate', '/authors/0/url']);
  // Of unknown names a hundred are told, and all that is wrong with others.
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 1]));
  assert.equal(errorsOf({ ...many, title: 'A' }).length, 100);
  assert.equal(errorsOf({ ...many, isbn: 'x' }).length, 102);
  const authors = Array.from({ length: 100 }, () => ({ birthDate: 'soon', url: 'x' }));
  assert.equal(errorsOf({ authors }).length, 301);
  // A list that is too long hides no mistake in those that it may have.
  const words = Array.from({ length: 200 }, (_, index) => `${index}`);
  assert.deepEqual(errorsOf({ title: 'A', keywords: ['', 7, ...words, ''] })
    .map(({ pointer }) => pointer), ['/keywords', '/keywords/0', '/keywords/1']);
});

test('a name of the reading at the top is told where it belongs', () => {
  for (const [name, hint] of [['rating', 'reading.rating'], ['status', 'reading.status'],
    ['finishedon', 'reading.finishedOn'], ['readin', 'reading']] as const) {
    assert.deepEqual(errorsOf({ title: 'A', [name]: 4 }),
      [{ pointer: `/${name}`, detail: `is not a known member: did you mean \`${hint}\`?` }]);
  }
});

test('__proto__ as a member is an unknown member, and nothing inherited is read', () => {
  assert.deepEqual(errorsOf(JSON.parse('{"title":"A","__proto__":{"isbn":"x"}}')),
    [{ pointer: '/__proto__', detail: 'is not a known member' }]);
  assert.deepEqual(errorsOf(Object.create({ title: 'A' })),
    [{ pointer: '/title', detail: 'is required' }]);
});

test('there are 249 countries', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const pairs = letters.flatMap((first) => letters.map((second) => first + second));
  assert.equal(pairs.filter((code) => parseCountry(code) !== null).length, 249);
});

function errorsOf(body: unknown): readonly FieldError[] {
  try {
    parseBook(body);
  } catch (error) {
    if (error instanceof AppError) return error.details.errors ?? [];
    throw error;
  }
  return [];
}

/** Objects in one another, `levels` of them. */
function nested(levels: number): unknown {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}

test('a value that is far too long gets no hint', () => {
  const refuse = (length: number, hint: RegExp): void => {
    const bookFormat = 'Paperback'.padEnd(length, '-');
    assert.throws(() => parseBook({ title: 'A', bookFormat }), { message: hint });
  };
  refuse(64, /did you mean `Paperback`\?$/);
  refuse(65, /GraphicNovel, not "Paperback-+…?"$/);
});

test('the message counts the mistakes that are told', () => {
  const authors = Array.from({ length: 100 }, () => ({ birthDate: 'soon' }));
  assert.throws(() => parseBook({ title: 'A', authors }), { message: / \(and 199 more\)$/ });
});
