/**
 * The library export of Goodreads: comma-separated values with 24 columns, in older files 31. An
 * ISBN is a formula (`="0439023480"`), which a spreadsheet that saved the file may have made a
 * rounded number (`9.78E+12`). Titles end in their series, `The Hunger Games (The Hunger Games,
 * #1)`. Names have two blanks at times. Reviews are HTML.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate, readYear } from '../mapping/date-text.ts';
import { listTrimmedTexts, readPages, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createNamedAuthor, splitNames } from '../mapping/person-name.ts';
import {
  NOTHING, createStatusReader, findStatus, readCopies, readRating, readReadCount,
  splitShelves,
} from '../mapping/reading-text.ts';
import type { StatusWords } from '../mapping/reading-text.ts';
import { readSeriesOfTitle, readTitleBeforeSeries } from '../mapping/series-title.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

/** A formula around no ISBN. */
const EMPTY_FORMULA = '=""';

/** The shelves of which each book has one; a person may have exclusive ones of their own. */
const STATUSES: StatusWords = new Map([
  ['read', 'read'], ['to-read', 'to-read'], ['currently-reading', 'reading'],
  ['did-not-finish', 'abandoned'],
]);

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const goodreadsTable: FormatTable = {
  name: 'goodreads',
  ownIdFields: ['Book Id'],
  rows: [
    textRows('title', 'Title', readTitleBeforeSeries),
    textRows('series', 'Title', readSeriesOfTitle),
    recordRow('authors', ['Author', 'Author l-f', 'Additional Authors'], readAuthors),
    listRow('isbn', ['ISBN13', 'ISBN'], readIsbn),
    textRows('publisher', 'Publisher'),
    // The year of the edition; the work's own year where that is missing.
    textRows('datePublished', ['Year Published', 'Original Publication Year'], readYear),
    textRows('numberOfPages', 'Number of Pages', readPages),
    textRows('bookFormat', 'Binding', readBookFormat),
    textRows('reading.status', 'Exclusive Shelf', createStatusReader(STATUSES)),
    recordRow('reading.shelves', ['Bookshelves', 'Exclusive Shelf'], readShelves),
    textRows('reading.rating', 'My Rating', readRating),
    textRows('reading.finishedOn', 'Date Read', readDate),
    textRows('reading.readCount', 'Read Count', readReadCount),
    textRows('reading.owned', 'Owned Copies', readCopies),
    textRows('reading.review', 'My Review', readHtml),
  ].flat(),
};

export const goodreadsCodec: FormatCodec =
  createTableCodec(goodreadsTable, () => createDelimitedTextSplitter(goodreadsTable, {
    requiredColumns: [['Book Id'], ['Title'], ['Author']],
    isEmpty: (_column, cell) => cell === EMPTY_FORMULA,
  }));

/** `Bookshelves` has the exclusive one too, but for `read`, which it has at times. */
function readShelves(record: FieldRecord): RowValue | undefined {
  const exclusiveShelf = textOf(record, 'Exclusive Shelf');
  const names = splitShelves(textOf(record, 'Bookshelves'));
  const isStatus = (name: string): boolean => findStatus(STATUSES, name) !== undefined;
  const shelves = [...names, exclusiveShelf].filter((name) => name !== '' && !isStatus(name));
  const isAll = names.every((name) => name === exclusiveShelf || !isStatus(name));
  if (shelves.length > 0) return isAll ? whole(shelves) : part(shelves);
  return isAll ? NOTHING : undefined;
}

function readAuthors(record: FieldRecord): RowValue | undefined {
  const name = foldBlanks(textOf(record, 'Author'));
  const invertedName = foldBlanks(textOf(record, 'Author l-f'));
  const author = createNamedAuthor(name, invertedName);
  const others = splitNames(textOf(record, 'Additional Authors')).filter((other) => other !== name)
    .map((other) => ({ name: other }));
  const authors = [author, ...others].filter((one) => one.name !== '');
  if (authors.length === 0) return undefined;
  const isAll = invertedName === '' || invertedName === name || 'familyName' in author;
  return isAll ? whole(authors) : part(authors);
}
