import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { goodreadsCodec } from '../../../../src/books/transfer/sources/goodreads.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { makeRow as makeTableRow, readBook } from './read-export.ts';

const COLUMNS = 'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,'
  + 'Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,'
  + 'Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,'
  + 'Private Notes,Read Count,Owned Copies';
const OLD_COLUMNS = COLUMNS.replace('Read Count,Owned Copies', 'Read Count,Recommended For,'
  + 'Recommended By,Owned Copies,Original Purchase Date,Original Purchase Location,Condition,'
  + 'Condition Description,BCID');

test('a record of a Goodreads export is a book, and all else that it says is kept', () => {
  const file = `${COLUMNS}\n2767052,"The Hunger Games (The Hunger Games, #1)",Suzanne Collins,`
    + '"Collins, Suzanne",,"=""0439023483""","=""9780439023481""",5,4.34,Scholastic Press,'
    + 'Hardcover,374,2008,2008,2023/01/05,2022/12/24,"favorites, ya","favorites (#3), ya (#1)",'
    + 'read,"Gripping,<br/>""<i>brutal</i>"".",,,1,2\n';
  assert.deepEqual(readBook(goodreadsCodec, file), {
    title: 'The Hunger Games',
    authors: [{ name: 'Suzanne Collins', givenName: 'Suzanne', familyName: 'Collins' }],
    isbn: '9780439023481', publisher: 'Scholastic Press', datePublished: '2008',
    numberOfPages: 374, bookFormat: 'Hardcover',
    series: [{ name: 'The Hunger Games', position: 1 }],
    reading: {
      status: 'read', rating: 5, finishedOn: '2023-01-05', readCount: 1,
      shelves: ['favorites', 'ya'], review: 'Gripping,\n"brutal".', owned: true,
    },
    metadata: {
      source: {
        goodreads: {
          'Book Id': '2767052', 'Title': 'The Hunger Games (The Hunger Games, #1)',
          'Average Rating': '4.34', 'Original Publication Year': '2008',
          'Date Added': '2022/12/24', 'Bookshelves with positions': 'favorites (#3), ya (#1)',
          'My Review': 'Gripping,<br/>"<i>brutal</i>".', 'Owned Copies': '2',
        },
      },
    },
  });
});

test('31 columns of older exports are read, and semicolons that a spreadsheet put in', () => {
  const cells = ['1', 'A', 'B C', 'C, B', '', '', '', '0', '', '', '', '', '', '', '', '', '', '',
    'read', '', '', '', '', 'Ada', '', '', '2020/05/01', 'Paris', '', '', '123'];
  for (const separator of [',', ';', '\t']) {
    const row = cells.map((cell) => `"${cell}"`).join(separator);
    const file = `${OLD_COLUMNS.replaceAll(',', separator)}\r\n${row}\r\n`;
    const book = readBook(goodreadsCodec, file);
    assert.deepEqual(book['authors'], [{ name: 'B C', givenName: 'B', familyName: 'C' }]);
    assert.deepEqual(sourceOf(book), {
      'Book Id': '1', 'Recommended For': 'Ada',
      'Original Purchase Date': '2020/05/01', 'Original Purchase Location': 'Paris', 'BCID': '123',
    });
  }
});

test('an ISBN is read out of its formula, and the ten digits where the thirteen are lost', () => {
  const cases: readonly (readonly [isbn: string, isbn13: string, read: JsonValue | undefined,
    kept: JsonObject])[] = [
    ['="0439023483"', '="9780439023481"', '9780439023481', {}],
    ['="0439023483"', '=""', '9780439023481', {}],
    ['0439023483', '9780439023481', '9780439023481', {}],
    ['=""', '=""', undefined, {}],
    ['="0439023483"', '9.78E+12', '9780439023481',
      { ISBN: '="0439023483"', ISBN13: '9.78E+12' }],
    ['', '9.78E+12', undefined, { ISBN13: '9.78E+12' }],
    ['439023483', '9.78044E+12', undefined, { ISBN: '439023483', ISBN13: '9.78044E+12' }],
    ['="0441478123"', '="9780439023481"', '9780439023481',
      { ISBN: '="0441478123"', ISBN13: '="9780439023481"' }],
  ];
  for (const [ISBN, ISBN13, isbn, kept] of cases) {
    const book = readBook(goodreadsCodec, makeRow({ 'Book Id': '1', 'Title': 'A', ISBN, ISBN13 }));
    assert.equal(book['isbn'], isbn, `${ISBN} ${ISBN13}`);
    assert.deepEqual(sourceOf(book), { 'Book Id': '1', ...kept });
  }
  const unquoted =
    readBook(goodreadsCodec,
      'Book Id,Title,Author,ISBN,ISBN13\n1,A,,="0439023483",="9780439023481"\n');
  assert.equal(unquoted['isbn'], '9780439023481');
});

