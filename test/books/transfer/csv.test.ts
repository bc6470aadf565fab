import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import {
  createCsvReader, csvHeader, encodeCsvBook, guardText, unguardText,
} from '../../../src/books/transfer/csv.ts';
import { parseColumnMap } from '../../../src/books/transfer/csv-columns.ts';
import type { ColumnMap } from '../../../src/books/transfer/csv-columns.ts';
import { CsvRowSplitter, encodeCsvRow } from '../../../src/books/transfer/csv-rows.ts';
import type { SourceRecord } from '../../../src/books/transfer/record-splitter.ts';
import type { Book } from '../../../src/books/book.ts';
import type { JsonObject } from '../../../src/base/schema.ts';

const STAMPS = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

test('a book is one row: names as they are, other nested values as JSON', () => {
  const book: Book = {
    id: 'x', ...STAMPS, title: 'Good Omens, "nice"', numberOfPages: 288, subtitle: '',
    authors: [{ name: 'Terry Pratchett' }, { name: 'Neil Gaiman' }], keywords: ['a', 'b'],
    series: [{ name: 'Omens', position: 1.5 }],
    reading: {
      status: 'read', rating: 4.25, finishedOn: '2024-05', shelves: ['own'], review: '=2',
      owned: true,
    },
    description: '=1+1', mergedIds: ['y', 'goodreads:7'], metadata: { shelf: 1 },
  };
  assert.equal(encodeCsvBook(book), `x,${STAMPS.createdAt},${STAMPS.updatedAt},`
    + '"Good Omens, ""nice""","",Terry Pratchett; Neil Gaiman,,,,,288,,,"[""a"",""b""]",'
    + '"[{""name"":""Omens"",""position"":1.5}]",read,4.25,,2024-05,,"[""own""]",=2,true,'
    + '=1+1,,,"[""y"",""goodreads:7""]","{""shelf"":1}"\r\n');
  assert.equal(csvHeader, 'id,createdAt,updatedAt,title,subtitle,authors,isbn,publisher,'
    + 'datePublished,inLanguage,numberOfPages,bookEdition,bookFormat,keywords,series,'
    + 'reading.status,reading.rating,reading.startedOn,reading.finishedOn,reading.readCount,'
    + 'reading.shelves,reading.review,reading.owned,description,url,image,mergedIds,'
    + 'metadata\r\n');
});

test('authors are JSON as soon as names alone would not bring them back', () => {
  const cases: readonly (readonly [Book['authors'], string])[] = [
    [[], ''], [[{ name: 'A' }], 'A'], [[{ name: 'A; B' }], '[{"name":"A; B"}]'],
    [[{ name: 'Karl Marx & Paul Lafargue' }], '[{"name":"Karl Marx & Paul Lafargue"}]'],
    [[{ name: ' A' }], '[{"name":" A"}]'], [[{ name: '[A]' }], '[{"name":"[A]"}]'],
    [[{ name: 'A' }, { name: 'B', birthDate: '1960' }],
      '[{"name":"A"},{"name":"B","birthDate":"1960"}]'],
  ];
  for (const [authors, cell] of cases) {
    const row = encodeCsvBook({ id: 'x', ...STAMPS, title: 'T', authors });
    const expected = cell === '' || cell === 'A' ? cell : `"${cell.replaceAll('"', '""')}"`;
    assert.equal(row,
      `x,${STAMPS.createdAt},${STAMPS.updatedAt},T,,${expected}${','.repeat(22)}\r\n`);
  }
});

test('tables made by hand or by a spreadsheet are understood', () => {
  const cases: readonly (readonly [row: string, book: unknown])[] = [
    ['A,,,,', { title: 'A' }],
    ['A', { title: 'A' }],
    ['007,12,,,', { title: '007', numberOfPages: 12 }],
    ['A, 12 ,,,', { title: 'A', numberOfPages: 12 }],
    ['A,012,,,', { title: 'A', numberOfPages: 12 }],
    ['A,374 p.,,,', { title: 'A', numberOfPages: 374 }],
    ['A,,B;C ; ,,', { title: 'A', authors: [{ name: 'B' }, { name: 'C' }] }],
    ['A,,"[{""name"":""B""}]",,', { title: 'A', authors: [{ name: 'B' }] }],
    ['A,,,x; y,', { title: 'A', keywords: ['x', 'y'] }],
    ['A,,,,"{\n""a"":1}"', { title: 'A', metadata: { a: 1 } }],
    ['5" disk,,,,', { title: '5" disk' }],
    ['" A ",,,,', { title: ' A ' }],
  ];
  const header = 'Title,numberofpages, authors ,keywords,metadata';
  for (const [row, book] of cases) {
    const [record] = read(`${header}\n${row}\n`);
    assert.deepEqual(bodyOf(record), book, row);
  }
});

