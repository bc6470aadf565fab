/**
 * The reading log of Open Library: comma-separated values, of works and not of editions. Names in
 * `Authors` have ` | ` between them. Logs of before 2022 have `Work Id`, `Edition Id` and
 * `Bookshelf` alone: their records have no title.
 */
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readYear } from '../mapping/date-text.ts';
import { listTrimmedTexts, toAuthors } from '../mapping/field-text.ts';
import type { FormatTable, RowValue } from '../mapping/format-table.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createStatusReader, readRating } from '../mapping/reading-text.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

const OWN_ID_COLUMNS = ['Work ID', 'Work Id'] as const;

const readStatus = createStatusReader(new Map([
  ['already read', 'read'], ['want to read', 'to-read'], ['currently reading', 'reading'],
]));

const { textRows } = createRowMaker(listTrimmedTexts);

const openlibraryTable: FormatTable = {
  name: 'openlibrary',
  ownIdFields: OWN_ID_COLUMNS,
  rows: [
    textRows('title', 'Title'),
    textRows('authors', 'Authors', readAuthors),
    textRows('datePublished', 'First Publish Year', readYear),
    textRows('reading.status', 'Bookshelf', readStatus),
    textRows('reading.rating', 'My Ratings', readRating),
  ].flat(),
};

export const openlibraryCodec: FormatCodec =
  createTableCodec(openlibraryTable, () => createDelimitedTextSplitter(openlibraryTable, {
    requiredColumns: [OWN_ID_COLUMNS, ['Bookshelf']],
  }));

function readAuthors(text: string): RowValue | undefined {
  return toAuthors(text.split(' | ').map((name) => name.trim()).filter((name) => name !== ''));
}
