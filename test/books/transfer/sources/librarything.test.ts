import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { librarythingCodec } from '../../../../src/books/transfer/sources/librarything.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { makeRow, readBook } from './read-export.ts';
import { librarythingText } from './reading-exports.ts';
import { longTest } from '../../../support/long.ts';

const { headings } = librarythingText;

const RAYUELA: Readonly<Record<string, string>> = {
  'Book Id': '5498194', 'Title': '"Rayuela", or Hopscotch', 'Sort Character': '1',
  'Primary Author': 'Cortázar, Julio', 'Secondary Author': 'Rabassa, Gregory|Byron, Ada',
  'Secondary Author Roles': 'Translator|', 'Publication': 'Pantheon (1966), Hardcover, 564 pages',
  'Date': '1966', 'Rating': '4.5', 'Summary': 'Hopscotch by Julio Cortázar (1966)',
  'Media': 'Hardcover', 'Page Count': '564 ', 'Date Read': '[2007-05-08]',
  'Tags': 'novel, Paris', 'Collections': 'Your library', 'Languages': 'English',
  'Original Languages': 'Spanish', 'ISBN': '[0394752848]', 'ISBNs': '0394752848, 9780394752846',
  'Entry Date': '[2006-08-09]', 'Work id': '57814',
};

/** What both exports say of it. */
const RAYUELA_MEMBERS = {
  title: '"Rayuela", or Hopscotch',
  authors: [
    { name: 'Julio Cortázar', givenName: 'Julio', familyName: 'Cortázar' },
    { name: 'Ada Byron', givenName: 'Ada', familyName: 'Byron' },
  ],
  isbn: '9780394752846', publisher: 'Pantheon', datePublished: '1966', inLanguage: 'en',
  numberOfPages: 564, bookFormat: 'Hardcover', keywords: ['novel', 'Paris'],
};

test('a record of a LibraryThing text export is a book, its quotes left as they are', () => {
  const cells = headings.map((column) => RAYUELA[column] ?? '');
  const file = `${headings.join('\t')}\n${cells.join('\t')}\n`;
  assert.deepEqual(readBook(librarythingCodec, file), {
    ...RAYUELA_MEMBERS,
    reading: { status: 'read', rating: 4.5, finishedOn: '2007-05-08', owned: true },
    metadata: {
      source: {
        librarything: {
          'Book Id': '5498194', 'Sort Character': '1', 'Primary Author': 'Cortázar, Julio',
          'Secondary Author': 'Rabassa, Gregory|Byron, Ada',
          'Secondary Author Roles': 'Translator|',
          'Publication': 'Pantheon (1966), Hardcover, 564 pages',
          'Summary': 'Hopscotch by Julio Cortázar (1966)',
          'Collections': 'Your library', 'Original Languages': 'Spanish',
          'Entry Date': '[2006-08-09]', 'Work id': '57814',
        },
      },
    },
  });
});

test('[Return] in a review of the text export ends a line', () => {
  const cells = headings.map((column) => column === 'Review' ? 'One.[Return][Return]Two [Return.]'
    : RAYUELA[column] ?? '');
  const { reading, metadata } =
    readBook(librarythingCodec, `${headings.join('\t')}\n${cells.join('\t')}\n`);
  assert.equal(Object(reading).review, 'One.\n\nTwo [Return.]');
  assert.equal(Object(metadata).source.librarything.Review, undefined);
});

test('a record of a LibraryThing JSON export is the same book', () => {
  const member = {
    books_id: '5498194', title: '"Rayuela", or Hopscotch', sortcharacter: '1',
    primaryauthor: 'Cortázar, Julio',
    authors: [
      { lf: 'Cortázar, Julio', fl: 'Julio Cortázar' },
      { lf: 'Rabassa, Gregory', fl: 'Gregory Rabassa', role: 'Translator' },
      { lf: 'Byron, Ada', fl: 'Ada Byron', role: 'Author' },
    ],
    publication: 'Pantheon (1966), Hardcover, 564 pages', date: '1966', rating: 4.5,
    format: [{ code: '1.1.2', text: 'Hardcover' }], pages: '564 ', tags: ['novel', 'Paris'],
    collections: ['Your library'], language: ['English'], language_codeA: ['eng'],
    originalisbn: '0394752848', isbn: { 0: '0394752848', 2: '9780394752846' },
    ddc: { code: ['863'], wording: ['Literature', 'Spanish'] }, entrydate: '2006-08-09',
  };
  const file = JSON.stringify({ 5498194: member }, null, 2);
  const { authors, publication, primaryauthor, books_id, ...others } = member;
  assert.deepEqual(readBook(librarythingCodec, file), {
    ...RAYUELA_MEMBERS,
    reading: { rating: 4.5, owned: true },
    metadata: {
      source: {
        librarything: {
          books_id, sortcharacter: '1', primaryauthor, authors, publication,
          format: others.format, collections: others.collections, ddc: others.ddc,
          entrydate: '2006-08-09',
        },
      },
    },
  });
  assert.deepEqual(readText(librarythingCodec, file).map((record) =>
    'key' in record ? record.key : null), ['5498194']);
});