test('authors may be joined as in a sentence, and names with such words stay whole', () => {
  for (const [text, ...names] of [
    ['Terry Pratchett / Neil Gaiman', 'Terry Pratchett', 'Neil Gaiman'],
    ['Terry Pratchett & Neil Gaiman; Homer', 'Terry Pratchett', 'Neil Gaiman', 'Homer'],
    ['Karl Marx und Friedrich Engels', 'Karl Marx', 'Friedrich Engels'],
    ['J.R.R. Tolkien and C. S. Lewis', 'J.R.R. Tolkien', 'C. S. Lewis'],
    ['Jean-Paul Sartre et Simone de Beauvoir', 'Jean-Paul Sartre', 'Simone de Beauvoir'],
    ['村上春樹 / 川上弘美', '村上春樹', '川上弘美'], ['Pratchett, Terry / Gaiman, Neil',
      'Pratchett, Terry', 'Gaiman, Neil'],
    ['Simon & Schuster'], ['Karl von und zu Guttenberg'], ['Little, Brown & Co.'],
    ['Institut für Sprache und Literatur Berlin'], ['Department of Health and Social Care'],
    ['José Ortega y Gasset'], ['AC/DC'], ['Goethe / Schiller'], ['Smith & Wesson Holding Inc.'],
  ] as const) {
    const [record] = read(`title,authors\nA,"${text}"\n`);
    const authors = (names.length === 0 ? [text] : names).map((name) => ({ name }));
    assert.deepEqual(bodyOf(record)['authors'], authors, text);
  }
});

test('the members of a reading have a column each', () => {
  const cases: readonly (readonly [row: string, reading: unknown])[] = [
    [',,,,', undefined], ['4.5,,,,', { rating: 4.5 }], [' 4 ,,,,', { rating: 4 }],
    ['"4,5",,,,', { rating: 4.5 }], ['0,,,,', undefined], ['***,,,,', { rating: 3 }],
    ['★★★½☆,,,,', { rating: 3.5 }], ['4½,,,,', { rating: 4.5 }], ['½,,,,', { rating: 0.5 }],
    ['★★★★☆,,,,', { rating: 4 }], ['4/5,,,,', { rating: 4 }], ['"7,5 / 10",,,,', { rating: 3.75 }],
    [',true,,,', { owned: true }], [',TRUE,,,', { owned: true }], [',False,,,', { owned: false }],
    [',yes,,,', { owned: true }], [',WAHR,,,', { owned: true }], [',Falsch,,,', { owned: false }],
    [',VRAI,,,', { owned: true }], [',FALSO,,,', { owned: false }],
    [',,own; lent,,', { shelves: ['own', 'lent'] }], [',,"[""a;b""]",,', { shelves: ['a;b'] }],
    [',,,3,2024', { readCount: 3, finishedOn: '2024' }],
  ];
  const header = 'title,reading.rating,Reading.Owned,reading.shelves,reading.readcount,'
    + 'reading.finishedOn';
  for (const [row, reading] of cases) {
    const [record] = read(`${header}\nA,${row}\n`);
    assert.deepEqual(bodyOf(record)['reading'], reading, row);
  }
  const [record] = read('title,series\nA,Discworld #4; Death\n');
  assert.deepEqual(bodyOf(record)['series'],
    [{ name: 'Discworld', position: 4 }, { name: 'Death' }]);
  for (const [text, ...series] of [
    ['Hainish Cycle, Band 4', { name: 'Hainish Cycle', position: 4 }],
    ['Hainish Cycle Bd. 4', { name: 'Hainish Cycle', position: 4 }],
    ['Hainish Cycle (Vol. 4)', { name: 'Hainish Cycle', position: 4 }],
    ['Discworld, book 4; Astérix tome 2', { name: 'Discworld', position: 4 },
      { name: 'Astérix', position: 2 }],
    ['Fahrenheit 451', { name: 'Fahrenheit 451' }], ['Band 4', { name: 'Band 4' }],
  ] as const) {
    const [one] = read(`title,series\nA,"${text}"\n`);
    assert.deepEqual(bodyOf(one), { title: 'A', series }, text);
  }
});

