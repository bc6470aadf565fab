/** What the metadata of books have from other programs, read again by the tables of today. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { encodeJson } from '../../../../src/base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { separateMembers } from '../../../../src/books/book-members.ts';
import { FORMATS } from '../../../../src/books/transfer/format-list.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import { loadCodec } from '../../../../src/books/transfer/formats.ts';
import type { FormatName } from '../../../../src/books/transfer/format-list.ts';
import { mapRecord } from '../../../../src/books/transfer/mapping/map-record.ts';
import { createMatchMode } from '../../../../src/books/transfer/match-mode.ts';
import { startBookServer } from '../../../support/book-server.ts';
import type { BookServer } from '../../../support/book-server.ts';
import { IS_LONG } from '../../../support/long.ts';
import { below, createRandom } from '../../../support/random.ts';
import { pick } from '../../../support/random-books.ts';
import { READING_EXPORTS, makeFile } from '../sources/reading-exports.ts';

const PLAIN_MODE = {
  matches: [], onMatch: 'update', hasAllTypes: false, columns: new Map(), isDryRun: false,
  isVerbose: false,
} as const;

let server: BookServer;

beforeEach(async () => {
  server = await startBookServer();
});

afterEach(() => server.close());

for (const readingExport of READING_EXPORTS) {
  const { format, separator, base } = readingExport;
  // What had no room in the metadata is not there to be read again.
  const cases = readingExport.cases.filter(({ fields }) => JSON.stringify(fields).length < 16_000);
  const source = { ...readingExport, cases };
  const name = separator === 'json' ? `${format} (JSON)` : format;

  test(`what was imported from ${name} before its readings were read gets them`, async () => {
    await importAsBefore(format, cases.map(({ fields }, number) => {
      const record: JsonObject = { ...base(number), ...fields };
      return separator === 'json' ? record : Object.fromEntries(
        source.headings.map((heading) => [heading, record[heading] ?? '']));
    }));
    const before = await readBooks();
    assert.ok(before.every(({ series, reading }) => series === undefined && reading === undefined));
    const predicted = await reread('&dryRun=true');
    assert.deepEqual(await readBooks(), before);
    const count = await reread();
    assert.deepEqual({ ...count, dryRun: true }, predicted);
    assert.deepEqual([count['imported'], count['skipped']], [0, 0]);
    assert.equal(Number(count['updated']) + Number(count['unchanged']), cases.length);
    const books = await readBooks();
    assert.deepEqual(books.map(withoutStamps), await readImport(source));
    assert.deepEqual(await reread(), { ...count, updated: 0, unchanged: cases.length });
    const again = await importFile(format, makeFile(source));
    assert.deepEqual([again['updated'], again['unchanged']], [0, cases.length]);
    assert.deepEqual(await readBooks(), books);
  });
}

/** The books of a file that is imported today. */
async function readImport(source: (typeof READING_EXPORTS)[number]): Promise<unknown> {
  const other = await startBookServer();
  try {
    await other.ask('POST', `/api/books/import?format=${source.format}`, makeFile(source));
    return JSON.parse((await other.ask('GET', '/api/books')).text).map(withoutStamps);
  } finally {
    await other.close();
  }
}

test('what a book has stays, and the field of another value with it', async () => {
  const fields = {
    'Book Id': '7', 'Title': 'Mort (Discworld, #4)', 'Author': 'Terry Pratchett',
    'My Rating': '4', 'Exclusive Shelf': 'read', 'My Review': 'Theirs.', 'Date Read': '2020/01/02',
    'Year Published': '2001', 'Original Publication Year': '1987',
  };
  await importAsBefore('goodreads', [fields]);
  const id = String((await readBooks())[0]?.['id']);
  const mine = {
    title: 'Mort!', datePublished: '1988', publisher: 'Mine',
    reading: { review: 'Mine.', startedOn: '2021', rating: 4 },
  };
  await server.edit(id, mine);
  assert.equal((await reread())['updated'], 1);
  const [book = {}] = await readBooks();
  const { title, datePublished, publisher, series, reading, metadata } = book;
  assert.deepEqual({ title, datePublished, publisher, series, reading, metadata }, {
    ...mine, series: [{ name: 'Discworld', position: 4 }],
    reading: { ...mine.reading, status: 'read' },
    metadata: {
      source: { goodreads: {
        'Book Id': '7', 'Title': fields.Title, 'My Review': 'Theirs.', 'Date Read': '2020/01/02',
        'Original Publication Year': '1987',
      } },
      'x-hookshelf': (metadata as JsonObject)['x-hookshelf'],
    },
  });
  const books = await readBooks();
  assert.deepEqual(await reread(), {
    imported: 0, updated: 0, replaced: 0, unchanged: 1, skipped: 0, existing: 0, dryRun: false,
    leftOut: {}, putAside: { 'reading.finishedOn': 1 },
    firstPutAside: { 'reading.finishedOn': { line: 1, record: 1, title: 'Mort!' } },
  });
  const file = `${Object.keys(fields).join()}\n${
    Object.values(fields).map((text) => `"${text}"`).join()}\n`;
  assert.equal((await importFile('goodreads', file))['unchanged'], 1);
  assert.deepEqual(await readBooks(), books);
});

