/**
 * What no file may do to the reader of any format: crash it, keep it for long, or make it depend on
 * where the chunks of the file end. The files are noise, and files of other programs and of ours
 * that were changed at random.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { JsonObject } from '../../../src/base/schema.ts';
import { openBookFile } from '../../../src/books/transfer/book-file.ts';
import type { FormatName } from '../../../src/books/transfer/format-list.ts';
import { FORMATS } from '../../../src/books/transfer/format-list.ts';
import { loadCodec } from '../../../src/books/transfer/formats.ts';
import {
  createImportRecord, parseImportRecord,
} from '../../../src/books/transfer/import-record.ts';
import { findFormatByEnding } from '../../../src/books/transfer/recognise-format.ts';
import type { SourceRecord } from '../../../src/books/transfer/record-splitter.ts';
import { writeText } from '../../support/format-round-trip.ts';
import { hostileBook } from '../../support/hostile-books.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { createSeed } from '../../support/seed.ts';

const FILES = IS_LONG ? 1_000 : 10;
/** Of the longest of the files that say one thing again and again. */
const LOAD_BYTES = 1_600_000;
const EXPORTS = join(import.meta.dirname, 'exports');
const EXPORT_FILES: Readonly<Record<string, readonly string[]>> = {
  goodreads: ['goodreads.csv', 'goodreads-utf16.csv'], storygraph: ['storygraph.csv'],
  librarything: ['librarything.tsv', 'librarything.json'], calibre: ['calibre.csv'],
  bookwyrm: ['bookwyrm.csv'], openlibrary: ['openlibrary.csv'], isbn: ['isbns.txt'],
};
const OTHER_FILES: Readonly<Record<string, readonly string[]>> = {
  bibtex: [
    '@string{p = "Ace"}\n@comment{no}\n% no\n@book(leguin69, author = {Le Guin, Ursula K.},\n'
    + 'title = "The {L}eft " # {Hand}, publisher = p, month = jan # "~5", year = 1969)\n'
    + '@inbook{child, crossref = {parent}, title = {A \\"{u} \\\'{e} \\ss}}\n'
    + '@book{parent, author = {von Last, Jr, First and others}, title = {$x^2$ -- y}}\n',
  ],
  ris: [
    'TY  - BOOK\r\nA1  - Last, First, Jr.\r\nT1  - A : B\r\nY1  - 2001/03//\r\nSN  - 0439023483\r\n'
    + 'N2  - one\r\n more\r\nER  - \r\n\r\nTY  - JOUR\r\nTI  - C\r\nER  -\r\n',
    'TY  -BOOK\rTI  -A\rAU  -B\rER  -\r',
  ],
  csl: [
    '[{"id":"a","type":"book","title":"A","author":[{"family":"B","non-dropping-particle":"de"},'
    + '{"literal":"C"}],"issued":{"raw":"2001-05"}},{"type":"article","title":"D"}]',
  ],
  jsonld: [
    '{"@context":["https://schema.org",{"titel":"name","s":"http://schema.org/"}],"@graph":[{'
    + '"@type":"s:Book","titel":"A","s:author":{"@list":["B",{"@type":"Person","name":"C"}]}}]}',
  ],
};

const PIECES = [
  '', '{', '}', '{{', '}}', '"', '""', "'", '\\', '\\"', '@', '\n@', '@book{', '@string{', '#', ',',
  ' = ', '%', '$', ' and ', 'TY  - BOOK\n', '\nER  - \n', '\r', '\r\n', '\n', '\t', ';', '[', ']',
  '[]', '{}', ':', '//', '\0', '\ufeff', '\u2028', '\u202e', '😀', '<b>', '&#x110000;', '=', '="',
  '-1', '1e999', '9780439023481', '9.78E+12', '__proto__', '"constructor":{}', '"@context":',
  '"@graph":[', '"@id":', 'null', '\ud800', 'crossref = {a}', '0101-01-01', 'é',
];
const BYTES = [0x00, 0x80, 0xc3, 0xe2, 0xf0, 0xfe, 0xff, 0x0a, 0x0d, 0x22, 0x5c, 0x7b, 0x7d];