test('a language may be named in any case, and its tag is taken as it stands', () => {
  for (const [text, inLanguage] of [
    ['deutsch', 'de'], ['german', 'de'], ['Englisch', 'en'], ['Spanisch', 'es'], ['polnisch', 'pl'],
    ['Französisch', 'fr'], ['de', 'de'], ['und', 'und'],
    ['sl-rozaj', 'sl-rozaj'],
  ] as const) {
    const [record] = read(`Titel,Sprache\nA,${text}\n`);
    assert.deepEqual(bodyOf(record), { title: 'A', inLanguage }, text);
  }
});

test('a status may be said in the words of people', () => {
  for (const [word, status] of [
    ['finished', 'read'], ['Gelesen', 'read'], ['lu', 'read'], ['leído', 'read'],
    ['to read', 'to-read'], ['TBR', 'to-read'], ['À lire', 'to-read'], ['DNF', 'abandoned'],
    ['currently-reading', 'reading'], ['on hold', 'paused'], ['to-read', 'to-read'],
  ] as const) {
    const [record] = read(`title,reading.status\nA,${word}\n`);
    assert.deepEqual(bodyOf(record)['reading'], { status }, word);
  }
});

test('what a spreadsheet makes of a cell is read where it is sure', () => {
  const header = 'title,isbn,numberOfPages,datePublished,publisher,metadata';
  for (const [row, book] of [
    ['"=""A"""', { title: '="A"' }],
    ['A,"=""9780439023481"""', { title: 'A', isbn: '9780439023481' }],
    ['A,"=""""","=""374"""', { title: 'A', numberOfPages: 374 }],
    ['A,,,03.11.2018', { title: 'A', datePublished: '2018-11-03' }],
    ['A,,,12/25/2018', { title: 'A', datePublished: '2018-12-25' }],
    ['A,,,11/2018', { title: 'A', datePublished: '2018-11' }],
  ] as const) {
    const [record] = read(`${header}\n${row}\n`);
    assert.deepEqual(bodyOf(record), book, row);
  }
  for (const isbn of ['9.78E+12', '"9,78044E+12"']) {
    const [record] = read(`${header}\nA,${isbn},,,P,"{""shelf"":1}"\n`);
    const { metadata, ...book } = bodyOf(record);
    assert.deepEqual([book, metadata],
      [{ title: 'A', publisher: 'P' }, { isbn: isbn.replaceAll('"', ''), shelf: 1 }]);
    assert.deepEqual(Object(record).putAside, ['isbn']);
  }
  const [record] = read('title,datePublished,reading.finishedOn\nA,3/11/2018,5-6-2019\n');
  assert.deepEqual(bodyOf(record), {
    title: 'A', datePublished: '2018', reading: { finishedOn: '2019' },
    metadata: { 'datePublished': '3/11/2018', 'reading.finishedOn': '5-6-2019' },
  });
  assert.deepEqual(Object(record).putAside, ['datePublished', 'reading.finishedOn']);
});

test('an odd cell costs neither its row nor its text', () => {
  const cases: readonly (readonly [name: string, cell: string, member?: unknown])[] = [
    ['datePublished', '3.11.18'], ['datePublished', 'c1999', '1999'],
    ['datePublished', '2018-02-30', '2018-02'], ['datePublished', 'unknown'],
    ['reading.rating', '4.3'], ['reading.rating', '7'], ['reading.rating', 'four'],
    ['reading.rating', '45½'], ['reading.rating', '******'], ['reading.rating', '1.000,5'],
    ['isbn', '123'], ['isbn', '9780441478125 (pbk.)', '9780441478125'],
    ['numberOfPages', '~300'], ['numberOfPages', 'many'], ['numberOfPages', '0'],
    ['reading.status', 'lent'], ['reading.owned', 'perhaps'], ['reading.readCount', 'often'],
    ['inLanguage', 'Elvish of the west'], ['inLanguage', 'quenya'], ['inLanguage', 'Sindarin'],
    ['bookFormat', 'scroll'], ['url', 'example.org'],
    ['authors', '[Le Guin]'], ['keywords', '{"x":1}'], ['series', '[{"name":""}]'],
    ['series', 'Discworld #1-3', [{ name: 'Discworld' }]],
    ['metadata', '{"'], ['metadata', 'word'], ['metadata', '[1]'],
    ['id', '17'], ['createdAt', '3.11.2018'], ['publisher', 'x'.repeat(501)],
  ];
  for (const [name, cell, member] of cases) {
    const [record] = read(`title,${name}\nA,"${cell.replaceAll('"', '""')}"\n`);
    const { title, metadata, reading, ...book } = bodyOf(record);
    const value = Object(reading)[name.slice('reading.'.length)] ?? book[name];
    assert.deepEqual([title, metadata, value], ['A', { [name]: cell }, member], `${name} ${cell}`);
    assert.deepEqual(Object(record).putAside, [name]);
  }
});