test('several sources of a book give what it lacks in turn', async () => {
  for (const metadata of [
    { source: { goodreads: { 'Book Id': '1', 'My Rating': '3' }, bibtex: {
      citationkey: 'k', Series: 'Discworld', NUMBER: '4', note: 'n' },
    ris: { ID: 'r', T2: 'Other', M1: '1' } } },
    { source: { unknown: { 'My Rating': '3' }, goodreads: 'mine' } },
    { source: ['goodreads'] }, { goodreads: { 'My Rating': '3' } }, { note: '"source":{' },
  ]) await server.ask('POST', '/api/books', JSON.stringify({ title: 'T', metadata }));
  const before = await readBooks();
  assert.deepEqual((({ updated, unchanged }) => [updated, unchanged])(await reread()), [1, 0]);
  const [first, ...others] = await readBooks();
  assert.deepEqual(others, before.slice(1));
  const { series, reading, metadata } = first ?? {};
  assert.deepEqual({ series, reading }, {
    series: [{ name: 'Discworld', position: 4 }], reading: { rating: 3 },
  });
  assert.deepEqual((metadata as JsonObject)['source'], {
    goodreads: { 'Book Id': '1' }, bibtex: { citationkey: 'k', note: 'n' },
    ris: { ID: 'r', T2: 'Other', M1: '1' },
  });
});

test('the file that a book made here says all of finds it unchanged', async () => {
  const metadata = { source: { goodreads: {
    'Book Id': '9', 'Title': 'Mort (Discworld, #4)', 'My Rating': '5', 'Bookshelves': 'own',
    'Exclusive Shelf': 'read',
  } } };
  const book = { title: 'Mort', authors: [{ name: 'Terry Pratchett' }], metadata };
  await server.ask('POST', '/api/books', JSON.stringify(book));
  assert.equal((await reread())['updated'], 1);
  const books = await readBooks();
  assert.equal((await reread())['unchanged'], 1);
  const file = 'Book Id,Title,Author,My Rating,Bookshelves,Exclusive Shelf\n'
    + '9,"Mort (Discworld, #4)",Terry Pratchett,5,own,read\n';
  assert.equal((await importFile('goodreads', file))['unchanged'], 1);
  assert.deepEqual(await readBooks(), books);
});

/** Values that files have, and what else a caller may write there. */
const VALUES: readonly JsonValue[] = [
  '', ' ', '4', '4.5', '6', '-1', '2020/01/02', '2020-13-01', '2021/05/20-2021/06/01, 2023/02/03',
  'read', 'to-read', 'Currently reading, own', 'own; lent', 'A (B, #2; C #0.5)', '<p>x</p>&amp;',
  'true', 'Yes', '{\\"u}', 'T2', 'x'.repeat(3000), 0, 3, 1e21, true, null, [], {}, ['a', 'A'],
  [['a']], { '@type': 'BookSeries', 'name': 'S' }, { reviewBody: 'R', author: 'A' },
  { reviewBody: 'R', reviewRating: { ratingValue: 4 } }, { '@value': '2' }, { a: { b: [1] } },
];

test('whatever stands there, a book stays valid, and a second time changes nothing', async () => {
  const codecs = await Promise.all(FORMATS.map(({ name }) => loadCodec(name)));
  const tables = codecs.flatMap(({ table }) => table ?? []);
  const random = createRandom(48);
  const books = Array.from({ length: IS_LONG ? 5000 : 1000 }, (_, number) => {
    const some = tables.filter(() => below(random, 4) === 0);
    const sources = some.map(({ name, rows, ownIdFields }) => {
      const names = [...ownIdFields, ...rows.flatMap(({ from }) => from), 'Other', '__proto__'];
      const fields = names.filter(() => below(random, 3) === 0)
        .map((field) => [field, pick(random, VALUES)] as const);
      return [name, below(random, 20) === 0 ? pick(random, VALUES) : Object.fromEntries(fields)];
    });
    return {
      title: `Book ${number}`,
      ...below(random, 2) === 0 ? { reading: { rating: 2, startedOn: '2022' } } : {},
      ...below(random, 3) === 0 ? { series: [{ name: 'Mine' }] } : {},
      metadata: { source: Object.fromEntries(sources) },
    };
  });
  const lines = books.map((book) => `${encodeJson(book)}\n`).join('');
  await importFile('jsonl', lines);
  const before = await readBooks();
  const { updated, skipped } = await reread();
  assert.ok(Number(updated) > before.length / 2 && skipped === 0, String(updated));
  const after = await readBooks();
  for (const [index, book] of after.entries()) {
    const { id, createdAt, updatedAt, ...members } = book;
    assert.deepEqual(parseImportRecord(members).fields, members);
    for (const [name, value] of Object.entries(separateMembers(before[index] ?? {}))) {
      if (name === 'metadata' || name === 'updatedAt') continue;
      assert.deepEqual(separateMembers(book)[name], value, name);
    }
  }
  const again = await reread();
  assert.equal(again['updated'], 0);
  assert.deepEqual(await readBooks(), after);
});