for (const { name } of FORMATS) {
  test(`a changed ${name} file is read to its end, the same however it is cut`, async () => {
    const seed = createSeed();
    const random = createRandom(seed);
    const files = await makeFiles(name, random);
    for (let number = 0; number < FILES; number += 1) {
      const file = change(random, files[number % files.length] ?? Buffer.alloc(0));
      const message = `${name}, file ${number} with seed ${seed}`;
      const whole = await read(name, file, file.length);
      for (const chunkBytes of [1, 2 + below(random, 30), 30 + below(random, 3_000)]) {
        assert.deepEqual(await read(name, file, chunkBytes), whole, message);
      }
      checkBooks(whole, message);
    }
  });

  test(`noise is read as ${name} to its end`, async () => {
    const seed = createSeed();
    const random = createRandom(seed);
    for (let number = 0; number < FILES; number += 1) {
      const noise = Buffer.from(Array.from({ length: below(random, 2_000) }, () =>
        number % 2 === 0 ? below(random, 256) : 0x20 + below(random, 0x60)));
      const message = `${name}, noise ${number} with seed ${seed}`;
      const whole = await read(name, noise, noise.length);
      assert.deepEqual(await read(name, noise, 1 + below(random, 50)), whole, message);
      checkBooks(whole, message);
    }
  });
}

longTest('a file of any family is read as one format or refused, however it is cut', async () => {
  const seed = createSeed();
  const random = createRandom(seed);
  for (const { name } of FORMATS) {
    const files = await makeFiles(name, random);
    for (const ending of ['.csv', '.tsv', '.json', '.txt']) {
      const choice = findFormatByEnding(`books${ending}`);
      assert.ok(choice !== null);
      for (let number = 0; number < FILES / 10; number += 1) {
        const file = change(random, files[number % files.length] ?? Buffer.alloc(0));
        const whole = await read(choice, file, file.length);
        assert.deepEqual(await read(choice, file, 1 + below(random, 50)), whole,
          `${name} as ${ending}, file ${number} with seed ${seed}`);
      }
    }
  }
});

/** What a reader is kept busy with: said again and again, within a record and without. */
const LOADS: Readonly<Record<string, readonly (readonly [start: string, piece: string])[]>> = {
  json: [['[{"a":', '['], ['[', '{}'], ['', '"\\'], ['[{"title":"', '\\u0000']],
  jsonl: [['', '{\n'], ['{"title":"', '\\"']],
  csv: [['title\n', '"'], ['title\n', '"\n'], ['title', ',']],
  jsonld: [['', '{"@graph":['], ['{"@context":[', '{"a":"b"},'], ['[', '{"@type":"Book"},']],
  csl: [['', '['], ['[', '{"type":"book"},'], ['[{"author":[', '{"family":"a"},']],
  bibtex: [
    ['', '@'], ['', '\n@'], ['@book{a,', '{'], ['@book{a, title = {', '\n@book{a,'],
    ['@book{a, title = {', '\\'], ['@book{a, title = "', '{}'], ['@book{a, author = {', ' and '],
    ['@book{a, author = {', 'a,'], ['@book{a, title = {t}, ', 'a = {b}, '], ['', '@comment{'],
    ['@book{a, title = a', ' # a'], ['', '@inbook{a, crossref = {a}}'], ['', '%'],
    ['@book{a, title = {', '$'], ['@book{a, title = {', '\\textit{'], ['@book{a, title = {', "\\'"],
    ['@book{a, title={b}, keywords = {', ',{'], ['@book{a, title={b}, pages = {', '1-'],
    ['', '@a{\n'], ['', '@book{k, t={x},\n'], ['', '@book{k, t={\n@b{x}\n}, y}\n'], ['@book', ' '],
    ['@book{k,', '%\n'], ['', '@string{a = a # "x"}'],
  ],
  ris: [
    ['', 'TY  - BOOK\n'], ['TY  - BOOK\n', 'TI  - a\n'], ['TY  - BOOK\nTI  - ', '\r'],
    ['TY  - BOOK\n', 'AU  - a, b\n'], ['', 'ER  - \n'], ['TY  - BOOK\nTI  - a', '\n '],
    ['TY  - BOOK\nAB  - ', 'word\n'],
    ['TY  - BOOK\nAU  - ', 'a, '], ['TY  - BOOK\nTI  - ', ': '],
  ],
};