test('cells that contradict an earlier cell are put aside', () => {
  const [record] = read('title,createdAt,updatedAt,reading.startedOn,reading.finishedOn\n'
    + 'A,2026-01-02T00:00:00Z,2026-01-01T00:00:00Z,2020,2019\n');
  assert.deepEqual(bodyOf(record), {
    title: 'A', createdAt: '2026-01-02T00:00:00.000Z', reading: { startedOn: '2020' },
    metadata: { 'updatedAt': '2026-01-01T00:00:00Z', 'reading.finishedOn': '2019' },
  });
});

test('own columns and cells that are put aside each keep their text under one name', () => {
  const [record] = read('title,isbn,metadata.isbn,metadata\nA,1,2,"{""isbn"":3}"\n');
  assert.deepEqual(bodyOf(record)['metadata'],
    { 'isbn': '1', 'isbn (column 3)': '2', 'isbn (column 4)': 3 });
});

test('the longest texts go where metadata have no room, and are told', () => {
  const [record] = read(`title,Notes,Shop\nA,${'x'.repeat(17_000)},Oxfam\n`);
  assert.deepEqual(bodyOf(record), { title: 'A', metadata: { Shop: 'Oxfam' } });
  assert.deepEqual(Object(record).leftOut, ['Notes']);
  const [pieces] = read(`title,keywords\nA,${';a'.repeat(10_000)}\n`);
  assert.deepEqual([bodyOf(pieces), Object(pieces).leftOut], [{ title: 'A' }, ['keywords']]);
  const full = 'x'.repeat(16_384 - '{"Notes":""}'.length);
  assert.deepEqual(bodyOf(read(`title,Notes\nA,${full}\n`)[0])['metadata'], { Notes: full });
});

test('a quoted empty cell is no odd one', () => {
  const [record] = read('title,isbn,subtitle,reading.rating,keywords\n"A","","","",""\n');
  assert.deepEqual(bodyOf(record), { title: 'A', subtitle: '' });
  assert.equal(Object(record).putAside, undefined);
});

test('a text that a reader could take for an end of row, a border or a blank is quoted', () => {
  for (const text of ['a\rb', 'a\nb', 'a\r\nb', 'a,b', 'a"b', ' a', 'a ', '\ta', '\u00a0a', '\r']) {
    const row = encodeCsvRow([text]);
    assert.equal(row, `"${text.replaceAll('"', '""')}"\r\n`, JSON.stringify(text));
    const [record] = read(Buffer.from(`title,subtitle\r\nA,${row}`));
    assert.deepEqual(bodyOf(record), { title: 'A', subtitle: text });
  }
});

test('rows of nothing but commas are blank lines', () => {
  assert.deepEqual(read('title,isbn\r\nA,\r\n,\r\n,,,,\r\nB,\r\n').map(({ line }) => line), [2, 5]);
  assert.equal(read('title,isbn\n"",\n').length, 1);
  assert.deepEqual(read(',,\ntitle;isbn\nA;\n').map(({ line }) => line), [3]);
});

test('a row that cannot be read is told, and the next ones go on', () => {
  const rows = [
    'A,B,C', '"A"x,', ',B', `${'x'.repeat(1001)},`, Buffer.from([0x41, 0xff, 0x2c]), 'fine,',
    '"open,',
  ].map((row) => Buffer.concat([Buffer.from(row), Buffer.from('\n')]));
  const records = read(Buffer.concat([Buffer.from('title,metadata\n'), ...rows]));
  assert.deepEqual(records.map((record) => [record.line, problemOf(record)]), [
    [2, '3 cells, but the header names 2'],
    [3, 'cell 1: text follows its closing quote'],
    [4, 'is required'],
    [5, 'must be at most 1000 characters'],
    [6, 'not valid UTF-8'],
    [7, 'read'],
    [8, 'a quoted cell is not closed'],
  ]);
});

