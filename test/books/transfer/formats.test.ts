import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/schema.ts';
import {
  createImportRecord, parseImportRecord,
} from '../../../src/books/transfer/import-record.ts';
import {
  createBookWriter, findWrittenFormat, loadCodec,
} from '../../../src/books/transfer/formats.ts';
import type { SourceRecord } from '../../../src/books/transfer/record-splitter.ts';
import { encodeRecord } from '../../../src/resources/record.ts';
import { readText } from '../../support/format-round-trip.ts';
import { BOOK_FILE_FORMATS } from './book-file-formats.ts';
import type { BookFileFormat } from './book-file-formats.ts';

const RECORD_BYTES_MAX = 2 * 1024 * 1024;

test('records come out as one line each, and carry the line they begin on', async () => {
  const cases: readonly (readonly [BookFileFormat, string, readonly number[]])[] = [
    ['json', '[\n{"title":"a"},\n\n{\n"title":\n"b"}\n,{"title":"c"}\n]', [2, 4, 7]],
    ['json', '[{"title":"a"},{"title":"b"}]', [1, 1]],
    ['json', '{"title":"a"}\n\n{"title":"b"}', [1, 3]],
    ['json', '{\n"title":"a"\n}', [1]],
    ['jsonl', '{"title":"a"}\r\n\r\n \n{"title":"b"}', [1, 4]],
    ['csv', 'title,subtitle\r\n\r\n"a\nb",c\nd\n\n"e","f\r\n"', [3, 5, 7]],
  ];
  for (const [format, file, expected] of cases) {
    for (const chunk of [1, 3, 1000]) {
      const records = await read(format, Buffer.from(file), chunk);
      assert.deepEqual(records.map(({ line }) => line), expected, JSON.stringify(file));
      assert.deepEqual(records.filter(({ problem }) => problem !== undefined), []);
      assert.deepEqual(records.filter(({ json }) => json?.includes('\n') === true), []);
    }
  }
});

test('a broken record in a JSON file is told once, and the next line goes on', async () => {
  const good = '{"title":"good"}';
  const cases: readonly (readonly [file: string, line: number, problem: RegExp])[] = [
    [`[\n{"title":"a\n,\n${good}\n]`, 2, /string does not end/],
    [`[\n{"title":"a\\\n,\n${good}\n]`, 2, /string does not end/],
    [`[\n{"a":[1}},\n${good}\n]`, 2, /brackets .* do not match/],
    [`[\n${good}\n${good}\n]`, 3, /expected "," or "\]"/],
    [`[,\n${good}\n]`, 1, /expected a record/],
    [`[\n${good},\n]`, 3, /expected a record/],
    [`[\n${good},,\n${good}]`, 2, /expected a record/],
    [`[\n${good}`, 2, /ends before its array/],
    [`[\n${good},\n{"title":`, 3, /ends within this record/],
    [`[${good}]\n\n${good} x`, 3, /follows the end/],
    [`${good}\n}\n${good}`, 2, /expected a record/],
    [`[\n${'['.repeat(2000)}\n${good}\n]`, 2, /too deep/],
  ];
  for (const [file, line, problem] of cases) {
    for (const chunk of [1, 4, 10_000]) {
      const records = await read('json', Buffer.from(file), chunk);
      const told = records.flatMap((record) => record.problem === undefined ? [] : [record]);
      assert.equal(told.length, 1, `${file.slice(0, 60)} ${JSON.stringify(records)}`);
      assert.equal(told[0]?.line, line, file.slice(0, 60));
      assert.match(told[0]?.problem ?? '', problem);
      const read_ = records.filter(({ json }) => String(json) === good);
      assert.ok(read_.length >= 1 || line === 3, file.slice(0, 60));
    }
  }
});

test('a broken record in a JSON file says from where on it is read again', async () => {
  const resumes = 'reading goes on at the next line that begins with `{`';
  const cases: readonly (readonly [file: string, isToldSo: boolean])[] = [
    ['[{"a":[1}},{"title":"unread"}]', true], ['[{"title":"a"},,{"title":"unread"}]', true],
    ['[{"title":"a"} 1,{"title":"unread"}]', true],
    ['[{"title":"a"} {"title":"read"}]', false], ['[{"title":"a"},{"title":', false],
    [`[{"title":"${'x'.repeat(2 * RECORD_BYTES_MAX)}"},{"title":"unread"}]`, true],
  ];
  for (const [file, isToldSo] of cases) {
    const records = await read('json', Buffer.from(file), 65_536);
    const told = records.map(({ problem = '' }) => problem).join('');
    assert.equal(told.endsWith(resumes), isToldSo, file.slice(0, 60));
    assert.equal(records.some(({ json }) => String(json).includes('unread')), false);
  }
});