test('additional authors are split at commas, but not before Jr. and the like', () => {
  const cases: readonly (readonly [author: string, others: string, names: readonly string[]])[] = [
    ['Terry  Pratchett', 'Neil Gaiman', ['Terry Pratchett', 'Neil Gaiman']],
    ['Sammy Davis, Jr.', 'Martin Luther King, Jr., Clayborne Carson, Henry Gates, III',
      ['Sammy Davis, Jr.', 'Martin Luther King, Jr.', 'Clayborne Carson', 'Henry Gates, III']],
    ['A B', 'C D, Ph.D., E F, MD, A B, Studio, Inc.',
      ['A B', 'C D, Ph.D.', 'E F, MD', 'Studio, Inc.']],
    ['', 'C D', ['C D']], ['A B', ', ,', ['A B']],
  ];
  for (const [Author, others, names] of cases) {
    const book = readBook(goodreadsCodec,
      makeRow({ 'Book Id': '1', 'Title': 'A', Author, 'Additional Authors': others }));
    assert.deepEqual(namesOf(book), names);
    assert.deepEqual(sourceOf(book), { 'Book Id': '1' });
  }
});

test('the family name is taken from the inverted name where that is the same name', () => {
  const cases: readonly (readonly [name: string, inverted: string, author: JsonObject])[] = [
    ['Ursula K. Le Guin', 'Le Guin, Ursula K.',
      { name: 'Ursula K. Le Guin', givenName: 'Ursula K.', familyName: 'Le Guin' }],
    ['Robert  Jordan', 'Jordan, Robert',
      { name: 'Robert Jordan', givenName: 'Robert', familyName: 'Jordan' }],
    ['Homer', 'Homer', { name: 'Homer' }],
    ['Martin Luther King Jr.', 'Jr., Martin Luther King',
      { name: 'Martin Luther King Jr.', givenName: 'Martin Luther', familyName: 'King' }],
  ];
  for (const [Author, inverted, author] of cases) {
    const book = readBook(goodreadsCodec,
      makeRow({ 'Book Id': '1', 'Title': 'A', Author, 'Author l-f': inverted }));
    assert.deepEqual(book['authors'], [author]);
    assert.deepEqual(sourceOf(book), { 'Book Id': '1' });
  }
  const other = readBook(goodreadsCodec,
    makeRow({ 'Book Id': '1', 'Title': 'A', 'Author': 'B C', 'Author l-f': 'D, E' }));
  assert.deepEqual(other['authors'], [{ name: 'B C' }]);
  assert.equal(sourceOf(other)['Author l-f'], 'D, E');
});

test('the year of the edition comes before the year of the work', () => {
  const cases: readonly (readonly [edition: string, work: string, date: JsonValue | undefined,
    kept: JsonObject])[] = [
    ['2008', '1969', '2008', { 'Original Publication Year': '1969' }],
    ['', '1969', '1969', {}], ['2023/01/05', '', '2023-01-05', {}], ['', '800', '0800', {}],
    ['', '-750', undefined, { 'Original Publication Year': '-750' }],
    ['2003', '-750', '2003', { 'Original Publication Year': '-750' }],
    ['0', '1969', '1969', { 'Year Published': '0' }],
  ];
  for (const [edition, work, date, kept] of cases) {
    const book = readBook(goodreadsCodec, makeRow({
      'Book Id': '1', 'Title': 'A', 'Year Published': edition, 'Original Publication Year': work,
    }));
    assert.equal(book['datePublished'], date, `${edition} ${work}`);
    assert.deepEqual(sourceOf(book), { 'Book Id': '1', ...kept });
  }
});