test('the publisher is what stands before the year, without a place before a colon', () => {
  const cases: readonly (readonly [publication: string, publisher: string | undefined,
    isKept: boolean])[] = [
    ['Little, Brown (1951)', 'Little, Brown', false],
    ['Gallimard (1979), Poche', 'Gallimard', true],
    ['Ace (1987), Edition: 2nd, Mass Market Paperback, 304 pages', 'Ace', true],
    ['New York : Ace Books, 1969', 'Ace Books', true],
    ['London ; New York : Penguin Books, c1990.', 'Penguin Books', true],
    ['Boston : Little, Brown (1951)', 'Little, Brown', true],
    ['Witch House Media', 'Witch House Media', false], ['Little, Brown', 'Little, Brown', false],
    ['Ace, Paperback, 304 pages', 'Ace', true], ['(1994), Poche', undefined, true],
    ['Seven:Stories (1951)', 'Seven:Stories', false], ['Pocket (2001)', 'Pocket', true],
    ['Éditions 84 (1951)', 'Éditions 84', false],
    ['S. Fischer Verlag, 1002 S.', 'S. Fischer Verlag', true],
    ['New York : Scholastic Press, 2008. 374 p. ; 22 cm', 'Scholastic Press', true],
    ['Vintage Books, 1989, c1988. xi, 308 p. ; 21 cm', 'Vintage Books', true],
    ['Suhrkamp, 1979-', 'Suhrkamp', true],
    ['New York, Knopf, 1961. 200 p. 22 cm', 'New York, Knopf', true],
    ['Knopf, [1961], Paperback', 'Knopf', true],
    ['Verlag, 1001 Nights', 'Verlag, 1001 Nights', false],
  ];
  for (const [Publication, publisher, isKept] of cases) {
    for (const [name, date] of [['Publication', 'Date'], ['publication', 'date']]) {
      const fields = { [name ?? '']: Publication, [date ?? '']: '1951' };
      const file = name === 'Publication' ? makeTabRow({ 'Book Id': '1', 'Title': 'A', ...fields })
        : JSON.stringify({ 1: { title: 'A', ...fields } });
      const book = readBook(librarythingCodec, file);
      assert.equal(book['publisher'], publisher, Publication);
      assert.equal(sourceOf(book)[name ?? ''], isKept ? Publication : undefined, Publication);
    }
  }
});

test('pages are read from the publication where they have no field of their own', () => {
  for (const [Publication, count, pages] of [
    ['Ace (1987), Edition: 2nd, 304 pages', '', 304], ['Penguin (2003), 512 p.', '', 512],
    ['S. Fischer Verlag, 1002 S.', '', 1002], ['Ace (1987), 304 pages', '310 ', 310],
    ['Ace (1987)', '', undefined], ['Éditions, 84', '', undefined],
  ] as const) {
    const book = readBook(librarythingCodec,
      makeTabRow({ Title: 'A', Publication, 'Page Count': count }));
    assert.equal(book['numberOfPages'], pages, Publication);
    assert.equal(sourceOf(book)['Publication'] === undefined, Publication === 'Éditions, 84');
  }
});

test('an edition is read from the publication', () => {
  const book = readBook(librarythingCodec,
    makeTabRow({ Title: 'A', Publication: 'Ace (1987), Edition: 2nd, 304 pages' }));
  assert.equal(book['bookEdition'], '2nd');
});

test('names are turned around, and roles that are no authors are kept', () => {
  const cases: readonly (readonly [fields: Readonly<Record<string, string>>,
    names: readonly string[], isKept: boolean])[] = [
    [{ 'Primary Author': 'Le Guin, Ursula K.' }, ['Ursula K. Le Guin'], false],
    [{ 'Primary Author': 'King, Martin Luther, Jr.' }, ['Martin Luther King Jr.'], false],
    [{ 'Primary Author': 'Homer' }, ['Homer'], false],
    [{ 'Primary Author': 'B, A', 'Primary Author Role': 'Editor' }, ['A B'], true],
    [{ 'Primary Author': 'B, A', 'Secondary Author': 'D, C|F, E',
      'Secondary Author Roles': 'Author|Illustrator' }, ['A B', 'C D'], true],
    [{ 'Secondary Author': 'D, C' }, ['C D'], false],
    [{ 'Primary Author': 'B, A', 'Secondary Author Roles': 'Illustrator' }, ['A B'], true],
    [{ 'Primary Author': 'B, A', 'Secondary Author': 'D, C',
      'Secondary Author Roles': 'Author|Illustrator' }, ['A B', 'C D'], true],
  ];
  for (const [fields, names, isKept] of cases) {
    const book = readBook(librarythingCodec, makeTabRow({ Title: 'A', ...fields }));
    assert.deepEqual((book['authors'] as { name: string }[]).map(({ name }) => name), names);
    assert.deepEqual(sourceOf(book), isKept ? fields : {});
  }
});

