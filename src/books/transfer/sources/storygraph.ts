/**
 * The library export of StoryGraph: comma-separated values. `ISBN/UID` is an ISBN, an ASIN or the
 * UUID of a book that has neither, and the book's own id. `Authors` and `Contributors` are names
 * with commas between them, the latter with their roles in brackets: `Ada Byron (Translator)`.
 * Older files have `Author` and `ISBN`. `Dates Read` has all readings, the end of which may be all
 * that is known: `2021/05/20-2021/06/01, 2023/02/03`. Reviews are HTML.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import {
  listTrimmedTexts, readKeywords, splitPieces, textOf, toAuthors,
} from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { isAuthorRole, splitNames } from '../mapping/person-name.ts';
import {
  NOTHING, createStatusReader, readRating, readReadCount,
} from '../mapping/reading-text.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

/** An ISBN, an ASIN or a UUID; older files have an ISBN alone. */
const OWN_ID_COLUMNS = ['ISBN/UID', 'ISBN'] as const;

const readStatus = createStatusReader(new Map([
  ['read', 'read'], ['to-read', 'to-read'], ['currently-reading', 'reading'], ['paused', 'paused'],
  ['did-not-finish', 'abandoned'],
]));

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const storygraphTable: FormatTable = {
  name: 'storygraph',
  ownIdFields: OWN_ID_COLUMNS,
  rows: [
    textRows('title', 'Title'),
    recordRow('authors', ['Authors', 'Author'], readAuthors),
    listRow('isbn', OWN_ID_COLUMNS, readIsbn),
    textRows('bookFormat', 'Format', readBookFormat),
    textRows('keywords', 'Tags', readKeywords),
    textRows('reading.status', 'Read Status', readStatus),
    textRows('reading.rating', 'Star Rating', readRating),
    // An end before the start is refused, so the start comes first.
    textRows('reading.startedOn', 'Dates Read', readStart),
    textRows('reading.finishedOn', 'Dates Read', readEnd),
    textRows('reading.finishedOn', 'Last Date Read', readDate).map((row) =>
      ({ ...row, isRepetition: true })),
    textRows('reading.readCount', 'Read Count', readReadCount),
    textRows('reading.review', 'Review', readHtml),
    textRows('reading.owned', 'Owned?', readOwned),
  ].flat(),
};

export const storygraphCodec: FormatCodec =
  createTableCodec(storygraphTable, () => createDelimitedTextSplitter(storygraphTable, {
    requiredColumns: [['Title'], ['Authors', 'Author'], OWN_ID_COLUMNS],
  }));

/** Contributors who are authors are authors; the field of all of them is kept. */
function readAuthors(record: FieldRecord): RowValue | undefined {
  const names = new Set(splitNames(textOf(record, 'Authors') || textOf(record, 'Author')));
  for (const contributor of splitPieces(textOf(record, 'Contributors'), ')')) {
    const [name = '', role = ''] = contributor.split('(', 2);
    if (isAuthorRole(role.trim())) names.add(foldBlanks(name.replace(/^\s*,/, '')));
  }
  return toAuthors(names);
}

type ReadingDates = { readonly start: RowValue | undefined; readonly end: RowValue | undefined };

// Dates have no hyphens within.
const SPAN = /^([0-9]{4}[0-9/]*)?-([0-9]{4}[0-9/]*)?$/;

/** The first of the readings that ended last, else the first one. */
function readLastReading(text: string): ReadingDates & { readonly isOnly: boolean } {
  const readings = splitPieces(text, ',').filter((piece) => piece.trim() !== '').map(readReading);
  let last: ReadingDates = readings[0] ?? { start: undefined, end: undefined };
  for (const reading of readings) {
    if (String(reading.end?.value ?? '') > String(last.end?.value ?? '')) last = reading;
  }
  return { ...last, isOnly: readings.length === 1 };
}

function readReading(text: string): ReadingDates {
  const [span, start = '', end = ''] = SPAN.exec(text.trim()) ?? [];
  if (span === undefined) return { start: undefined, end: readDate(text) };
  return { start: readDate(start), end: readDate(end) };
}

/** If the field has an end, too, the end says the rest. */
function readStart(text: string): RowValue | undefined {
  const { start, end, isOnly } = readLastReading(text);
  return start === undefined || (end === undefined && isOnly) ? start : part(start.value);
}

function readEnd(text: string): RowValue | undefined {
  const { start, end, isOnly } = readLastReading(text);
  const isAll = isOnly && start?.isWhole !== false;
  return end === undefined || isAll ? end : part(end.value);
}

function readOwned(text: string): RowValue | undefined {
  switch (text.toLowerCase()) {
    case 'yes': return whole(true);
    case 'no': return NOTHING;
    default: return undefined;
  }
}
