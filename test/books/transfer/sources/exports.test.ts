/** Files as their programs write them, made by hand from what is known of them. */
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { isJsonObject } from '../../../../src/base/fields.ts';
import { openBookFile } from '../../../../src/books/transfer/book-file.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import { findFormatByEnding } from '../../../../src/books/transfer/recognise-format.ts';
import type { SourceRecord } from '../../../../src/books/transfer/record-splitter.ts';

const EXPORTS = resolve(import.meta.dirname, '../exports');

/** Of each book its key, title, authors and ISBN, or the problem with the record. */
type Summary = readonly (string | undefined)[];

const RAYUELA = [
  ['5498194', '"Rayuela", a novel', 'Julio Cortázar', '9780394752846', 'Pantheon'],
  ['5015319', 'The Catcher in the Rye', 'J. D. Salinger', undefined, 'Little, Brown'],
] as const;

const GOODREADS = [
  ['2767052', 'The Hunger Games', 'Suzanne Collins', '9780439023481', 'Scholastic Press'],
  ['12067', 'Good Omens', 'Terry Pratchett; Neil Gaiman', undefined, 'Gollancz'],
  ['1381', 'The Odyssey', 'Homer; Robert Fagles; Bernard Knox, Jr.', '9780143039952',
    'Penguin Classics'],
  ['4381', 'Fahrenheit 451', 'Ray Bradbury', undefined, undefined],
] as const;

const FILES: Readonly<Record<string,
  readonly [format: string, encoding: string, books: readonly Summary[]]>> = {
  'goodreads.csv': ['goodreads', 'utf-8', GOODREADS],
  'goodreads-utf16.csv': ['goodreads', 'utf-16le', GOODREADS],
  'storygraph.csv': ['storygraph', 'utf-8', [
    ['9780520227354', 'Always Coming Home', 'Ursula K. Le Guin; Todd Barton', '9780520227354',
      undefined],
    ['5b0a7a10-3a4e-4d3c-9d5a-2c0b3f6f8a11', 'Résister', 'Salomé Saqué', undefined, undefined],
    ['B08BX9DLF9', 'Piranesi', 'Susanna Clarke', undefined, undefined],
  ]],
  'librarything.tsv': ['librarything', 'windows-1252', RAYUELA],
  'librarything.json': ['librarything', 'utf-8', RAYUELA],
  'calibre.csv': ['calibre', 'utf-8', [
    ['3051ed45-8943-4900-a22a-d2704e3583df', 'Always Coming Home',
      'Ursula K. Le Guin; Todd Barton', '9780520227354', 'University of California Press'],
    ['6f0a3c6e-4d2f-4b53-9d2e-0f5b0f1f9a55', 'Улитка на склоне',
      'Arkady Strugatsky; Boris Strugatsky', undefined, undefined],
  ]],
  'bookwyrm.csv': ['bookwyrm', 'utf-8', [
    ['https://books.test/book/2', 'Gideon the Ninth', 'Tamsyn Muir', '9781250313195', undefined],
    ['https://books.test/book/3', 'Good Omens', 'Terry Pratchett; Neil Gaiman', undefined,
      undefined],
  ]],
  'openlibrary.csv': ['openlibrary', 'utf-8', [
    ['OL59800W', 'The Left Hand of Darkness', 'Ursula K. Le Guin', undefined, undefined],
    ['OL450064W', 'Good Omens', 'Terry Pratchett; Neil Gaiman', undefined, undefined],
  ]],
  'isbns.txt': ['isbn', 'utf-8', [
    ['', 'ISBN 9780439023481', '', '9780439023481', undefined],
    ['', 'ISBN 9780441478125', '', '9780441478125', undefined],
    ['', 'ISBN 9780804429573', '', '9780804429573', undefined],
    ['must be an ISBN, not "9780439023482": its check digit is 2, but the other digits give 1'],
  ]],
};

for (const [name, [format, encoding, books]] of Object.entries(FILES)) {
  test(`${name} is known by what stands in it, and read`, async () => {
    for (const chunkBytes of [65_536, 37]) {
      const path = join(EXPORTS, name);
      const choice = findFormatByEnding(path);
      assert.ok(choice !== null);
      const source = createReadStream(path, { highWaterMark: chunkBytes });
      const file = await openBookFile(source, choice, { hasAllTypes: false });
      const records: SourceRecord[] = [];
      for await (const some of file.readRecords()) records.push(...some);
      assert.deepEqual([file.format, file.encoding], [format, encoding]);
      assert.deepEqual(records.map(summarise), books);
    }
  });
}

function summarise(record: SourceRecord): Summary {
  if (record.problem !== undefined) return [record.problem];
  assert.ok('body' in record);
  const { fields } = parseImportRecord(record.body);
  const authors = Array.isArray(fields['authors']) ? fields['authors'] : [];
  const names = authors.map((author) => isJsonObject(author) ? author['name'] : '').join('; ');
  return [record.key ?? '', textOf(fields['title']), names, textOf(fields['isbn']),
    textOf(fields['publisher'])];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