test('an author of the JSON export may be an empty list, or missing', () => {
  const cases: readonly (readonly [members: JsonObject, authors: JsonValue | undefined])[] = [
    [{ authors: [[]] }, undefined], [{ authors: 'x' }, undefined], [{}, undefined],
    [{ authors: [{ fl: 'Gabriel García Márquez', lf: 'García Márquez, Gabriel' }] },
      [{ name: 'Gabriel García Márquez', givenName: 'Gabriel', familyName: 'García Márquez' }]],
    [{ authors: [{ fl: 'Mao Zedong', lf: 'Mao, Zedong' }] }, [{ name: 'Mao Zedong' }]],
    [{ primaryauthor: 'Lackey, Chris', secondaryauthor: 'Fifer, Chad' }, [
      { name: 'Chris Lackey', givenName: 'Chris', familyName: 'Lackey' },
      { name: 'Chad Fifer', givenName: 'Chad', familyName: 'Fifer' },
    ]],
  ];
  for (const [members, authors] of cases) {
    const book = readBook(librarythingCodec, JSON.stringify({ 1: { title: 'A', ...members } }));
    assert.deepEqual(book['authors'], authors);
  }
});

test('series of the JSON export are texts, alone or in a list, with the place in brackets', () => {
  for (const [series, expected] of [
    ['Saga', [{ name: 'Saga' }]],
    [['Discworld (4)', 'Death (1.5)'],
      [{ name: 'Discworld', position: 4 }, { name: 'Death', position: 1.5 }]],
    [{ 0: 'Penguin Classics (1990)' }, [{ name: 'Penguin Classics (1990)' }]],
    [[], undefined],
  ]) {
    const book = readBook(librarythingCodec, JSON.stringify({ 1: { title: 'A', series } }));
    assert.deepEqual(book['series'], expected);
    const fields = Object(book['metadata']).source?.librarything ?? {};
    assert.equal(Object.hasOwn(fields, 'series'), false);
  }
});

test('numbers of the JSON export are read as the texts that they would be', () => {
  const member = { title: 1984, pages: 336, date: 1949, originalisbn: 9780141036144, rating: 4 };
  assert.deepEqual(readBook(librarythingCodec, JSON.stringify({ 1: member })), {
    title: '1984', isbn: '9780141036144', datePublished: '1949', numberOfPages: 336,
    reading: { rating: 4 }, metadata: { source: { librarything: { 'Book Id': '1' } } },
  });
});

test('names of the JSON export lose neither their roles nor those that its list lacks', () => {
  const authors = [{ lf: 'B, A', fl: 'A B' }];
  const cases: readonly (readonly [members: JsonObject, names: readonly string[],
    kept: JsonObject])[] = [
    [{ primaryauthor: 'B, A', secondaryauthor: 'D, C|F, E',
      secondaryauthorroles: 'Translator|Author' }, ['A B', 'E F'], {
      primaryauthor: 'B, A', secondaryauthor: 'D, C|F, E',
      secondaryauthorroles: 'Translator|Author',
    }],
    [{ primaryauthor: 'B, A', secondaryauthor: 'F, E', secondaryauthorroles: 'Author' },
      ['A B', 'E F'], {}],
    [{ authors, primaryauthor: 'B, A', secondaryauthor: 'D, C' }, ['A B'],
      { primaryauthor: 'B, A', secondaryauthor: 'D, C' }],
  ];
  for (const [members, names, kept] of cases) {
    const book = readBook(librarythingCodec, JSON.stringify({ 1: { title: 'A', ...members } }));
    assert.deepEqual((book['authors'] as { name: string }[]).map(({ name }) => name), names);
    assert.deepEqual(sourceOf(book), kept);
  }
});

longTest('blank lines before an export are passed in linear time, wherever chunks end', () => {
  const blanks = '\n'.repeat(60_000);
  for (const [file, line] of [
    ['Book Id\tTitle\tPrimary Author\n7\tA\n', 60_002], ['{"7":{"title":"A"}}', 60_001],
    ['[\n{"books_id":7,"title":"A"}]', 60_002],
  ] as const) {
    for (const chunkBytes of [1, 65_536]) {
      const before = process.cpuUsage();
      const records = readText(librarythingCodec, blanks + file, { chunkBytes });
      assert.ok(process.cpuUsage(before).user < 2_000_000, file);
      assert.deepEqual(records.map((record) => [record.line, 'key' in record && record.key]),
        [[line, '7']]);
    }
  }
});