test('the report names what changes, and is brief for who wants it so', async () => {
  await importAsBefore('goodreads',
    [{ 'Book Id': '1', 'Title': 'A', 'Author': 'B', 'My Rating': '2' }]);
  const path = '/api/books/import?fromMetadata=true&dryRun=true';
  const { text } = await server.ask('POST', `${path}&verbose=true`);
  const [first, second] = text.split('\n').map((line) => line === '' ? null : JSON.parse(line));
  assert.deepEqual(first, { format: 'metadata', encoding: 'utf-8' });
  assert.deepEqual([second.line, second.status, second.title, second.members],
    [1, 'updated', 'A', ['reading.rating', 'metadata.source.goodreads']]);
  assert.deepEqual(second.values,
    { 'reading.rating': 'none → 2', 'metadata.source.goodreads': 'My Rating' });
  const brief = await server.ask('POST', path, undefined, { Prefer: 'return=minimal' });
  assert.deepEqual([brief.text.split('\n').length, brief.headers['preference-applied']],
    [3, 'return=minimal']);
});

test('what is said of a file is refused, as is a file', async () => {
  for (const [query, body, problem] of [
    ['format=csv', undefined, /reads no file: leave out `format`/],
    ['match=isbn&onMatch=fill', undefined, /leave out `match`, `onMatch`/],
    ['replace=true&allTypes=true', undefined, /leave out `replace`, `allTypes`/],
    ['dryRun=true', 'title\nA\n', /takes no body/],
    ['fromMetadata=yes', undefined, /`fromMetadata`/],
  ] as const) {
    const { status, text } = await server.ask(
      'POST', `/api/books/import?fromMetadata=true&${query}`, body, { 'Content-Type': 'text/csv' });
    assert.equal(status, 400, text);
    assert.match(JSON.parse(text).detail, problem);
  }
});

/** Imports records as a program did whose table had no rows of series and reading. */
async function importAsBefore(format: FormatName, records: readonly JsonObject[]): Promise<void> {
  const codec = await loadCodec(format);
  const { table } = codec;
  assert.ok(table !== undefined);
  const rows = table.rows.filter(({ member }) => !/^(series|reading\..*)$/.test(member));
  const bookImport = await server.catalog.openImport(createMatchMode(format, codec, PLAIN_MODE));
  const books = records.map((record) => {
    const isThere = ([, text]: readonly [string, unknown]): boolean =>
      text !== '=""' && text !== '[]';
    const fields = new Map(Object.entries(record).filter(isThere));
    const key = String(table.ownIdFields.map((name) => fields.get(name)).find(Boolean) ?? '');
    return parseImportRecord(
      mapRecord({ ...table, rows }, { line: 1, key, type: '', fields }).body);
  });
  const results = await bookImport.importBatch(books);
  bookImport.close();
  assert.ok(results.every(({ outcome }) => outcome === 'imported'));
}

async function reread(query = ''): Promise<JsonObject> {
  const answer = await server.ask('POST', `/api/books/import?fromMetadata=true${query}`);
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '');
}

async function importFile(format: string, file: string): Promise<JsonObject> {
  const { text } = await server.ask('POST', `/api/books/import?format=${format}`, file);
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
}

async function readBooks(): Promise<readonly JsonObject[]> {
  return JSON.parse((await server.ask('GET', '/api/books')).text);
}

/** Digests of the same members stand in another order. */
function withoutStamps({ id, createdAt, updatedAt, metadata, ...members }: JsonObject): JsonObject {
  const { 'x-hookshelf': digests, ...others } = metadata as JsonObject;
  const lists = Object.entries(digests as JsonObject).map(([format, text]) =>
    [format, (String(text).match(/.{7}/g) ?? []).sort()] as const);
  return { ...members, metadata: { ...others, digests: Object.fromEntries(lists) } };
}
