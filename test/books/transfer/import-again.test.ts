/** Importing the same export twice changes nothing and says so, for each format with own ids. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';

type Line = Readonly<Record<string, unknown>>;

const GOODREADS_COLUMNS = ['Book Id', 'Title', 'Author', 'ISBN13', 'Number of Pages', 'My Rating',
  'My Review', 'Private Notes'];

/** A file for each format: those that programs have written, and small ones made by hand. */
const FILES: readonly (readonly [format: string, file: string])[] = [
  ['goodreads', readExport('goodreads.csv')],
  ['storygraph', readExport('storygraph.csv')],
  ['librarything', readExport('librarything.tsv')],
  ['librarything', readExport('librarything.json')],
  ['calibre', readExport('calibre.csv')],
  ['bookwyrm', readExport('bookwyrm.csv')],
  ['openlibrary', readExport('openlibrary.csv')],
  ['isbn', readExport('isbns.txt')],
  ['goodreads', createHostileExport()],
];


let server: BookServer;

beforeEach(async () => {
  server = await startBookServer();
});

afterEach(() => server.close());

for (const [index, [format, file]] of FILES.entries()) {
  test(`the same file of ${format} again changes nothing (${index + 1})`, async () => {
    const query = `?format=${format}`;
    const predicted = await importFile(file, `${query}&dryRun=true`);
    const first = await importFile(file, query);
    const { imported, leftOut } = first.count;
    assert.ok(Number(imported) > 0, JSON.stringify(first));
    assert.deepEqual(predicted.count, { ...first.count, dryRun: true });
    const books = await readBooks();
    for (const onMatch of ['update', 'replace']) {
      const { count } = await importFile(file, `${query}&onMatch=${onMatch}`);
      assert.deepEqual(count, {
        ...first.count, imported: 0, unchanged: imported, leftOut: leftOut,
      });
    }
    assert.equal(await readBooks(), books);
  });
}

test('the text and the JSON of LibraryThing stand beside each other, and take nothing away',
  async () => {
    const text = readExport('librarything.tsv', 'latin1');
    const json = readExport('librarything.json');
    const query = '?format=librarything';
    await importFile(text, query);
    assert.deepEqual((await importFile(json, query)).count['updated'], 2);
    const books = await readBooks();
    assert.match(books, /"Book Id":"5498194".*"books_id":"5498194"/);
    for (const file of [text, json, text]) {
      assert.deepEqual((await importFile(file, query)).count['unchanged'], 2);
    }
    await server.ask('POST', '/api/books/import?fromMetadata=true');
    assert.equal(await readBooks(), books);
    // A later file of one changes and ends its own fields alone.
    const later = json.replace('"workcode": "57814",', '').replace('"rating": 4.5', '"rating": 5');
    assert.deepEqual((await importFile(later, query)).count['updated'], 1);
    const changed = await readBooks();
    assert.match(changed, /"rating":5,.*"Work id":"57814"/);
    assert.doesNotMatch(changed, /"workcode":"57814"/);
  });

/** Where each format has the id of a book, as a pattern. */
const OWN_EXPORTS = [['csl', /"id":"([^"]+)"/g], ['ris', /^ID {2}- (.+?)\r?$/gm],
  ['jsonld', /"@id":"([^"]+)"/g], ['bibtex', /"id":"([^"]+)"/g]] as const;

