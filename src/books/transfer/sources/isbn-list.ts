/**
 * A list of ISBNs, as a scanner makes it: one a line, with or without hyphens, perhaps with `ISBN`
 * before it. Blank lines, lines that begin with `#` and a heading before the first ISBN say
 * nothing. A line that is no ISBN is a broken record. The title of such a book says what is known
 * of it: `ISBN 9780439023481`.
 */
import type { FormatCodec } from '../format-codec.ts';
import { explainIsbn, parseIsbn } from '../../isbn.ts';
import { CsvRowSplitter } from '../csv-rows.ts';
import { listTrimmedTexts } from '../mapping/field-text.ts';
import { mapSplitter, whole } from '../mapping/format-table.ts';
import type {
  BrokenRecord, FieldRecord, FieldSplitter, FormatTable,
} from '../mapping/format-table.ts';
import { createStandInTitle } from '../mapping/isbn-text.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

const { textRows } = createRowMaker(listTrimmedTexts);

const isbnTable: FormatTable = {
  name: 'isbn',
  ownIdFields: [],
  rows: [
    textRows('title', 'isbn', (isbn) => whole(createStandInTitle(isbn))),
    textRows('isbn', 'isbn'),
  ].flat(),
};

export const isbnCodec: FormatCodec = {
  ...createTableCodec(isbnTable, createLineSplitter), defaultMatch: 'isbn',
};

/** A line is a row of delimited text without quotes, and a tab is white space in it. */
function createLineSplitter(): FieldSplitter {
  // Whether a line has come that says something.
  let hasText = false;
  const rows = new CsvRowSplitter({ separator: '\t', hasPlainTabs: true });
  return mapSplitter(rows, ({ line, cells, problem }) => {
    const content = cells.map((cell) => cell.text).join(' ').trim();
    if (problem === undefined && (content === '' || content.startsWith('#'))) return [];
    const isHeading = !hasText && HEADING.test(content);
    hasText = true;
    if (problem !== undefined) return [{ line, key: null, problem }];
    return isHeading ? [] : [readLine(line, content)];
  });
}

/** The name of a column in a spreadsheet, or in a scanner's table. */
const HEADING = /^"?(?:ISBNs?|ISBN[-_ ]?1[03]|EAN(?:[-_ ]?13)?)(?:\s*:)?"?$/i;
const PREFIX = /^ISBN(?:[- ]?1[03](?=\s*:|\s))?\s*:?\s*/i;

function readLine(line: number, content: string): FieldRecord | BrokenRecord {
  const number = content.replace(PREFIX, '').replace(/[\u2010-\u2015\u2212]/g, '-');
  const isbn = parseIsbn(number);
  if (isbn === null) return { line, key: null, problem: explainIsbn(number) };
  return { line, key: null, type: '', fields: new Map([['isbn', isbn]]) };
}