test('values that are no objects are handed on, for the importer to refuse', async () => {
  const records = await read('json', Buffer.from('[1, "a,]" ,null,[[]],tru]'), 2);
  assert.deepEqual(records.map(({ json }) => String(json)), ['1', '"a,]"', 'null', '[[]]', 'tru']);
});

test('a record over the limit is told and left out, and memory stays bounded', async () => {
  for (const format of ['json', 'jsonl', 'csl'] as const) {
    const lines = ['a', 'x'.repeat(RECORD_BYTES_MAX), 'b'].map((title) =>
      JSON.stringify({ title }));
    const records = readText(await loadCodec(format), lines.join('\n'));
    assert.deepEqual(records.map(({ line, problem }) => [line, problem !== undefined]),
      [[1, false], [2, true], [3, false]], format);
  }
});

test('the largest book there can be passes in every format', async () => {
  // A control character takes six bytes, more than any other code point.
  const long = (length: number): string => `a${'\u0001'.repeat(length - 1)}`;
  const url = `https://example.org/${'😀'.repeat(2028)}`;
  const author = {
    name: long(300), givenName: long(150), familyName: long(150), birthDate: '1960-01-01',
    deathDate: '2000-01-01', url, address: {
      streetAddress: long(300), addressLocality: long(150), addressRegion: long(150),
      postalCode: long(20), addressCountry: 'GB',
    },
  };
  const { fields } = parseImportRecord({
    title: long(1000), subtitle: long(1000), authors: Array.from({ length: 100 }, () => author),
    publisher: long(500), bookEdition: long(100), description: long(20_000), url, image: url,
    keywords: Array.from({ length: 100 }, (_, index) => `${index}${long(200 - `${index}`.length)}`),
    metadata: { pad: '\u0001'.repeat(2720) },
  });
  const stamp = '2026-01-01T00:00:00.000Z';
  const book = encodeRecord('id', '018f2b7c-0000-7000-8000-000000000000',
    { createdAt: stamp, updatedAt: stamp }, fields);
  for (const format of BOOK_FILE_FORMATS) {
    const records = await read(format, await write(format, [book]), 65_536);
    assert.deepEqual(records.map(restore), [book], format);
  }
});

test('formats to write are known by the ends of names', () => {
  const paths = ['a.JSON', 'b/c.jsonl', 'c.ndjson', 'd.csv', 'e.txt', 'json', '-', 'a.csl.json'];
  assert.deepEqual(paths.map(findWrittenFormat),
    ['json', 'jsonl', 'jsonl', 'csv', null, null, null, 'csl']);
  // Its cells would stand between commas.
  assert.equal(findWrittenFormat('a.tsv'), null);
});

test('a book is counted whose metadata the format does not hold, in whole or in part', async () => {
  const cases: readonly (readonly [metadata: JsonObject, holders: readonly string[]])[] = [
    [{ own: 1 }, []], [{ source: { goodreads: { Shelf: 'x' } } }, []],
    [{ source: { bibtex: { note: 'n' } } }, ['bibtex']],
    [{ source: { ris: { N1: 'n' } } }, ['ris']],
    [{ source: { csl: { note: 'n' } } }, ['csl']], [{ source: { csl: { 'no member': 1 } } }, []],
    [{ source: { bibtex: { note: 'n' }, ris: { N1: 'n' } } }, []],
  ];
  for (const [metadata, holders] of cases) {
    const book = Buffer.from(JSON.stringify({ id: '1', title: 'T', authors: [], metadata }));
    for (const format of ['bibtex', 'ris', 'csl'] as const) {
      const writer = await createBookWriter(format);
      writer.write([book]);
      assert.equal(writer.leftOutCount, holders.includes(format) ? 0 : 1,
        `${format}: ${JSON.stringify(metadata)}`);
    }
  }
});

/** The stored line that an import of the record leads to. */
function restore(source: SourceRecord): string {
  const record = 'body' in source && source.body !== undefined
    ? createImportRecord(source.body) : parseImportRecord(JSON.parse(String(source.json)));
  const { id, createdAt, updatedAt, fields } = record;
  return encodeRecord('id', id ?? '', {
    createdAt: createdAt ?? '', updatedAt: updatedAt ?? '',
  }, fields);
}

async function write(format: BookFileFormat, books: readonly string[]): Promise<Buffer> {
  const writer = await createBookWriter(format);
  const half = Math.ceil(books.length / 2);
  const parts = [books.slice(0, half), books.slice(half)]
    .map((part) => writer.write(part.map((book) => Buffer.from(book))));
  return Buffer.from([writer.begin(), ...parts, writer.end()].join(''));
}

async function read(
  format: BookFileFormat, file: Buffer, chunkBytes: number,
): Promise<readonly SourceRecord[]> {
  return readText(await loadCodec(format), file, { chunkBytes });
}
