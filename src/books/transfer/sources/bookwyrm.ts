/**
 * The CSV export of BookWyrm: comma-separated values, a record for each book, with the last of its
 * readings and reviews and one of its shelves, which may be a person's own: then the dates alone
 * say what became of the book. `remote_id` is the address of the book. Reviews are HTML or what was
 * typed. Titles that came from Goodreads end in their series.
 */
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readDate } from '../mapping/date-text.ts';
import { listTrimmedTexts, readPages, textOf, toAuthors } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { splitNames } from '../mapping/person-name.ts';
import { findStatus, readRating } from '../mapping/reading-text.ts';
import type { StatusWords } from '../mapping/reading-text.ts';
import { readSeriesOfTitle, readTitleBeforeSeries } from '../mapping/series-title.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

const STATUSES: StatusWords = new Map([
  ['read', 'read'], ['to-read', 'to-read'], ['reading', 'reading'],
  ['stopped-reading', 'abandoned'],
]);

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const bookwyrmTable: FormatTable = {
  name: 'bookwyrm',
  ownIdFields: ['remote_id'],
  rows: [
    textRows('title', 'title', readTitleBeforeSeries),
    textRows('series', 'title', readSeriesOfTitle),
    textRows('authors', 'author_text', (text) => toAuthors(splitNames(text))),
    listRow('isbn', ['isbn_13', 'isbn_10'], readIsbn),
    textRows('numberOfPages', 'pages', readPages),
    recordRow('reading.status', ['shelf', 'shelf_name'], readShelfStatus),
    recordRow('reading.status', ['finish_date', 'stopped_date'], readDateStatus),
    recordRow('reading.shelves', ['shelf_name'], readShelf),
    textRows('reading.rating', 'rating', readRating),
    // An end before the start is refused, so the start comes first.
    textRows('reading.startedOn', 'start_date', readDate),
    textRows('reading.finishedOn', 'finish_date', readDate),
    textRows('reading.review', 'review_content', readHtml),
  ].flat(),
};

export const bookwyrmCodec: FormatCodec =
  createTableCodec(bookwyrmTable, () => createDelimitedTextSplitter(bookwyrmTable, {
    requiredColumns: [['title'], ['author_text'], ['remote_id']],
  }));

/** The name of such a shelf is the status in the reader's language. */
function readShelfStatus(record: FieldRecord): RowValue | undefined {
  const status = findStatus(STATUSES, textOf(record, 'shelf'));
  return status === undefined ? undefined : whole(status);
}

/** The dates are those of the reading. */
function readDateStatus(record: FieldRecord): RowValue | undefined {
  if (readDate(textOf(record, 'finish_date')) !== undefined) return part('read');
  return readDate(textOf(record, 'stopped_date')) === undefined ? undefined : part('abandoned');
}

function readShelf(record: FieldRecord): RowValue | undefined {
  const name = textOf(record, 'shelf_name');
  const isStatus = findStatus(STATUSES, textOf(record, 'shelf')) !== undefined;
  return name === '' || isStatus ? undefined : whole([name]);
}