test('a binding is a format of books, and kept where it says more', () => {
  const cases: readonly (readonly [binding: string, format: string | undefined,
    isKept: boolean])[] = [
    ['Hardcover', 'Hardcover', false], ['Paperback', 'Paperback', false], ['ebook', 'EBook', false],
    ['Mass Market Paperback', 'Paperback', true], ['Kindle Edition', 'EBook', true],
    ['Audible Audio', 'AudiobookFormat', true], ['Audio CD', 'AudiobookFormat', true],
    ['Library Binding', 'Hardcover', true], ['Comics', 'GraphicNovel', true],
    ['Unknown Binding', undefined, true],
  ];
  for (const [Binding, format, isKept] of cases) {
    const book = readBook(goodreadsCodec, makeRow({ 'Book Id': '1', 'Title': 'A', Binding }));
    assert.equal(book['bookFormat'], format);
    assert.equal(sourceOf(book)['Binding'], isKept ? Binding : undefined);
  }
});

test('a value that the model refuses stays in metadata, and the book stays', () => {
  const fields = {
    'Book Id': '1', 'Title': 'A', 'Number of Pages': '0', 'Publisher': 'x'.repeat(501),
    'Year Published': '20x8',
  };
  const book = readBook(goodreadsCodec, makeRow(fields));
  const { Title, ...kept } = fields;
  assert.deepEqual(book, { title: Title, metadata: { source: { goodreads: kept } } });
});

test('a text that is too long is named, and the own id is never left out', () => {
  const fields = { 'Title': 'A', 'Average Rating': '5', 'Book Id': '12' };
  const [record] = readText(goodreadsCodec, makeRow(
    { ...fields, 'My Review': 'x'.repeat(100_001), 'Private Notes': 'x'.repeat(17_000) }));
  assert.ok(record !== undefined && 'body' in record);
  assert.deepEqual(record.leftOut, ['My Review', 'Private Notes']);
  assert.deepEqual(sourceOf(record.body), { 'Average Rating': '5', 'Book Id': '12' });
  assert.equal(record.key, '12');
  const longest = { ...fields, 'My Review': '😀'.repeat(100_000) };
  assert.deepEqual(readBook(goodreadsCodec, makeRow(longest))['reading'],
    { review: longest['My Review'] });
});

test('a broken record is named by its line and its book id, and the next ones go on', () => {
  const file = 'Book Id,Title,Author\n1,A,B\n2,"A"x,B\n3,A,B,C\n,,\n4,A,"B\nC"\n5,"open,B\n';
  assert.deepEqual(readText(goodreadsCodec, file).map(({ line, ...record }) =>
    [line, 'key' in record ? record.key : null, record.problem]), [
    [2, '1', undefined], [3, '2', 'cell 2: text follows its closing quote'],
    [4, '3', '4 cells, but the header names 3'], [6, '4', undefined],
    [8, '5', 'a quoted cell is not closed'],
  ]);
});

test('a file without the columns of an export is refused with those that it lacks', () => {
  assert.throws(() => readText(goodreadsCodec, 'Book Id,Name,ISBN\n1,A,2\n'),
    /^AppError: line 1, the header of a Goodreads export: there is no column `Title`, `Author`/);
});

function makeRow(fields: Readonly<Record<string, string>>): string {
  return makeTableRow({ 'Book Id': '', 'Author': '', ...fields });
}

function sourceOf(book: JsonObject): JsonObject {
  const metadata = book['metadata'] as { source?: { goodreads?: JsonObject } } | undefined;
  return metadata?.source?.goodreads ?? {};
}

function namesOf(book: JsonObject): readonly JsonValue[] {
  return (book['authors'] as readonly { name: string }[]).map(({ name }) => name);
}
