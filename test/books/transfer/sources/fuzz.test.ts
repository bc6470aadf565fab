/** What no file may do to the readers of other programs' exports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FormatCodec } from '../../../../src/books/transfer/format-codec.ts';
import { bookwyrmCodec } from '../../../../src/books/transfer/sources/bookwyrm.ts';
import { calibreCodec } from '../../../../src/books/transfer/sources/calibre.ts';
import { goodreadsCodec } from '../../../../src/books/transfer/sources/goodreads.ts';
import { isbnCodec } from '../../../../src/books/transfer/sources/isbn-list.ts';
import { librarythingCodec } from '../../../../src/books/transfer/sources/librarything.ts';
import { openlibraryCodec } from '../../../../src/books/transfer/sources/openlibrary.ts';
import { storygraphCodec } from '../../../../src/books/transfer/sources/storygraph.ts';
import { readText } from '../../../support/format-round-trip.ts';

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
