/**
 * The CSV catalog of Calibre: comma-separated values, the columns that its owner chose, columns of
 * their own with a `#` before their names. Names in `authors` have ` & ` between them, in files of
 * older versions `, `: then `author_sort`, which always has ` & `, tells how many there are. A
 * comma within a name is written `|`. `identifiers` is `isbn:…,amazon:…`; the column `isbn` has
 * lost an X at its end. `comments` is HTML.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readDate } from '../mapping/date-text.ts';
import { makeTextRow, readKeywords, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FieldSplitter, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { splitNames } from '../mapping/person-name.ts';

const calibreTable: FormatTable = {
  name: 'calibre',
  ownIdFields: ['uuid'],
  restField: null,
  isBook: () => true,
  rows: [
    makeTextRow('title', 'title'),
    { member: 'authors', from: ['authors'], read: readAuthors },
    { member: 'isbn', from: ['isbn'], read: (record) => readIsbn([textOf(record, 'isbn')]) },
    { member: 'isbn', from: ['identifiers'], read: readIdentifiers },
    makeTextRow('publisher', 'publisher'),
    {
      member: 'datePublished', from: ['pubdate'],
      read: (record) => readDate(textOf(record, 'pubdate')),
    },
    {
      member: 'inLanguage', from: ['languages'],
      read: (record) => readLanguage(textOf(record, 'languages')),
    },
    { member: 'bookFormat', from: ['formats'], read: readFormats },
    {
      member: 'keywords', from: ['tags'], read: (record) => readKeywords(textOf(record, 'tags')),
    },
    {
      member: 'description', from: ['comments'],
      read(record) {
        const html = textOf(record, 'comments');
        return html === '' ? undefined : readHtml(html);
      },
    },
  ],
};

export const calibreCodec: FormatCodec = createTableCodec(calibreTable, createCalibreSplitter);

function createCalibreSplitter(): FieldSplitter {
  return createDelimitedTextSplitter({
    title: 'a Calibre catalog',
    requiredColumns: [['title']],
    keyColumns: ['uuid'],
    isEmpty: (column, text) => column === 'pubdate' && NO_DATE.test(text),
  });
}

/** The time that means none, 0101-01-01 in UTC, anywhere on earth. */
const NO_DATE = /^(?:0101-01-01|0100-12-31)(?:[T ]|$)/;

const AND = ' & ';

function readAuthors(record: FieldRecord): RowValue | undefined {
  const authors = foldBlanks(textOf(record, 'authors'));
  const names = splitAuthors(authors, foldBlanks(textOf(record, 'author_sort')))
    .map((name) => name.replace(/ ?\| ?/g, ', ').replaceAll('&&', '&').trim())
    .filter((name) => name !== '');
  return names.length === 0 ? undefined : whole(names.map((name) => ({ name })));
}

function splitAuthors(authors: string, authorSort: string): readonly string[] {
  if (authors.includes(AND)) return authors.split(AND);
  if (!authors.includes(',')) return [authors];
  const count = authorSort === '' ? null : authorSort.split(AND).length;
  if (count === 1) return [authors];
  const pieces = authors.split(',').map((piece) => piece.trim());
  return pieces.length === count ? pieces : splitNames(authors);
}

const ISBN_IDENTIFIER = /(?:^|,)\s*isbn:([^,]*)/i;

function readIdentifiers(record: FieldRecord): RowValue | undefined {
  const identifiers = textOf(record, 'identifiers');
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
function readFormats(record: FieldRecord): RowValue | undefined {
  const formats = textOf(record, 'formats').toLowerCase().split(',').map((name) => name.trim())
    .filter((name) => name !== '');
  if (formats.length === 0) return undefined;
  if (formats.every((name) => TEXT_FORMATS.has(name))) return part('EBook');
  return formats.every((name) => AUDIO_FORMATS.has(name)) ? part('AudiobookFormat') : undefined;
}