for (const [format, idPattern] of OWN_EXPORTS) {
  test(`books made here come back from ${format} as what they are`, async () => {
    const made = [
      { title: 'Emma', authors: [{ name: 'Jane Austen' }], description: 'One.\n\nTwo.' },
      {
        title: 'Ohio', authors: [{ name: ' ,%', familyName: ' ,%' }],
        metadata: { source: 'a shop' },
      },
    ];
    for (const book of made) await server.ask('POST', '/api/books', JSON.stringify(book));
    const books = await readBooks();
    const file = (await server.ask('GET', `/api/books?format=${format}`)).text;
    const query = `?format=${format}`;
    for (const text of [
      `${query}&dryRun=true`, query, `${query}&match=title`, `${query}&match=isbn`,
    ]) {
      const { count } = await importFile(file, text);
      assert.deepEqual([count['imported'], count['updated'], count['unchanged']], [0, 0, 2], text);
      assert.deepEqual(count['leftOut'], {});
    }
    assert.equal(await readBooks(), books);
    const edited = await importFile(file.replaceAll(/Emma(?=["}\r])/g, 'Emma!'), query);
    assert.deepEqual(edited.results.map(({ status }) => status), ['updated', 'unchanged']);
    const [{ updatedAt: _, ...emma }, other] = JSON.parse(await readBooks());
    const [{ updatedAt: __, ...emmaBefore }, otherBefore] = JSON.parse(books);
    const { metadata: { 'x-hookshelf': digests }, ...edits } = emma;
    assert.deepEqual([edits, other], [{ ...emmaBefore, title: 'Emma!' }, otherBefore]);
    assert.deepEqual(Object.keys(digests), [format]);
    const later = (await server.ask('GET', `/api/books${query}`)).text;
    assert.deepEqual([...later.matchAll(idPattern)].map(([, id]) => id),
      [...file.matchAll(idPattern)].map(([, id]) => id));
  });
}

/** As a program writes a file that keeps nothing of what it does not know. */
const WITHOUT_REST = [
  ['csl', (file: string) => JSON.stringify(
    JSON.parse(file).map(({ custom: _, ...item }: Line) => item))],
  ['ris', (file: string) => file.replace(/^U5 {2}- .*\r\n/gm, '')],
  ['bibtex', (file: string) => file.replace(/,\n {2}x-hookshelf = .*/g, '')],
] as const;

for (const [format, dropRest] of WITHOUT_REST) {
  test(`an edit in ${format} changes nothing else, also where the rest is dropped`, async () => {
    for (const [index, book] of [
      {
        title: 'Emma: A Novel', authors: [{ name: 'Jane Austen', birthDate: '1775' }],
        bookFormat: 'Paperback', publisher: 'P',
      },
      { title: 'Ohio: a: b', subtitle: 'A Guide', authors: [{ name: 'Ohio' }], publisher: 'P' },
    ].entries()) {
      const metadata = { source: { bibtex: { citationkey: `key${index}` } } };
      await server.ask('POST', '/api/books', JSON.stringify({ ...book, metadata }));
    }
    const file = (await server.ask('GET', `/api/books?format=${format}`)).text;
    const dropped = dropRest(file);
    assert.notEqual(dropped, file);
    // By the key of its source a book is known again, and what that said is remembered.
    if (format === 'bibtex') await importFile(dropped, `?format=${format}`);
    const books = await readBooks();
    const { count } = await importFile(dropped, `?format=${format}`);
    assert.equal(count['unchanged'], 2, JSON.stringify(count));
    assert.equal(await readBooks(), books);
    const edited = dropped.replace('Emma: A Novel', 'Emma: A Romance');
    const { results } = await importFile(edited, `?format=${format}`);
    assert.deepEqual(results.map(({ status }) => status), ['updated', 'unchanged']);
    const [{ updatedAt: _, ...emma }, other] = JSON.parse(await readBooks()).map(omitDigests);
    const [{ updatedAt: __, ...before }, otherBefore] = JSON.parse(books).map(omitDigests);
    assert.deepEqual(other, otherBefore);
    const isOneField = format !== 'bibtex';
    // What was set here is kept where the record does not tell that it came from here.
    const { here, ...source } = emma.metadata.source;
    assert.deepEqual(here, isOneField ? undefined : { members: { title: 'Emma: A Novel' } });
    assert.deepEqual({ ...emma, metadata: { source } }, isOneField
      ? { ...before, title: 'Emma', subtitle: 'A Romance' }
      : { ...before, title: 'Emma: A Romance' });
  });
}

test('a BibTeX file from here finds its books by their ids, whatever their keys are', async () => {
  for (const [index, isbn] of [null, '9780439023481', '9780439023481'].entries()) {
    const book = { title: `Emma ${index}`, authors: [{ name: 'A B' }], ...isbn && { isbn } };
    await server.ask('POST', '/api/books', JSON.stringify(book));
  }
  const books = await readBooks();
  const file = (await server.ask('GET', '/api/books?format=bibtex')).text;
  assert.deepEqual([...file.matchAll(/^@book{(.*),$/gm)].map(([, key]) => key), ['B', 'Ba', 'Bb']);
  for (const query of ['', '&match=isbn', '&match=title', '&match=isbn,title']) {
    const { count } = await importFile(file, `?format=bibtex${query}`);
    assert.deepEqual([count['imported'], count['updated'], count['unchanged']], [0, 0, 3], query);
  }
  assert.equal(await readBooks(), books);
  // A key that was given elsewhere stays, as texts cite it.
  const renamed = file.replace('{Ba,', '{bronte:1,');
  for (const status of ['updated', 'unchanged']) {
    const { results } = await importFile(renamed, '?format=bibtex');
    assert.deepEqual(results.map((result) => result['status']), ['unchanged', status, 'unchanged']);
  }
  const stored: readonly Line[] = JSON.parse(await readBooks()).map(omitDigests);
  assert.deepEqual(stored.map(({ metadata }) => metadata),
    [{}, { source: { bibtex: { citationkey: 'bronte:1' } } }, {}]);
  // A copy of an entry says the same id: it is another book only once it has none.
  const copy = file.slice(0, file.indexOf('\n@book')).replace('Emma 0', 'Emma 3');
  const { results } = await importFile(file + copy, '?format=bibtex');
  assert.match(String(results[3]?.['detail']), /^an earlier record of this file is this book/);
});

/** The same two books in each format that has titles, and by what they are known again. */
const SAID: readonly (readonly [
  format: string, match: string, file: (title: string, publisher: string) => string,
])[] = [
  ['goodreads', '', (title, publisher) =>
    `Book Id,Title,Author,Publisher\n1,${title},X,${publisher}\n2,Other,X,P\n`],
  ['storygraph', '', (title) => `ISBN/UID,Title,Authors\nu1,${title},X\nu2,Other,X\n`],
  ['librarything', '', (title, publisher) => JSON.stringify({
    1: { books_id: '1', title, publication: `${publisher} (1990)` },
    2: { books_id: '2', title: 'Other' },
  })],
  ['calibre', '', (title, publisher) =>
    `uuid,title,authors,publisher\na,${title},X,${publisher}\nb,Other,X,P\n`],
  ['bibtex', '', (title, publisher) =>
    `@book{a, title={${title}}, publisher={${publisher}}}\n@book{b, title={Other}}\n`],
  ['ris', '', (title, publisher) => `TY  - BOOK\nID  - a\nTI  - ${title}\nPB  - ${publisher}\n`
    + 'ER  - \nTY  - BOOK\nID  - b\nTI  - Other\nER  - \n'],
  ['csl', '', (title, publisher) => JSON.stringify([
    { id: 'a', type: 'book', title, publisher }, { id: 'b', type: 'book', title: 'Other' },
  ])],
  ['jsonld', '', (title, publisher) => JSON.stringify({ '@graph': [
    { '@type': 'Book', '@id': 'http://e.org/a', name: title, publisher },
    { '@type': 'Book', '@id': 'http://e.org/b', name: 'Other' },
  ] })],
  ...['json', 'jsonl'].map((format) => [
    format, 'isbn', (title: string, publisher: string) => [
      { title, publisher, isbn: '9780439023481' }, { title: 'Other', isbn: '9780441172719' },
    ].map((book) => JSON.stringify(book)).join('\n'),
  ] as const),
  ['csv', 'isbn', (title, publisher) =>
    `title,publisher,isbn\n${title},${publisher},9780439023481\nOther,,9780441172719\n`],
];

for (const [format, match, createFile] of SAID) {
  test(`what was edited here stays until ${format} says something else of it`, async () => {
    const query = `?format=${format}${match === '' ? '' : `&match=${match}`}`;
    const statusesOf = async (file: string, more = ''): Promise<unknown> =>
      (await importFile(file, query + more)).results.map(({ status }) => status);
    assert.deepEqual(await statusesOf(createFile('First', 'P')), ['imported', 'imported']);
    const [{ id }] = JSON.parse(await readBooks());
    await server.edit(id, { title: 'Mine', subtitle: 'mine', publisher: null });
    const edited = await readBooks();
    for (const more of ['&dryRun=true', '']) {
      assert.deepEqual(await statusesOf(createFile('First', 'P'), more),
        ['unchanged', 'unchanged']);
    }
    assert.equal(await readBooks(), edited);
    // Another member is none of the title's business.
    const hasPublisher = format !== 'storygraph';
    assert.deepEqual(await statusesOf(createFile('First', 'Q')),
      [hasPublisher ? 'updated' : 'unchanged', 'unchanged']);
    assert.deepEqual(await readFirst(), ['Mine', 'mine', hasPublisher ? 'Q' : undefined]);
    assert.deepEqual(await statusesOf(createFile('Second', 'Q')), ['updated', 'unchanged']);
    assert.deepEqual(await readFirst(), ['Second', 'mine', hasPublisher ? 'Q' : undefined]);
    await server.edit(id, { title: 'Mine' });
    assert.deepEqual(await statusesOf(createFile('Second', 'Q'), '&onMatch=replace'),
      ['replaced', 'unchanged']);
    assert.deepEqual(await readFirst(), ['Second', undefined, hasPublisher ? 'Q' : undefined]);
  });
}

test('members of the reading count one by one: what was edited here stays', async () => {
  const createFile = (reading: object): string =>
    JSON.stringify([{ title: 'A', isbn: '9780439023481', reading }]);
  const importReading = async (reading: object, more = ''): Promise<unknown> => {
    const { results } = await importFile(createFile(reading), `?format=json&match=isbn${more}`);
    return results[0]?.['status'];
  };
  const first = { status: 'reading', rating: 3, shelves: ['own', 'lent'], startedOn: '2024-02' };
  await importReading(first);
  const [{ id }] = JSON.parse(await readBooks());
  const reading = { rating: 5, review: 'Mine.', shelves: ['mine'], startedOn: null };
  await server.edit(id, { reading });
  const mine = { status: 'reading', rating: 5, shelves: ['mine'], review: 'Mine.' };
  assert.equal(await importReading(first), 'unchanged');
  assert.deepEqual(await readReading(), mine);
  assert.equal(await importReading({ ...first, status: 'read', finishedOn: '2024-03' }), 'updated');
  assert.deepEqual(await readReading(), { ...mine, status: 'read', finishedOn: '2024-03' });
  assert.equal(await importReading({ shelves: ['new'] }), 'updated');
  assert.deepEqual(await readReading(),
    { ...mine, status: 'read', finishedOn: '2024-03', shelves: ['new'] });
  const { count } = await importFile(createFile({ startedOn: '2025' }), '?format=json&match=isbn');
  assert.deepEqual([count['leftOut'], count['putAside'], count['firstPutAside']], [
    {}, { 'reading.startedOn': 1 },
    { 'reading.startedOn': { line: 1, record: 1, title: 'A' } },
  ]);
  assert.equal(await importReading({ rating: 2, owned: true }, '&onMatch=fill'), 'updated');
  assert.deepEqual(await readReading(),
    { ...mine, status: 'read', finishedOn: '2024-03', shelves: ['new'], owned: true });
  assert.equal(await importReading({ rating: 1 }, '&onMatch=replace'), 'replaced');
  assert.deepEqual(await readReading(), { rating: 1 });
});

test('what a source said is no loss of an export, and goes with JSON', async () => {
  const file = '@book{a, title={First}}\n';
  await importFile(file, '?format=bibtex');
  const [book] = JSON.parse(await readBooks());
  assert.match(book.metadata['x-hookshelf'].bibtex, /^[0-9a-z]{14}$/);
  const other = await startBookServer();
  try {
    await other.ask('POST', '/api/books/import?format=json', await readBooks());
    assert.equal((await other.ask('GET', '/api/books')).text, await readBooks());
  } finally {
    await other.close();
  }
});

test('where nothing is known of what a source said, it counts as said anew', async () => {
  const file = 'title,isbn\nFirst,9780439023481\n';
  const titleAfter = async (query: string): Promise<unknown> => {
    const [{ id }] = JSON.parse(await readBooks());
    await server.edit(id, { title: 'Mine' });
    await importFile(file, query);
    return JSON.parse(await readBooks())[0].title;
  };
  await importFile(file, '?format=csv');
  assert.equal(await titleAfter('?format=csv&match=isbn'), 'First');
  assert.equal(await titleAfter('?format=csv&match=isbn'), 'Mine');
  const [{ id }] = JSON.parse(await readBooks());
  await server.edit(id, { metadata: null });
  assert.equal(await titleAfter('?format=csv&match=isbn'), 'First');
  // What a caller has there stays.
  await server.edit(id, { metadata: { 'x-hookshelf': 'mine' } });
  assert.equal(await titleAfter('?format=csv&match=isbn'), 'First');
  assert.deepEqual(JSON.parse(await readBooks())[0].metadata,
    { 'x-hookshelf': 'mine', 'source': { here: { members: { title: 'Mine' } } } });
  // In metadata that are full nothing is remembered, and nothing kept: so nothing is replaced.
  await server.edit(id, { metadata: null });
  await server.edit(id, { metadata: { full: 'x'.repeat(16_384 - 11) } });
  assert.equal(await titleAfter('?format=csv&match=isbn'), 'Mine');
  const { count } = await importFile(file, '?format=csv&match=isbn');
  assert.deepEqual([count['unchanged'], count['keptMembers']], [1, { title: 1 }]);
});

test('to fill a book, and to find nothing new in a file from here, writes no digests', async () => {
  await server.ask('POST', '/api/books', '{"title":"First","isbn":"9780439023481"}');
  const books = await readBooks();
  const { count } = await importFile('title,isbn\nSecond,9780439023481\n',
    '?format=csv&match=isbn&onMatch=fill');
  assert.equal(count['unchanged'], 1);
  for (const format of ['json', 'csv']) {
    const file = (await server.ask('GET', `/api/books?format=${format}`)).text;
    const again = await importFile(file, `?format=${format}&match=isbn`);
    assert.equal(again.count['unchanged'], 1, format);
  }
  assert.equal(await readBooks(), books);
});

test('what a fill passes over of a newer file, a later import takes', async () => {
  const createTable = (...cells: readonly string[]): string =>
    `title,authors,isbn,reading.status,reading.rating,Lent to\nA,X Y,9780439023481,${cells}\n`;
  const newer = createTable('read', '4.5', 'Bernd');
  await importFile(createTable('reading', '', 'Anna'), '?format=csv&match=isbn');
  const filled = await importFile(newer, '?format=csv&match=isbn&onMatch=fill');
  assert.equal(filled.count['updated'], 1);
  assert.deepEqual(await readReading(), { status: 'reading', rating: 4.5 });
  const filledAgain = await importFile(newer, '?format=csv&match=isbn&onMatch=fill');
  assert.equal(filledAgain.count['unchanged'], 1);
  const updated = await importFile(newer, '?format=csv&match=isbn');
  assert.equal(updated.count['updated'], 1);
  const [book] = JSON.parse(await readBooks());
  assert.deepEqual(book.reading, { status: 'read', rating: 4.5 });
  assert.equal(book.metadata['Lent to'], 'Bernd');
  assert.equal((await importFile(newer, '?format=csv&match=isbn')).count['unchanged'], 1);
});

test('what a fill passes over of a table whose books nothing was matched by is told', async () => {
  const createTable = (rating: string, place: string): string =>
    `title,authors,isbn,reading.rating,Place\nA,X Y,9780439023481,${rating},${place}\n`;
  await importFile(createTable('4', 'attic'), '?format=csv');
  const { count } = await importFile(
    createTable('5', 'desk'), '?format=csv&match=isbn&onMatch=fill');
  const first = { line: 2, record: 1, title: 'A' };
  assert.deepEqual([count['unchanged'], count['passedOver'], count['firstPassedOver']], [1,
    { 'reading.rating': 1, 'metadata.Place': 1 },
    { 'reading.rating': first, 'metadata.Place': first }]);
  const again = await importFile(
    createTable('4', 'attic'), '?format=csv&match=isbn&onMatch=fill');
  assert.equal(again.count['passedOver'], undefined);
});

test('what a fill that adds something passes over of a table, a later import takes', async () => {
  await importFile('title,isbn,reading.rating\nA,9780439023481,4\n', '?format=csv');
  const table = 'title,isbn,reading.rating,subtitle\nA,9780439023481,2,B\n';
  const filled = await importFile(table, '?format=csv&match=isbn&onMatch=fill');
  assert.deepEqual([filled.count['updated'], filled.count['passedOver']],
    [1, { 'reading.rating': 1 }]);
  const updated = await importFile(table, '?format=csv&match=isbn');
  assert.deepEqual([updated.count['updated'], updated.count['replacedMembers']],
    [1, { 'reading.rating': 1 }]);
  assert.deepEqual(await readReading(), { rating: 2 });
  assert.equal((await importFile(table, '?format=csv&match=isbn')).count['unchanged'], 1);
});

function omitDigests({ metadata = {}, ...book }: Line): Line {
  const { 'x-hookshelf': _, ...others } = metadata as Line;
  return { ...book, metadata: others };
}

/** Title, subtitle and publisher of the first book. */
async function readFirst(): Promise<readonly unknown[]> {
  const [{ title, subtitle, publisher }] = JSON.parse(await readBooks());
  return [title, subtitle, publisher];
}

async function readReading(): Promise<unknown> {
  return JSON.parse(await readBooks())[0].reading;
}

test('a title and author are one book where one of the two has no year', async () => {
  const importOne = async (title: string, year: string, key: string): Promise<unknown> => {
    const { count } = await importFile(`@book{${key},title={${title}},author={X Y}${year}}`,
      '?format=bibtex&match=title');
    return ['imported', 'updated', 'skipped'].find((name) => count[name] === 1) ?? 'unchanged';
  };
  const year = (date: string): string => `,year={${date}}`;
  for (const [title, firstYear, secondYear] of
    [['A', '', year('1990')], ['B', year('1990'), '']] as const) {
    assert.equal(await importOne(title, firstYear, `${title}1`), 'imported');
    assert.equal(await importOne(title, secondYear, `${title}2`), 'updated');
    assert.equal(await importOne(title, secondYear, `${title}2`), 'unchanged');
    assert.equal(await importOne(title, year('2001'), `${title}3`), 'imported');
    assert.equal(await importOne(title, year('2001'), `${title}3`), 'unchanged');
    assert.equal(await importOne(title, '', `${title}4`), 'skipped', 'two books may be the one');
    assert.equal(await importOne(title, '', `${title}3`), 'unchanged', 'its own id tells');
  }
});

test('a work of Open Library is the book of its title, whichever edition that is', async () => {
  const importOne = async (format: string, file: string): Promise<unknown> => {
    const { count } = await importFile(file, `?format=${format}&match=isbn,title`);
    return ['imported', 'updated', 'skipped'].find((name) => count[name] === 1) ?? 'unchanged';
  };
  const work = (id: string, title: string, year: string): string =>
    `Work ID,Title,Authors,First Publish Year,Bookshelf\n${id},${title},X Y,${year},Already Read\n`;
  const edition = (id: string, title: string, year: string): string =>
    `Book Id,Title,Author,Year Published\n${id},${title},X Y,${year}\n`;
  for (const [step, format, file, outcome] of [
    ['an edition', 'goodreads', edition('1', 'A', '2000'), 'imported'],
    ['its work', 'openlibrary', work('OL1W', 'A', '1969'), 'updated'],
    ['its work again', 'openlibrary', work('OL1W', 'A', '1969'), 'unchanged'],
    ['the edition again', 'goodreads', edition('1', 'A', '2000'), 'unchanged'],
    ['another work', 'openlibrary', work('OL2W', 'A', '1980'), 'imported'],
    ['another work again', 'openlibrary', work('OL2W', 'A', '1980'), 'unchanged'],
    ['a work', 'openlibrary', work('OL3W', 'B', '1969'), 'imported'],
    ['its edition', 'goodreads', edition('3', 'B', '2000'), 'updated'],
    ['its edition again', 'goodreads', edition('3', 'B', '2000'), 'unchanged'],
    ['the work again', 'openlibrary', work('OL3W', 'B', '1969'), 'unchanged'],
    ['another edition', 'goodreads', edition('4', 'B', '2010'), 'imported'],
  ] as const) assert.equal(await importOne(format, file), outcome, step);
});

test('a record that two books match is skipped, and told with both', async () => {
  const isbn = '9780439023481';
  const ids: string[] = [];
  for (const title of ['A', 'B']) {
    const { text } = await server.ask('POST', '/api/books', JSON.stringify({ title, isbn }));
    ids.push(JSON.parse(text).id);
  }
  const { results, count } = await importFile(`${isbn}\n`, '?format=isbn');
  assert.equal(results[0]?.['status'], 'skipped');
  for (const id of ids) assert.ok(String(results[0]?.['detail']).includes(id));
  assert.deepEqual([count['skipped'], count['imported']], [1, 0]);
});

test('of several books a record is the one with its own id, and another is told', async () => {
  const goodreads = 'Book Id,Title,Author,ISBN13\n7,A,B,9780439023481\n';
  const storygraph = 'Title,Authors,ISBN/UID,Star Rating\nA,B,9780439023481,4\n';
  const { results: [first] } = await importFile(goodreads, '?format=goodreads');
  const { results: [second], count: twice } = await importFile(storygraph, '?format=storygraph');
  assert.equal(twice['sameIsbn'], 1);
  const { results, count } = await importFile(storygraph.replace(',4\n', ',5\n'),
    '?format=storygraph&match=isbn');
  const told = { line: 2, record: 1, title: 'A', id: second?.['id'], otherId: first?.['id'] };
  assert.deepEqual([results[0]?.['status'], results[0]?.['id']], ['updated', second?.['id']]);
  assert.deepEqual([count['skipped'], count['sameIsbn'], count['alike']],
    [0, 1, { sameIsbn: told }]);
});

type AlikeBook = readonly [told: string, book: object, row: string, remarks: object];

const ALIKE_BOOKS: readonly AlikeBook[] = [
  ['an edition beside none', { isbn: '9780439023481', bookEdition: '1st' }, 'X,9780439023481,',
    { sameIsbn: 1 }],
  ['another edition', { isbn: '9780439023481', bookEdition: '1st' }, 'X,9780439023481,2nd', {}],
  ['a subtitle beside none', {}, 'A: B,,1st', { sameTitle: 1 }],
  ['none beside a subtitle', { title: 'A: B', bookEdition: '1st' }, 'A,,', { sameTitle: 1 }],
  ['another subtitle', { title: 'A: C' }, 'A: B,,', {}],
  ['a title of another edition', { bookEdition: '1st' }, 'A,,2nd', {}],
];
for (const [told, book, row, remarks] of ALIKE_BOOKS) {
  test(`an import tells books that duplicates list: ${told}`, async () => {
    await server.ask('POST', '/api/books',
      JSON.stringify({ title: 'A', authors: [{ name: 'Y' }], ...book }));
    const [title, ...cells] = row.split(',');
    const { count } = await importFile(
      `title,authors,isbn,bookEdition\n${title},Y,${cells.join(',')}\n`, '?format=csv');
    const { sameIsbn, sameTitle } = count;
    assert.deepEqual(JSON.parse(JSON.stringify({ sameIsbn, sameTitle })), remarks);
    for (const [by, remark] of [['isbn', 'sameIsbn'], ['title', 'sameTitle']] as const) {
      const { text } = await server.ask('GET', `/api/books/duplicates?by=${by}`);
      if (remark in remarks) assert.equal(JSON.parse(text).length, 1, by);
      else if (Object.keys(remarks).length === 0) assert.deepEqual(JSON.parse(text), [], by);
    }
  });
}

test('what a source says no more stays, and is told as unchanged', async () => {
  const file = (rating: string, review: string): string =>
    `Book Id,Title,Author,My Rating,My Review\n7,A,B,${rating},${review}\n`;
  await importFile(file('4', 'Good.'), '?format=goodreads');
  const stored = await readBooks();
  const { results, count } = await importFile(file('0', ''), '?format=goodreads&verbose=true');
  assert.deepEqual([count['unchanged'], await readBooks()], [1, stored]);
  assert.deepEqual(results[0]?.['values'], {
    'reading.rating': '4 stays, the source has it no more',
    'reading.review': '"Good." stays, the source has it no more',
  });
  const { results: [changed] } =
    await importFile(file('5', ''), '?format=goodreads&verbose=true');
  assert.deepEqual(changed?.['members'], ['reading.review', 'reading.rating']);
});

test('new books with a finish date and no status are counted, with the first', async () => {
  const own = 'Titel,Gelesen am,Status\nA,2020,gelesen\nB,2021,\nC,,\nD,2022,\n';
  const { count, results } = await importFile(own, '?format=csv&match=title');
  assert.deepEqual([count['withoutStatus'], count['alike']], [2, { withoutStatus:
    { line: 3, record: 2, title: 'B', id: results[1]?.['id'], otherId: null } }]);
  assert.equal(JSON.parse(await readBooks())[1].reading.status, undefined);
  const { count: again } = await importFile(own, '?format=csv&match=title');
  assert.equal(again['withoutStatus'], undefined);
  const { count: back } = await importFile('id,title,reading.finishedOn\n'
    + '01980000-0000-7000-8000-000000000001,E,2020\n', '?format=csv');
  assert.equal(back['withoutStatus'], undefined);
});

test('a column of one\'s own that is emptied stays, and is told', async () => {
  const file = (lent: string, shelf: string): string =>
    `Titel,Autor,Verliehen an,Regal\nFaust,Goethe,${lent},${shelf}\n`;
  await importFile(file('Anna', 'A1'), '?format=csv&match=title');
  for (const [shelf, values] of [
    ['A2', { 'reading.shelves': '["A1"] → ["A2"]' }], ['A2', {}],
  ] as const) {
    const { results } = await importFile(file('', shelf), '?format=csv&match=title&verbose=true');
    assert.deepEqual(results[0]?.['values'], {
      ...values, 'metadata.Verliehen an': '"Anna" stays, the source has it no more',
    });
  }
});

test('a verbose report names each record with something that is put aside or left out',
  async () => {
    const file = toCsv([
      ['1', 'A', 'X', '9.78E+12', '0', '3', '', ''],
      ['2', 'B', 'Y', '', '', '', `<b>${'r'.repeat(20_000)}</b>`, ''],
    ]);
    for (const status of ['imported', 'unchanged']) {
      const { results } = await importFile(file, '?format=goodreads&verbose=true');
      assert.deepEqual(results.map(({ id: _, ...result }) => result), [
        { line: 2, status, title: 'A', members: ['isbn'], values: { isbn: 'put aside' } },
        {
          line: 3, status, title: 'B', members: ['My Review'],
          values: { 'My Review': 'left out' },
        },
      ]);
    }
  });

test('records that are no books are numbered too', async () => {
  const bad = 'TY  - BOOK\nID  - bad\nER  - \n';
  const { results } = await importFile(
    `TY  - JOUR\nTI  - T\nER  - \n${bad}TY  - JOUR\nTI  - T\nER  - \n${bad}`, '?format=ris');
  assert.deepEqual(results.map((result) => result['record']), [undefined, 2, undefined, 4]);
  const early = '@article{a, title={T}}\n@book{b, crossref={p}}\n@book{p, author={P}}\n';
  const { results: inOrder } = await importFile(early, '?format=bibtex');
  assert.deepEqual(inOrder.map((result) => [result['key'], result['record']]),
    [[undefined, undefined], ['b', 2], ['p', 3]]);
});

async function importFile(
  file: string, query: string,
): Promise<{ readonly results: readonly Line[]; readonly count: Line }> {
  const { status, text } = await server.ask('POST', `/api/books/import${query}`, file,
    { 'Content-Type': 'text/csv' });
  assert.equal(status, 200, text);
  const lines: readonly Line[] = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  return { results: lines.slice(1, -1), count: lines.at(-1) ?? {} };
}

async function readBooks(): Promise<string> {
  return (await server.ask('GET', '/api/books')).text;
}

function readExport(name: string, encoding: BufferEncoding = 'utf8'): string {
  return readFileSync(join(import.meta.dirname, 'exports', name), encoding);
}

/** Values that the model refuses, and more than has room. */
function createHostileExport(): string {
  return toCsv([
    ['1', 'A', 'X', '9.78E+12', '0', '3', 'r'.repeat(15_000), 's'.repeat(9000)],
    ['2', 'B', 'Y'.repeat(400), '123', '-5', '', '<br/>"\n{', ''],
    ['3', 'C', '', '="9780439023481"', '1e9', '4', '', 't'.repeat(20_000)],
  ]);
}

function toCsv(rows: readonly (readonly string[])[]): string {
  return [GOODREADS_COLUMNS, ...rows]
    .map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join('');
}
