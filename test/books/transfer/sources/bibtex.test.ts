/** Books come and go as BibTeX, and come back as they were. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { bibtexCodec } from '../../../../src/books/transfer/sources/bibtex.ts';
import {
  bodyOf, comparable, importBook, readText, withoutSpace, writeText,
} from '../../../support/format-round-trip.ts';

function readFields(fields: string): JsonObject {
  const records = readText(bibtexCodec, `@book{k,\n${fields}\n}`);
  assert.equal(records.length, 1);
  return bodyOf(records[0]);
}

/** The text of these books where nothing but their ids is in the field of our own. */
function writeWithoutIds(books: readonly object[]): string {
  return writeText(bibtexCodec, books.map((book) => ({ id: 'a', ...book })))
    .replaceAll(/,\n {2}x-hookshelf = \{\{"id":"[^"]*"\}\}/g, '');
}

function sourceOf(book: JsonObject): JsonValue | undefined {
  return (book['metadata'] as { source?: { bibtex?: JsonValue } } | undefined)?.source?.bibtex;
}

function assertRoundTrip(books: readonly JsonObject[]): void {
  const text = writeText(bibtexCodec, books);
  const records = readText(bibtexCodec, text);
  assert.equal(records.length, books.length);
  const bodies = records.map(bodyOf);
  for (const [index, body] of bodies.entries()) {
    assert.deepEqual(comparable(body), comparable(books[index] ?? {}));
  }
  const again = writeText(bibtexCodec, bodies.map(importBook)).split('\n\n');
  for (const [index, entry] of text.split('\n\n').entries()) {
    assert.equal(withoutSpace(again[index] ?? ''), withoutSpace(entry));
  }
}

test('a book is written as people write it, with its rest beside', () => {
  const book = {
    id: 'a', title: 'War & Peace', subtitle: '50% {of} it', isbn: '9780140447934',
    authors: [{ name: 'Leo Tolstoy', givenName: 'Leo', familyName: 'Tolstoy' },
      { name: 'Martin Luther King Jr.', givenName: 'Martin Luther', familyName: 'King' },
      { name: 'Sons and Daughters' }],
    publisher: 'Little, Brown and Company', datePublished: '2019-03-05', inLanguage: 'de-AT',
    numberOfPages: 1225, bookFormat: 'Hardcover', keywords: ['war', 'a, b'],
    url: 'https://a.example/x_y{}?a=%20#b', bookEdition: '2', description: 'A } brace',
  };
  assert.equal(writeText(bibtexCodec, [book]), [
    '@book{Tolstoy2019,',
    '  author = {Tolstoy, Leo and King, Jr., Martin Luther and {Sons and Daughters}},',
    '  title = {{War \\& Peace}},', '  subtitle = {50\\% \\{of\\} it},', '  edition = {2},',
    '  publisher = {{Little, Brown and Company}},', '  date = {2019-03-05},', '  year = {2019},',
    '  isbn = {9780140447934},', '  langid = {austrian},', '  pagetotal = {1225},',
    '  keywords = {war, {a, b}},', '  url = {https://a.example/x_y%7B%7D?a=%20#b},',
    '  abstract = {A \\vphantom{\\{}\\} brace},',
    '  x-hookshelf = {{"id":"a","bookFormat":"Hardcover",'
      + '"url":"https://a.example/x_y\\u007b\\u007d?a=%20#b"}}', '}', '',
  ].join('\n'));
  assertRoundTrip([book]);
});

test('a name of one word and what follows it comes back as it is, and as no given name', () => {
  for (const name of ['John Jr.', 'Henry VIII', 'Dumas, Sr.']) {
    const authors = [{ name }];
    const text = writeWithoutIds([{ title: 'T', authors }]);
    assert.doesNotMatch(text, /author = \{[^{]*, /, text);
    assertRoundTrip([{ id: 'a', title: 'T', authors }]);
    assert.doesNotMatch(text, /x-hookshelf/);
  }
});

test('titles keep the case of their letters in braces, where a program would change it', () => {
  // Behind a colon, and as the first letter, pandoc makes small ones large.
  const changed = ['Emma: A Novel', 'iPad', 'AB', 'War & Peace', 'Emma: a novel', 'So? “no”',
    '¿qué?', '… and then'];
  for (const title of changed) {
    assert.match(writeText(bibtexCodec, [{ title, authors: [] }]), /title = \{\{.*\}\}/);
    assertRoundTrip([{ id: 'a', title, authors: [] }]);
  }
  for (const title of ['Emma', 'Eine alte stadt', '1984', '活着', '3 small pigs', 'A: 2 and b']) {
    assert.match(writeText(bibtexCodec, [{ title, authors: [] }]), /title = \{[^{}]*\}/);
  }
});

test('Greek letters are read as bibutils writes them', () => {
  assert.equal(readFields('title = {$\\Kappa$$\\omicron$ $\\Sigma$}')['title'], 'Κο Σ');
});

test('a month is written as its string, a tag without a babel name as it is', () => {
  const text = writeWithoutIds(
    [{ title: 'A', authors: [], datePublished: '1999-02', inLanguage: 'pt-AO' }]);
  assert.match(text, /year = \{1999\},\n {2}month = feb,\n {2}language = \{pt-AO\}\n\}/);
});

test('an entry is read, and what the model lacks is kept as it stood', () => {
  const book = readFields([
    'Author = {Knuth, Donald~E. and {\\"U}ber, J{\\"o}rg and others},',
    'Title = "The {\\TeX}book: G{\\"o}del\'s {TCP/IP}",', 'year = 1986, month = 10 # "~" # jan,',
    'isbn = {0-201-13447-0}, Date-Added = {2001-02-03}, langid = {ngerman},',
    'address = {Reading}, pages = {xii+320}, pagetotal = {483}, note = {}, abstract = {A -- b},',
    'keywords = {a; b}, url = {https://a.example/x\\_y}, edition = {Second}',
  ].join('\n'));
  const { metadata, ...members } = book;
  assert.deepEqual(members, {
    authors: [{ name: 'Donald E. Knuth', givenName: 'Donald E.', familyName: 'Knuth' },
      { name: 'Jörg Über', givenName: 'Jörg', familyName: 'Über' }],
    title: 'The TeXbook: Gödel\'s TCP/IP', bookEdition: 'Second', datePublished: '1986-01-10',
    isbn: '9780201134476', inLanguage: 'de', numberOfPages: 483, keywords: ['a', 'b'],
    url: 'https://a.example/x_y', description: 'A – b',
  });
  assert.deepEqual(sourceOf(book), {
    citationkey: 'k', author: 'Knuth, Donald~E. and {\\"U}ber, J{\\"o}rg and others',
    title: 'The {\\TeX}book: G{\\"o}del\'s {TCP/IP}', 'Date-Added': '2001-02-03',
    address: 'Reading', pages: 'xii+320',
  });
});

type NameCase =
  readonly [latex: string, name: string, given?: string | undefined, family?: string];

test('names are read by BibTeX\'s rules', () => {
  const cases: readonly NameCase[] = [
    ['Donald E. Knuth', 'Donald E. Knuth', 'Donald E.', 'Knuth'],
    ['Ludwig van Beethoven', 'Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['de la Fontaine, Jean', 'Jean de la Fontaine', 'Jean', 'de la Fontaine'],
    ['Charles Louis Xavier Joseph de la Vall{\\\'e}e Poussin',
      'Charles Louis Xavier Joseph de la Vallée Poussin', 'Charles Louis Xavier Joseph',
      'de la Vallée Poussin'],
    ['King, Jr., Martin Luther', 'Martin Luther King Jr.', 'Martin Luther', 'King'],
    ['Frederick P. Brooks Jr.', 'Frederick P. Brooks Jr.', 'Frederick P.', 'Brooks'],
    ['Homer', 'Homer', undefined, 'Homer'],
    ['{World Health Organization}', 'World Health Organization'],
    ['{Simon and Schuster}', 'Simon and Schuster'],
    ['{van der Berg}, Jan', 'Jan van der Berg', 'Jan', 'van der Berg'],
    ['family=Harman, given={Hans Peter}, prefix=von', 'Hans Peter von Harman', 'Hans Peter',
      'von Harman'],
    ['Gabriel {Garc{\\\'i}a M{\\\'a}rquez}', 'Gabriel García Márquez', 'Gabriel',
      'García Márquez'],
  ];
  const names = cases.map(([latex]) => latex).join('\n AND ');
  assert.deepEqual(readFields(`title={T}, author={${names}}`)['authors'],
    cases.map(([, name, givenName, familyName]) => ({
      name, ...(givenName === undefined ? {} : { givenName }),
      ...(familyName === undefined ? {} : { familyName }),
    })));
});

test('a list that stands for one name is read as names, or stays and is kept', () => {
  for (const [latex, names] of [
    ['Roe, W.; Rob, J.', ['W. Roe', 'J. Rob']], ['{Roe; Rob}', ['Roe; Rob']],
    ['Ali, M., Ding, T., Lago, P.', ['Ali, M., Ding, T., Lago, P.']],
  ] as const) {
    const book = readFields(`title={T}, author={${latex}}`);
    const authors = book['authors'] as readonly JsonObject[];
    assert.deepEqual(authors.map((author) => author['name']), names);
    const source = sourceOf(book) as JsonObject;
    assert.equal(source['author'], latex.startsWith('{') ? undefined : latex);
    assert.ok(writeText(bibtexCodec, [importBook(book)]).includes(`author = {${latex}}`));
  }
});

test('dates are read in all forms; what they say besides is kept', () => {
  const cases: readonly (readonly [fields: string, date: string | undefined, kept: string])[] = [
    ['date={2019-03-05}', '2019-03-05', ''], ['date={2019-03}, year=2019', '2019-03', ''],
    ['year=1999, month=sep', '1999-09', ''], ['year={1999}, month={September}', '1999-09', ''],
    ['year=1999, month=7, day=4', '1999-07-04', ''],
    ['month="4~"#jul, year=1999', '1999-07-04', ''],
    ['date={1999/2001}', '1999', 'date'], ['date={1999~}', '1999', 'date'],
    ['year={c. 1999}', '1999', 'year'], ['year=1999, month={Spring}', '1999', 'year,month'],
    ['date={975}', '0975', ''], ['year=975, month=may', '0975-05', ''],
    ['year={-750}', undefined, 'year'], ['year={in press}', undefined, 'year'],
    ['date={soon}, year=1999', '1999', 'date,year'],
    ['date={1999}, year=2000', '1999', 'date,year'],
    ['date={1999}, year={in press}', '1999', 'date,year'],
    ['date=1999, year=1999, month=5', '1999-05', ''],
    ['year=1999, month=feb, day=31', '1999-02', 'year,month,day'],
    ['date={199X}', undefined, 'date'], ['year={199?}', undefined, 'year'],
    ['date={2013-00-00}', '2013', 'date'], ['date={2001-21}', '2001', 'date'],
    ['date={1990-02-30}', '1990-02', 'date'], ['date={30-Mar-2020}', '2020', 'date'],
  ];
  for (const [fields, date, kept] of cases) {
    const book = readFields(`title={T}, ${fields}`);
    assert.equal(book['datePublished'], date, fields);
    const { citationkey, ...others } = sourceOf(book) as JsonObject;
    assert.deepEqual(Object.keys(others).join(), kept, fields);
  }
});

test('parts of books are books only when all types are asked for, and stay what they are', () => {
  const types = ['article', 'incollection', 'inbook', 'phdthesis', 'misc', 'book', 'mvbook',
    'proceedings', 'collection', 'booklet'];
  const text = types.map((type) => `@${type}{${type}, title={T}}\n`).join('');
  const records = readText(bibtexCodec, text);
  assert.deepEqual(records.flatMap((record) => 'otherType' in record ? [record.otherType] : []),
    types.slice(0, 5));
  const all = readText(bibtexCodec, text, { hasAllTypes: true }).map(bodyOf);
  const written = writeText(bibtexCodec, all.map(importBook));
  assert.deepEqual([...written.matchAll(/^@(\w+)\{(\w+),/gm)].map(([, type, key]) => [type, key]),
    types.map((type) => [type, type]));
});

test('a file comes back as it was: fields that no member holds, and those that say more', () => {
  const fields = {
    author: '{World Health Organization} and Ann Lee and others',
    title: 'The {TCP/IP} \\emph{Guide}',
    isbn: '978-0-441-47812-5 (pbk.)', year: '[1999?]', month: 'Spring',
    publisher: '{Simon and Schuster}', 'Bdsk-Url-1': 'http://x_y', note: 'a\n    b  {c}',
    crossref: 'other', keywords: 'a; b', url: '\\url{https://a.example/a\\_b}',
  };
  const text = `@inbook{Le-Guin:1969,${
    Object.entries(fields).map(([name, value]) => `${name} = {${value}}`).join(',\n')}}`;
  const book = importBook(bodyOf(readText(bibtexCodec, text, { hasAllTypes: true })[0]));
  const again = writeWithoutIds([book]);
  assert.match(again, /^@inbook\{Le-Guin:1969,\n/);
  for (const name of ['author', 'title', 'isbn', 'year', 'month', 'Bdsk-Url-1', 'note',
    'crossref'] as const) {
    assert.ok(again.includes(`${name} = {${fields[name]}}`), `${name} in ${again}`);
  }
  const bookAgain = importBook(bodyOf(readText(bibtexCodec, again, { hasAllTypes: true })[0]));
  assert.deepEqual(bookAgain, book);
});

test('a field that says more stands alone, without those that say less of the same', () => {
  const entry = '@mvbook{k,\n  title = {T},\n  date = {2001/2003}\n}\n';
  const book = importBook(bodyOf(readText(bibtexCodec, entry)[0]));
  assert.equal(book['datePublished'], '2001');
  assert.equal(writeWithoutIds([book]), entry);
});

test('what a person edits is written, and the other fields stay as they stood', () => {
  const book = readFields('author = {{NASA} and others}, title = {The {TCP} \\emph{Guide}}');
  const [author, title] = ['author = {{NASA} and others}', 'title = {The {TCP} \\emph{Guide}}'];
  const written = (changes: JsonObject): string =>
    writeText(bibtexCodec, [importBook({ ...book, ...changes })]);
  for (const field of [author, title]) assert.ok(written({}).includes(field));
  assert.ok(written({ title: 'Other' }).includes(author));
  // Also where a name has to stand in the rest, as its parts are not known.
  const withOthers = written({ authors: [{ name: 'Ann Lee' }] });
  assert.match(withOthers, /author = \{Lee, Ann\}/);
  assert.ok(withOthers.includes(title));
  const [record] = readText(bibtexCodec, withOthers);
  assert.deepEqual(bodyOf(record)['authors'], [{ name: 'Ann Lee' }]);
});

test('what a caller has put into the source breaks no file', () => {
  const source = {
    citationkey: 'a b}', 'bad name{': 'x', entrytype: 'comment', note: '} @book{x,',
    list: ['a', '{'],
    number: 1, object: { a: '}' },
  };
  const book = { title: 'T', authors: [], metadata: { source: { bibtex: source } } };
  const [record, ...others] = readText(bibtexCodec, writeText(bibtexCodec, [book]));
  assert.deepEqual(others, []);
  assert.equal(bodyOf(record)['title'], 'T');
});

test('the first series has fields of its own, and all else of series and reading the rest', () => {
  const series = [{ name: 'Discworld & Co', position: 4 }, { name: 'Death', position: 1.5 }];
  const reading = { status: 'read', rating: 4.5, review: 'Fine {it} is.\n\nTwice  so.' };
  const text = writeText(bibtexCodec, [{ id: 'a', title: 'Mort', authors: [], series, reading }]);
  assert.match(text, /^ {2}series = \{Discworld \\& Co\},\n {2}number = \{4\},$/m);
  const [record] = readText(bibtexCodec, text);
  const { metadata, ...body } = bodyOf(record);
  assert.deepEqual(body, { title: 'Mort', series, reading });
  const one = writeWithoutIds([{ title: 'Mort', authors: [], series: series.slice(0, 1) }]);
  assert.doesNotMatch(one, /x-hookshelf/);
  // Another program keeps what it knows.
  const renamed = text.replace('Discworld', 'Disc').replace(/,\n {2}x-hookshelf = .*/, '');
  assert.deepEqual(bodyOf(readText(bibtexCodec, renamed)[0])['series'],
    [{ name: 'Disc & Co', position: 4 }]);
});

test('a number that is no position stays with its series in the source', () => {
  for (const [fields, series, kept] of [
    ['Series = {S}, number = 12', { name: 'S', position: 12 }, {}],
    ['series = {S}, number = {1.25}', { name: 'S', position: 1.25 }, {}],
    ['series = {S}', { name: 'S' }, {}],
    ['series = {S}, number = {04}', { name: 'S' }, { series: 'S', number: '04' }],
    ['series = {S}, number = {4--6}', { name: 'S' }, { series: 'S', number: '4--6' }],
    ['series = {S}, number = {200000}', { name: 'S' }, { series: 'S', number: '200000' }],
    ['series = {\\emph{S}}', { name: 'S' }, { series: '\\emph{S}' }],
    ['number = {7}', undefined, { number: '7' }],
  ] as const) {
    const book = readFields(`title = {T}, ${fields}`);
    assert.deepEqual(book['series'], series === undefined ? undefined : [series], fields);
    assert.deepEqual(sourceOf(book), { citationkey: 'k', ...kept }, fields);
    const again = bodyOf(readText(bibtexCodec, writeText(bibtexCodec, [importBook(book)]))[0]);
    const { 'x-hookshelf': _, ...sourceAgain } = sourceOf(again) as JsonObject;
    assert.deepEqual([again['series'], sourceAgain], [book['series'], sourceOf(book)], fields);
  }
});

test('a field or a type that no entry can have is counted as left out', () => {
  for (const [source, count] of [
    [{ note: 'x' }, 0], [{ größe: '20 cm' }, 1], [{ entrytype: 'größe' }, 1],
    [{ entrytype: 'incollection' }, 0],
  ] as const) {
    const writer = bibtexCodec.createWriter?.({});
    assert.ok(writer !== undefined);
    const book = { title: 'T', authors: [], metadata: { source: { bibtex: source } } };
    writer.write([Buffer.from(JSON.stringify(book))]);
    assert.equal(writer.leftOutCount, count, JSON.stringify(source));
  }
});

test('a book that has the fields of its parents does not wait for them again', () => {
  const text = '@xdata{x, publisher={P}}@periodical{p, note={N}}'
    + '@book{a, title={A}, xdata={x}}@book{b, title={B}, crossref={p}}';
  const books = readText(bibtexCodec, text).filter((record) => 'body' in record).map(bodyOf);
  const again = readText(bibtexCodec, writeWithoutIds(books.map(importBook)));
  assert.deepEqual(again.map(bodyOf), books);
  assert.deepEqual(books.map(({ publisher }) => publisher), ['P', undefined]);
});

test('a field that was edited elsewhere beats the rest field', () => {
  const authors = [{ name: 'Ann Lee', birthDate: '1960' }];
  const book = { title: 'T', authors, bookFormat: 'EBook' };
  const edited = writeText(bibtexCodec, [book]).replace('Lee, Ann', 'Roe, Ann');
  const body = bodyOf(readText(bibtexCodec, edited)[0]);
  assert.deepEqual(body['authors'], [{ name: 'Ann Roe', givenName: 'Ann', familyName: 'Roe' }]);
  assert.equal(body['bookFormat'], 'EBook');
});
