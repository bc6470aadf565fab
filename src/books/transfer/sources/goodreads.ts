/**
 * The library export of Goodreads: comma-separated values with 24 columns, in older files 31. An
 * ISBN is a formula (`="0439023480"`), which a spreadsheet that saved the file may have made a
 * rounded number (`9.78E+12`). Titles end in their series, `The Hunger Games (The Hunger Games,
 * #1)`. Names have two blanks at times.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import { listTrimmedTexts, readPages, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createNamedAuthor, splitNames } from '../mapping/person-name.ts';

/** A formula around no ISBN. */
const EMPTY_FORMULA = '=""';

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const goodreadsTable: FormatTable = {
  name: 'goodreads',
  ownIdFields: ['Book Id'],
  rows: [
    textRows('title', 'Title', readTitle),
    recordRow('authors', ['Author', 'Author l-f', 'Additional Authors'], readAuthors),
    listRow('isbn', ['ISBN13', 'ISBN'], readIsbn),
    textRows('publisher', 'Publisher'),
    // The year of the edition; the work's own year where that is missing.
    textRows('datePublished', ['Year Published', 'Original Publication Year'], readYear),
    textRows('numberOfPages', 'Number of Pages', readPages),
    textRows('bookFormat', 'Binding', readBookFormat),
  ].flat(),
};

export const goodreadsCodec: FormatCodec =
  createTableCodec(goodreadsTable, () => createDelimitedTextSplitter({
    title: 'a Goodreads export',
    requiredColumns: [['Book Id'], ['Title'], ['Author']],
    keyColumns: ['Book Id'],
    isEmpty: (_column, cell) => cell === EMPTY_FORMULA,
  }));

// A series has a place in it, `#1`; brackets without one belong to the title.
const SERIES = /\(((?:[^()]|\([^()]*\))*)\)$/;
const PLACE = /(?:^|[\s,;])#\S/;

function readTitle(titleText: string): RowValue {
  const match = SERIES.exec(titleText);
  if (match === null || !PLACE.test(match[1] ?? '')) return whole(titleText);
  const title = titleText.slice(0, match.index).trim();
  return title === '' ? whole(titleText) : part(title);
}

/** A year is whole, also one of two digits: 19 is the time of Augustus. */
function readYear(year: string): RowValue | undefined {
  return readDate(year.padStart(4, '0'));
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