test('an ISBN is read in brackets, from a list and from an object', () => {
  for (const [members, isbn] of [
    [{ isbn: ['978-0-394-75284-6'] }, '9780394752846'],
    [{ isbn: { 0: '0394752848' } }, '9780394752846'], [{ originalisbn: '' }, undefined],
    [{ originalisbn: 'B00X', isbn: ['0394752848'] }, '9780394752846'],
  ] as const) {
    const book = readBook(librarythingCodec, JSON.stringify({ 1: { title: 'A', ...members } }));
    assert.equal(book['isbn'], isbn);
  }
  const book = readBook(librarythingCodec, makeTabRow({ Title: 'A', ISBN: '[]', ISBNs: '' }));
  assert.deepEqual(book, { title: 'A' });
});

test('a language is read by its name, and the second one kept', () => {
  for (const [Languages, language, isKept] of [
    ['French', 'fr', false], ['English, French', 'en', true], ['Greek (Ancient)', 'grc', false],
    ['Klingonese', undefined, true],
  ] as const) {
    const book = readBook(librarythingCodec, makeTabRow({ Title: 'A', Languages }));
    assert.equal(book['inLanguage'], language, Languages);
    assert.equal(sourceOf(book)['Languages'], isKept ? Languages : undefined);
  }
});

test('a date that is none is kept, and a year of a copyright is a year', () => {
  for (const [date, published, isKept] of [
    ['1979', '1979', false], ['1979-05', '1979-05', false], ['?', undefined, true],
    ['no date', undefined, true], ['c1979', '1979', true],
  ] as const) {
    const book = readBook(librarythingCodec, makeTabRow({ Title: 'A', Date: date }));
    assert.equal(book['datePublished'], published);
    assert.equal(sourceOf(book)['Date'], isKept ? date : undefined);
  }
});

test('a broken line and a broken member are named by their book ids', () => {
  const text = 'Book Id\tTitle\tPrimary Author\n1\tA\n2\tB\tC\tD\n3\t"A\n';
  assert.deepEqual(summarise(text), [[2, '1', undefined],
    [3, '2', '4 cells, but the header names 3'], [4, '3', undefined]]);
  const json = '{"1":{"title":"A"},\n"2":{"title":A},\n"3":7,\n"4":{"title":"D"}}';
  const lines = summarise(json);
  assert.deepEqual(lines.map(([line, key]) => [line, key]),
    [[1, '1'], [2, '2'], [3, '3'], [4, '4']]);
  assert.deepEqual(lines.map(([, , problem]) => problem === undefined), [true, false, false, true]);
});

test('an export that a spreadsheet has saved with commas is read with its quotes', () => {
  const book = readBook(librarythingCodec,
    makeRow({ 'Book Id': '1', 'Title': 'A, "B"', 'Primary Author': 'C, D' }));
  assert.equal(book['title'], 'A, "B"');
});

test('tags of the JSON export are kept where not all of them are keywords', () => {
  for (const [tags, keywords, isKept] of [
    [['a', 'b'], ['a', 'b'], false], [['a', 7], ['a', '7'], false],
    [['a', ['b']], ['a'], true], [[], undefined, false],
    [Array.from({ length: 200 }, (_, index) => `${index % 7}`), ['0', '1', '2', '3', '4', '5', '6'],
      true],
  ] as const) {
    const book = readBook(librarythingCodec, JSON.stringify({ 1: { title: 'A', tags } }));
    assert.deepEqual(book['keywords'], keywords);
    assert.deepEqual(sourceOf(book)['tags'], isKept ? tags : undefined);
  }
});

test('records of an array have their own ids for keys', () => {
  assert.deepEqual(summarise('[{"books_id":7,"title":"A"}]').map(([, key]) => key), ['7']);
});

function summarise(file: string): (readonly [number, string | null, string | undefined])[] {
  return readText(librarythingCodec, file).map((record) =>
    [record.line, ('key' in record ? record.key : null) ?? null, record.problem]);
}

function makeTabRow(fields: Readonly<Record<string, string>>): string {
  return makeRow(
    { 'Book Id': '', 'Primary Author': '', ...fields, Last: '' }, '\t', false);
}

function sourceOf(book: JsonObject): JsonObject {
  const metadata = book['metadata'] as { source?: { librarything?: JsonObject } } | undefined;
  const { 'Book Id': id, books_id, ...source } = metadata?.source?.librarything ?? {};
  return source;
}