test('an unclosed quote costs its own row: reading goes on at the next that is a record', () => {
  const rows = ['title,isbn', 'A,', 'B,"open', 'lost', '"C, D",9780441478125', 'E,'];
  const many = Array.from({ length: 12_000 },
    (_, index) => `${'A long title '.repeat(12)}${index},`);
  const seen = (text: string): readonly unknown[] =>
    read(text).map(({ line, problem }) => [line, problem ?? 'read']);
  assert.deepEqual(seen(`${rows.join('\n')}\n`), [[2, 'read'],
    [3, 'cell 2: text follows its closing quote: line 4 went with it'], [5, 'read'], [6, 'read']]);
  const records = read(`title,isbn\n"open,\n${many.join('\n')}\n`);
  assert.equal(records.length, many.length + 1);
  assert.deepEqual(records.filter(({ problem }) => problem !== undefined)
    .map(({ line, problem }) => [line, problem]), [[2, 'a quoted cell is not closed']]);
});

test('JSON in a cell may have line ends', () => {
  const [record] = read('title,keywords\nA,"[""a"",\n\n""b""]"\n');
  assert.deepEqual(bodyOf(record), { title: 'A', keywords: ['a', 'b'] });
});

test('a header that cannot be used ends the import with what to mend', () => {
  const cases: readonly (readonly [header: string, problem: RegExp])[] = [
    ['title,publisheddate', new RegExp('unknown column "publisheddate" \\(did you mean '
      + '`datePublished`\\?\\); the option or parameter `column` says what a column is, such as '
      + '"publisheddate=datePublished", or "publisheddate=metadata.publisheddate" for a column of '
      + 'your own$')],
    ['Buch,isbn,Ort,Regalfach', new RegExp('unknown columns "Buch", "Ort", "Regalfach": known are '
      + 'id, .*; there is no column `title`; .* such as "Buch=title", or "Buch=metadata.Buch"')],
    [Array.from({ length: 30 }, (_, index) => `x-${index}`).join(),
      /unknown columns "x-0", .*"x-19" and 10 more: known are/],
    ['title,Shop,Shop', /`Shop` stands twice/],
    ['<!DOCTYPE html>', /^line 1, the header of the csv: the file is no table, but a web page or/],
    ['a\u0001b,\u0002;\ufffd', /the header of the csv: the file is no table, [^;]*$/],
    ['title|isbn', /separated by commas, semicolons or tabs/],
    ['title,title', /`title` stands twice/],
    ['title,isbm', /did you mean `isbn`\?/],
    ['isbn'.padEnd(65, '-'), /known are id, createdAt, /],
    ['isbn', /no column `title`$/],
    ['title,"', /header/],
  ];
  for (const [header, problem] of cases) {
    assert.throws(() => read(`${header}\nA\n`), (error) =>
      error instanceof AppError && error.code === 'invalid' && problem.test(error.message), header);
  }
});

test('words that people have for members name their columns', () => {
  for (const [header, columns] of [
    ['Titel;Verfasser;Jahr;Standort', {
      Titel: 'title', Verfasser: 'authors', Jahr: 'datePublished', Standort: 'metadata.Standort',
    }],
    ['Book name,Written by', { 'Book name': 'title', 'Written by': 'authors' }],
    ['Titre,Auteur(s),Année', {
      'Titre': 'title', 'Auteur(s)': 'authors', 'Année': 'datePublished',
    }],
    ['TÍTULO,Año,page_count',
      { TÍTULO: 'title', Año: 'datePublished', page_count: 'numberOfPages' }],
    // The member's own name comes first, then the first word.
    ['Author,title,authors', { Author: 'metadata.Author', title: 'title', authors: 'authors' }],
    ['title,Tags,Genre', { title: 'title', Tags: 'keywords', Genre: 'metadata.Genre' }],
    ['title,Read,Date', { title: 'title', Read: 'metadata.Read', Date: 'metadata.Date' }],
    ['title,metadata.Lent,isbn', null],
  ] as const) {
    const reader = createCsvReader();
    assert.deepEqual([...reader.push(Buffer.from(`${header}\n`))], []);
    assert.deepEqual(reader.columns, columns, header);
  }
  const [record] = read('Titel;Verfasser;Jahr;Standort\nMomo;Michael Ende;1973;A1\n');
  assert.deepEqual(bodyOf(record), {
    title: 'Momo', authors: [{ name: 'Michael Ende' }], datePublished: '1973',
    metadata: { Standort: 'A1' },
  });
});

