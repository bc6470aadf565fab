/** What no file may do to the readers of other programs' exports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  createImportRecord, parseImportRecord,
} from '../../../../src/books/transfer/import-record.ts';
import type { FormatCodec } from '../../../../src/books/transfer/format-codec.ts';
import type { SourceRecord } from '../../../../src/books/transfer/record-splitter.ts';
import { bookwyrmCodec } from '../../../../src/books/transfer/sources/bookwyrm.ts';
import { calibreCodec } from '../../../../src/books/transfer/sources/calibre.ts';
import { goodreadsCodec } from '../../../../src/books/transfer/sources/goodreads.ts';
import { isbnCodec } from '../../../../src/books/transfer/sources/isbn-list.ts';
import { librarythingCodec } from '../../../../src/books/transfer/sources/librarything.ts';
import { openlibraryCodec } from '../../../../src/books/transfer/sources/openlibrary.ts';
import { storygraphCodec } from '../../../../src/books/transfer/sources/storygraph.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { heldBytes, heldBytesMax } from '../../../support/memory.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';
import { longTest } from '../../../support/long.ts';

type Sample = {
  readonly codec: FormatCodec;
  /** What stands before the records. */
  readonly header: string;
  readonly columns: readonly string[];
  readonly separator: ',' | '\t';
};

function makeSample(codec: FormatCodec, separator: ',' | '\t', names: string): Sample {
  const columns = names.split(',');
  return { codec, header: `${columns.join(separator)}\n`, columns, separator };
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  goodreads: makeSample(goodreadsCodec, ',', 'Book Id,Title,Author,Author l-f,Additional Authors,'
    + 'ISBN,ISBN13,Publisher,Binding,Number of Pages,Year Published,My Review,My Rating,Date Read,'
    + 'Bookshelves,Exclusive Shelf,Read Count,Owned Copies'),
  storygraph: makeSample(storygraphCodec, ',',
    'ISBN/UID,Title,Authors,Contributors,Format,Tags,Review,Dates Read,Last Date Read,Owned?'),
  librarything: makeSample(librarythingCodec, '\t', 'Book Id,Title,Primary Author,'
    + 'Secondary Author,Secondary Author Roles,Publication,Date,Page Count,Tags,Languages,ISBNs,'
    + 'Collections,Date Started,Date Read,Rating,Review'),
  calibre: makeSample(calibreCodec, ',',
    'uuid,title,authors,author_sort,identifiers,pubdate,comments,languages,formats,series,'
    + 'series_index,rating'),
  bookwyrm: makeSample(bookwyrmCodec, ',', 'remote_id,title,author_text,isbn_10,isbn_13,start_date,'
    + 'finish_date,stopped_date,rating,review_content,shelf,shelf_name'),
  openlibrary: makeSample(openlibraryCodec, ',',
    'Work ID,Title,Authors,First Publish Year,Bookshelf,My Ratings'),
  isbn: makeSample(isbnCodec, '\t', ''),
};

const PIECES = [
  '"', '""', ',', ';', '\t', '\n', '\r\n', '\r', '=', '="', "'", '(', ')', '#1', '[', ']', '{',
  '}', ':', ' : ', '|', ' & ', '&amp;', '&#0;', '<p>', '<', '-->', '<!--', '\\', '\0', '\ufeff',
  '9780439023481', '0439023483', '9.78E+12', '1969', '-750', '2023/01/05', '0101-01-01', 'Jr.',
  'Terry Pratchett', 'Le Guin, Ursula K.', 'é', '中', '😀', '\u202e', '__proto__', 'eng', ' ', 'a',
];

test('random bytes are read to their end, and are refused only for their header', () => {
  const random = createRandom(35);
  for (const [name, { codec, header }] of Object.entries(SAMPLES)) {
    for (let round = 0; round < 100; round += 1) {
      const noise = Buffer.from(Array.from({ length: below(random, 500) }, () =>
        below(random, 256)));
      const start = Buffer.from(round % 2 === 0 ? header : '{"1":{');
      attempt(codec, Buffer.concat([start, noise]), 1 + below(random, 100));
      assert.ok(attempt(codec, noise, noise.length + 1) !== undefined, name);
    }
  }
});

