/**
 * The CSV catalog of Calibre: comma-separated values, the columns that its owner chose, columns of
 * their own with a `#` before their names. Names in `authors` have ` & ` between them, in files of
 * older versions `, `: then `author_sort`, which always has ` & `, tells how many there are; it
 * also tells which of the names are families. A
 * comma within a name is written `|`. `identifiers` is `isbn:…,amazon:…`; the column `isbn` has
 * lost an X at its end. `comments` is HTML. `series_index` is 1.0 where there is no series, too.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import { RATING_MAX } from '../../book.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readDate } from '../mapping/date-text.ts';
import { listTrimmedTexts, readKeywords, splitPieces, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createNamedAuthor, splitNames } from '../mapping/person-name.ts';
import { NOTHING, readRating } from '../mapping/reading-text.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const calibreTable: FormatTable = {
  name: 'calibre',
  ownIdFields: ['uuid'],
  rows: [
    textRows('title', 'title'),
    recordRow('authors', ['authors'], readAuthors),
    listRow('isbn', ['isbn'], readIsbn),
    textRows('isbn', 'identifiers', readIdentifiers),
    textRows('publisher', 'publisher'),
    textRows('datePublished', 'pubdate', readDate),
    textRows('inLanguage', 'languages', readLanguage),
    textRows('bookFormat', 'formats', readFormats),
    textRows('keywords', 'tags', readKeywords),
    textRows('description', 'comments', readHtml),
    recordRow('series', ['series', 'series_index'], readSeries),
    textRows('reading.rating', 'rating', readStars),
  ].flat(),
};

export const calibreCodec: FormatCodec =
  createTableCodec(calibreTable, () => createDelimitedTextSplitter(calibreTable, {
    requiredColumns: [['title']],
    isEmpty: (column, cell) => column === 'pubdate' && NO_DATE.test(cell),
  }));

/** The time that means none, 0101-01-01 in UTC, anywhere on earth. */
const NO_DATE = /^(?:0101-01-01|0100-12-31)(?:[T ]|$)/;

const AND = ' & ';

function readAuthors(record: FieldRecord): RowValue | undefined {
  const sortNames = splitPieces(foldBlanks(textOf(record, 'author_sort')), AND);
  const names = splitAuthors(foldBlanks(textOf(record, 'authors')), sortNames);
  const authors = names
    .map((name) => name.replace(/ ?\| ?/g, ', ').replaceAll('&&', '&').trim())
    .map((name, index) => createNamedAuthor(name, sortNames[index] ?? ''))
    .filter(({ name }) => name !== '');
  return authors.length === 0 ? undefined : whole(authors);
}

function splitAuthors(authors: string, sortNames: readonly string[]): readonly string[] {
  if (authors.includes(AND)) return splitPieces(authors, AND);
  if (!authors.includes(',')) return [authors];
  const count = sortNames[0] === '' ? null : sortNames.length;
  if (count === 1) return [authors];
  const pieces = splitPieces(authors, ',').map((piece) => piece.trim());
  return pieces.length === count ? pieces : splitNames(authors);
}

const ISBN_IDENTIFIER = /(?:^|,)\s*isbn:([^,]*)/i;

function readIdentifiers(identifiers: string): RowValue | undefined {
  const match = ISBN_IDENTIFIER.exec(identifiers);
  const isbn = readIsbn([match?.[1] ?? '']);
  return isbn === undefined || match?.[0] === identifiers ? isbn : part(isbn.value);
}

const TEXT_FORMATS: ReadonlySet<string> = new Set([
  'azw', 'azw3', 'azw4', 'cbz', 'cbr', 'cb7', 'djvu', 'doc', 'docx', 'epub', 'fb2', 'fbz', 'htmlz',
  'kepub', 'kfx', 'lit', 'lrf', 'mobi', 'odt', 'original_azw3', 'original_epub', 'original_mobi',
  'pdb', 'pdf', 'prc', 'rtf', 'txt', 'txtz', 'zip',
]);
const AUDIO_FORMATS: ReadonlySet<string> = new Set(['aac', 'm4a', 'm4b', 'mp3', 'ogg', 'opus']);

/** A book that is there as files is an e-book; which files is kept. */
function readFormats(names: string): RowValue | undefined {
  const formats = names.toLowerCase().split(',').map((name) => name.trim())
    .filter((name) => name !== '');
  if (formats.length === 0) return undefined;
  if (formats.every((name) => TEXT_FORMATS.has(name))) return part('EBook');
  return formats.every((name) => AUDIO_FORMATS.has(name)) ? part('AudiobookFormat') : undefined;
}

const INDEX = /^[0-9]{1,6}(?:\.[0-9]{1,6})?$/;

function readSeries(record: FieldRecord): RowValue | undefined {
  const name = textOf(record, 'series');
  const index = textOf(record, 'series_index');
  const hasPosition = INDEX.test(index);
  if (name === '') return hasPosition && Number(index) === 1 ? NOTHING : undefined;
  const series = hasPosition ? { name, position: Number(index) } : { name };
  return hasPosition || index === '' ? whole([series]) : part([series]);
}

/** Stars of five; a rating above is one of ten, as the database of Calibre has it. */
function readStars(text: string): RowValue | undefined {
  const rating = readRating(text);
  const stars = rating?.value;
  return typeof stars === 'number' && stars > RATING_MAX ? whole(stars / 2) : rating;
}