for (const [name, loads] of Object.entries(LOADS)) {
  longTest(`${name} of one thing again and again takes time in proportion`, async () => {
    for (const [start, piece] of loads) {
      const makeFile = (bytes: number): Buffer =>
        Buffer.from(start + piece.repeat(bytes / piece.length));
      await measure(name as FormatName, makeFile(LOAD_BYTES / 32));
      const small = await measure(name as FormatName, makeFile(LOAD_BYTES / 8));
      const large = await measure(name as FormatName, makeFile(LOAD_BYTES));
      // Eight times the text; in squares it would be 64 times the work.
      assert.ok(large < 24 * small + 200, `${start}${piece}: ${small} ms, then ${large} ms`);
    }
  });
}

async function measure(format: FormatName, file: Buffer): Promise<number> {
  const start = process.cpuUsage();
  await read(format, file, 65_536);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Our own sample and hostile books in the format, and files of other programs. */
async function makeFiles(name: FormatName, random: Random): Promise<readonly Buffer[]> {
  const codec = await loadCodec(name);
  const others = [
    ...(EXPORT_FILES[name] ?? []).map((file) => readFileSync(join(EXPORTS, file))),
    ...(OTHER_FILES[name] ?? []).map((text) => Buffer.from(text)),
  ];
  if (codec.createWriter === undefined) return others;
  const samples = JSON.parse(readFileSync('data/samples/books.json', 'utf8')) as JsonObject[];
  const made = Array.from({ length: 3 }, (_, number) => hostileBook(random, number));
  return [Buffer.from(writeText(codec, samples.slice(0, 4))), Buffer.from(writeText(codec, made)),
    ...others];
}

/** The file after some changes: pieces put in, bytes taken out, said twice or turned. */
function change(random: Random, file: Buffer): Buffer {
  let changed = file;
  for (let count = below(random, 6); count > 0; count -= 1) {
    const start = below(random, changed.length + 1);
    const end = Math.min(changed.length, start + below(random, 40));
    const choices = [
      Buffer.from(PIECES[below(random, PIECES.length)] ?? ''), Buffer.alloc(0),
      Buffer.concat([changed.subarray(start, end), changed.subarray(start, end)]),
      Buffer.from([BYTES[below(random, BYTES.length)] ?? 0]),
    ];
    const middle = choices[below(random, choices.length)] ?? Buffer.alloc(0);
    const isCut = below(random, 20) === 0;
    changed = Buffer.concat([changed.subarray(0, start), middle,
      isCut ? Buffer.alloc(0) : changed.subarray(end)]);
  }
  return changed;
}

/** The records, or the message of what is wrong with the file. */
async function read(
  choice: Parameters<typeof openBookFile>[1], file: Buffer, chunkBytes: number,
): Promise<readonly SourceRecord[] | string> {
  const makeChunks = async function* (): AsyncGenerator<Buffer> {
    // Copies: readers may write over their chunks.
    for (let start = 0; start < file.length; start += chunkBytes) {
      yield Buffer.from(file.subarray(start, start + chunkBytes));
    }
  };
  const records: SourceRecord[] = [];
  try {
    const opened = await openBookFile(makeChunks(), choice, { hasAllTypes: false });
    for await (const some of opened.readRecords()) {
      for (const record of some) records.push(record);
    }
    return records;
  } catch (thrown) {
    assert.ok(thrown instanceof AppError, String(thrown instanceof Error ? thrown.stack : thrown));
    return thrown.message;
  }
}

/** Each book is one that an import takes, but for its title. */
function checkBooks(records: readonly SourceRecord[] | string, message: string): void {
  if (typeof records === 'string') return;
  for (const record of records) {
    assert.ok(record.line >= 1, message);
    if (!('body' in record)) continue;
    const book = { ...record.body, title: record.body['title'] ?? 'A' };
    assert.equal(JSON.stringify(createImportRecord(book)),
      JSON.stringify(parseImportRecord(book)), message);
  }
}