test('a caller says what columns hold, whatever their names say', () => {
  const map = (...texts: readonly string[]): ColumnMap => {
    const columns = parseColumnMap(texts);
    assert.equal(typeof columns, 'object', String(columns));
    return typeof columns === 'string' ? new Map() : columns;
  };
  const columns = map('was=Title', 'a=b=AUTHOR', 'Notiz = metadata.Note', 'Preis=none',
    'isbn=metadata.isbn', 'COLUMN 6=isbn');
  const splitter = createCsvReader({ columns });
  const [record] = [...splitter.push(Buffer.from(
    'Was,a=b,Notiz,Preis,ISBN,\nMomo,Michael Ende,lent,9.99,x,9783522202602\n'))];
  assert.deepEqual(bodyOf(record ?? undefined), {
    title: 'Momo', authors: [{ name: 'Michael Ende' }], isbn: '9783522202602',
    metadata: { Note: 'lent', isbn: 'x' },
  });
  for (const [texts, problem] of [
    [['Titel=titl'], /^has no member "titl" for "Titel": did you mean `title`\?; known are id, /],
    [['Titel'], /^must be a column of the file and a member, such as "Written by=authors", not "T/],
    [['=title'], /^must be a column/], [['A=metadata.'], /^has no member/],
    [['A=title', 'a=isbn'], /^stands twice for "a"/],
  ] as const) {
    assert.match(String(parseColumnMap(texts)), problem);
  }
  for (const [header, texts, problem] of [
    ['title,Von', ['Vom=authors'], /: there is no column "Vom": there are "title", "Von"; the opt/],
    ['title,Buch', ['Buch=title'], /`title` stands twice/],
    ['title,Buch', ['title=none'], /there is no column `title`/],
  ] as const) {
    assert.throws(() =>
      createCsvReader({ columns: map(...texts) }).push(Buffer.from(`${header}\n`)),
      problem);
  }
});

test('columns of a person and those without a name are members of metadata', () => {
  const records = read('title,Where bought,metadata,,metadata.Year,Lent\n'
    + 'A,"Oxfam, ""York""","{""shelf"":""A1""}",x,1990,\'=c\nB,,,,,\nC,y,{},,,\n');
  assert.deepEqual(records.map(bodyOf), [
    { title: 'A', metadata: {
      'Where bought': 'Oxfam, "York"', 'shelf': 'A1', 'column 4': 'x', 'Year': '1990',
      'Lent': '=c',
    } },
    { title: 'B' }, { title: 'C', metadata: { 'Where bought': 'y' } },
  ]);
  assert.deepEqual(records.map((record) => 'ownColumns' in record && record.ownColumns),
    [['Where bought', 'column 4', 'Year', 'Lent'], false, ['Where bought']]);
});

test('a table with semicolons or tabs is read as one with commas', () => {
  const book = {
    title: 'A, or; "B"\t', authors: [{ name: 'C' }, { name: 'D' }], isbn: '9780441478125',
  };
  for (const separator of [',', ';', '\t']) {
    const rows = [['title', 'authors', 'isbn'], ['"A, or; ""B""\t"', '"C; D"', '9780441478125']]
      .map((cells) => cells.join(separator));
    for (const end of ['\n', '\r\n']) {
      const [record] = read(rows.join(end) + end);
      assert.deepEqual(bodyOf(record), book, JSON.stringify(separator));
    }
  }
});

test('the separator is what the header has most of outside of its quotes', () => {
  const cases: readonly (readonly [header: string, cells: readonly string[]])[] = [
    ['a;b,c;d', ['a', 'b,c', 'd']], ['"a;b;c",d', ['a;b;c', 'd']], ['a', ['a']],
    ['"a,b,c"\td', ['a,b,c', 'd']], ['"a"",b,"";c";"d"', ['a",b,";c', 'd']],
  ];
  for (const [header, cells] of cases) {
    const splitter = new CsvRowSplitter();
    const [row] = [...splitter.push(Buffer.from(header)), ...splitter.end()];
    assert.deepEqual(row?.cells.map(({ text }) => text), cells, header);
  }
});

test('quotes are text where a syntax has none, and each line is a row', () => {
  const splitter = new CsvRowSplitter({ separator: '\t', hasPlainTabs: true });
  const rows = [...splitter.push(Buffer.from('"a\tb"\n"c"\t"\n\td,;')), ...splitter.end()];
  assert.deepEqual(rows.map(({ cells }) => cells.map(({ text }) => text)),
    [['"a', 'b"'], ['"c"', '"'], ['', 'd,;']]);
});

test('a row of more cells than a header could name is told', () => {
  const records = read(`title,isbn\n${','.repeat(1_000_000)}\nB\n`);
  assert.deepEqual(records.map(({ line, problem }) => [line, problem]),
    [[2, 'more than 1024 cells'], [3, undefined]]);
});

test('the quote that an export for spreadsheets puts before a formula is taken off', () => {
  const cases: readonly (readonly [cell: string, title: string])[] = [
    ["'=1+1", '=1+1'], ["'+1", '+1'], ["'-1", '-1'], ["'@a", '@a'], ['"\'\ta"', '\ta'],
    ['"\'\ra"', '\ra'], ['=1', '=1'], ["'tis", "'tis"], ["''=1", "'=1"], ["''a", "''a"],
    ["'", "'"],
  ];
  for (const [cell, title] of cases) {
    const [record] = read(`title\n${cell}\n`);
    assert.deepEqual(bodyOf(record), { title }, cell);
  }
  const [record] = read("title,authors,keywords\nA,'=B; C,'-x; y\n");
  assert.deepEqual(bodyOf(record),
    { title: 'A', authors: [{ name: '=B' }, { name: 'C' }], keywords: ['-x', 'y'] });
});

test('a guarded text comes back as it was, for spreadsheets and else', () => {
  for (const start of ['', "'", "''", "''" + "'"]) {
    for (const end of ['', '=', '+1', '-', '@', '\t', '\r', 'a', ' =']) {
      for (const isForSpreadsheet of [true, false]) {
        const text = start + end;
        const cell = guardText(text, isForSpreadsheet);
        assert.equal(unguardText(cell), text);
        if (isForSpreadsheet) assert.doesNotMatch(cell, /^[=+\-@\t\r]/);
      }
    }
  }
  assert.equal(guardText('=1', false), '=1');
});

/** What is wrong with a record, or that it is read. */
function problemOf(record: SourceRecord | undefined): string {
  return record?.problem ?? (Object(record).titleProblem || 'read');
}

/** The members that are read of a row. */
function bodyOf(record: SourceRecord | undefined): JsonObject {
  return record !== undefined && 'body' in record && record.body !== undefined ? record.body : {};
}

function read(file: string | Buffer): readonly SourceRecord[] {
  const splitter = createCsvReader();
  return [...splitter.push(Buffer.from(file)), ...splitter.end()].filter((one) => one !== null);
}

for (const [file, cells, lines] of [
  ['"ti""tle",b\r\r"a\rb\nc",1\rd,2\r"e",\r',
    [['ti"tle', 'b'], ['a\rb\nc', '1'], ['d', '2'], ['e', '']], [1, 3, 5, 6]],
  // A quote within a cell is text, so the one behind it opens a cell.
  ['x"y,"a\rb"\rc,d\r', [['x"y', 'a\rb'], ['c', 'd']], [1, 3]],
] as const) {
  test(`rows may all end in CR, wherever the chunks end: ${JSON.stringify(file)}`, () => {
    for (const text of [file, file.slice(0, -1)]) {
      for (let chunk = 1; chunk <= text.length; chunk += 1) {
        const splitter = new CsvRowSplitter();
        const rows = [];
        for (let offset = 0; offset < text.length; offset += chunk) {
          rows.push(...splitter.push(Buffer.from(text.slice(offset, offset + chunk))));
        }
        rows.push(...splitter.end());
        assert.deepEqual(rows.map((row) => row.cells.map((cell) => cell.text)), cells, `${chunk}`);
        assert.deepEqual(rows.map(({ line }) => line), lines);
      }
    }
  });
}

test('a CR within a row is text where rows end in LF', () => {
  for (const end of ['\n', '\r\n']) {
    const splitter = new CsvRowSplitter();
    const rows = [...splitter.push(Buffer.from(`a,b${end}c\rd,"e\rf"${end}`)), ...splitter.end()];
    assert.deepEqual(rows.map(({ line, cells }) => [line, ...cells.map(({ text }) => text)]),
      [[1, 'a', 'b'], [2, 'c\rd', 'e\rf']]);
  }
});
