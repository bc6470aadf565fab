/** What a book is to its reader: in from each program, again the same, out, and in again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { loadCodec } from '../../../../src/books/transfer/formats.ts';
import { startBookServer } from '../../../support/book-server.ts';
import type { BookServer } from '../../../support/book-server.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { READING_EXPORTS, makeFile } from './reading-exports.ts';
import type { ReadingExport } from './reading-exports.ts';

for (const source of READING_EXPORTS) {
  const { format, separator } = source;
  const name = separator === 'json' ? `${format} (JSON)` : format;

  test(`what a book is to its reader is read from ${name}`, async () => {
    const records = readText(await loadCodec(format), makeFile(source));
    assert.equal(records.length, source.cases.length);
    assert.ok(records.length >= 20);
    for (const [number, record] of records.entries()) {
      assert.ok('body' in record);
      const { series, reading, metadata } = record.body;
      assert.deepEqual(withoutAbsent({ series, reading, metadata }), expectBook(source, number),
        JSON.stringify(source.cases[number]?.fields));
    }
  });

  test(`books of ${name} come in, are the same again, and go out and in`, async () => {
    const server = await startBookServer();
    const file = makeFile(source);
    const { length } = source.cases;
    try {
      assert.deepEqual(await importFile(server, file, format), { imported: length, updated: 0 });
      assert.deepEqual(await importFile(server, file, format), { unchanged: length, updated: 0 });
      const books = await exportBooks(server, 'json');
      for (const out of ['json', 'jsonl', 'csv']) {
        const other = await startBookServer();
        try {
          const sent = await exportBooks(server, out);
          assert.deepEqual(await importFile(other, sent, out), { imported: length, updated: 0 });
          assert.equal(await exportBooks(other, 'json'), books, out);
          assert.deepEqual(await importFile(other, file, format),
            { unchanged: length, updated: 0 }, out);
        } finally {
          await other.close();
        }
      }
    } finally {
      await server.close();
    }
  });
}

test('a reading log of before 2022 has no titles: its records are bad, and named', async () => {
  const file = 'Work Id,Edition Id,Bookshelf\nOL102749W,,Currently Reading\n'
    + 'OL361393W,OL7798182M,Want to Read\n';
  const records = readText(await loadCodec('openlibrary'), file);
  assert.deepEqual(records.map((record) =>
    'body' in record ? [record.line, record.key, record.titleProblem] : record), [
    [2, 'OL102749W', 'is required: the record has no text in `Title`'],
    [3, 'OL361393W', 'is required: the record has no text in `Title`'],
  ]);
});

function expectBook({ format, base, baseKept, cases }: ReadingExport, number: number): JsonObject {
  const { fields = {}, series, reading, kept = [] } = cases[number] ?? {};
  const source = Object.fromEntries(Object.entries({ ...base(number), ...fields })
    .filter(([name, value]) => [...baseKept, ...kept].includes(name)
      && value !== '' && !(Array.isArray(value) && value.length === 0)));
  return withoutAbsent({ series, reading, metadata: { source: { [format]: source } } });
}

function withoutAbsent(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return JSON.parse(JSON.stringify(members));
}

async function importFile(
  server: BookServer, file: string, format: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { text } = await server.ask('POST', `/api/books/import?format=${format}`, file);
  const count = text.trimEnd().split('\n').at(-1) ?? '';
  const { imported, updated, unchanged, skipped } = JSON.parse(count);
  assert.equal(skipped, 0, text.slice(0, 2000));
  return { updated, ...imported > 0 ? { imported } : {}, ...unchanged > 0 ? { unchanged } : {} };
}

async function exportBooks(server: BookServer, format: string): Promise<string> {
  return (await server.ask('GET', `/api/books?limit=100&format=${format}`)).text;
}