longTest('a hostile export has the same books however it is cut, and imports take all but titles',
  () => {
    const random = createRandom(36);
    for (const [name, sample] of Object.entries(SAMPLES)) {
      for (let round = 0; round < 100; round += 1) {
        const file = makeFile(random, sample);
        const whole = attempt(sample.codec, file, file.length);
        for (const chunkBytes of round % 3 === 0 ? [1, 1 + below(random, 300)] : []) {
          assert.deepEqual(attempt(sample.codec, file, chunkBytes), whole, `${name}, ${round}`);
        }
        assert.ok(typeof whole !== 'string', String(whole));
        for (const record of whole) {
          if (!('body' in record)) continue;
          const book = { ...record.body, title: record.body['title'] ?? 'A' };
          assert.equal(JSON.stringify(createImportRecord(book)),
            JSON.stringify(parseImportRecord(book)), name);
        }
      }
    }
  });

const BYTES = 1_000_000;

for (const [name, { codec, header, separator }] of Object.entries(SAMPLES)) {
  test(`a ${name} record that is too long is not held, and is told`, () => {
    const reader = codec.createReader({ hasAllTypes: false });
    reader.push(Buffer.from(header));
    reader.push(Buffer.from(separator === ',' ? '1,"' : '1\t'));
    const before = heldBytes();
    for (let count = 0; count < 16; count += 1) reader.push(Buffer.alloc(BYTES, 'x'));
    const held = heldBytes() - before;
    assert.ok(held < heldBytesMax(BYTES), `${held} bytes are held`);
    const records = [...reader.push(Buffer.from(separator === ',' ? '"\n' : '\n')),
      ...reader.end()];
    assert.deepEqual(records.map((record) => [record?.line, record?.problem]),
      [[2, 'the record is longer than 2097152 bytes']]);
  });
}

test('a list that no book can hold is left out as it is, unread', () => {
  for (const [name, column, piece] of [
    ['goodreads', 'Additional Authors', 'a,'], ['calibre', 'comments', '<p>a'],
    ['librarything', 'Secondary Author', 'a|'], ['storygraph', 'Tags', ','],
  ] as const) {
    const { codec, separator } = SAMPLES[name] ?? SAMPLES['goodreads'] as Sample;
    const text = piece.repeat(2_000_000 / piece.length);
    const cell = separator === ',' ? `"${text}"` : text;
    const title = name === 'calibre' ? 'title' : 'Title';
    const others = { storygraph: ',Authors,ISBN/UID', goodreads: ',Book Id,Author',
      librarything: '\tBook Id\tPrimary Author', calibre: '' }[name];
    const file = Buffer.from(`${title}${separator}${column}${others}\nA${separator}${cell}\n`);
    const [record] = readText(codec, file);
    assert.deepEqual(record !== undefined && 'body' in record
      ? [record.body, record.leftOut] : record, [{ title: 'A' }, [column]]);
  }
});

/** A header and rows of hostile texts, mostly well-formed. */
function makeFile(random: Random, { header, columns, separator }: Sample): Buffer {
  const rows = Array.from({ length: below(random, 8) }, () => columns.map((column) => {
    const text = column.toLowerCase() === 'title' && below(random, 4) > 0
      ? 'A (B, #1)' : makeText(random, below(random, 6));
    if (separator === '\t') return text.replace(/[\t\n]/g, ' ');
    return below(random, 10) === 0 ? text : `"${text.replaceAll('"', '""')}"`;
  }).join(separator));
  return Buffer.from(header + rows.join(below(random, 2) === 0 ? '\n' : '\r\n'));
}

function makeText(random: Random, length: number): string {
  return Array.from({ length }, () => PIECES[below(random, PIECES.length)] ?? '').join('');
}

/** The records, or the message of what is wrong with the file. */
function attempt(
  codec: FormatCodec, file: Buffer, chunkBytes: number,
): readonly SourceRecord[] | string {
  try {
    return readText(codec, file, { chunkBytes: Math.max(chunkBytes, 1) });
  } catch (thrown) {
    assert.ok(thrown instanceof AppError && thrown.code === 'invalid', String(thrown));
    return thrown.message;
  }
}
