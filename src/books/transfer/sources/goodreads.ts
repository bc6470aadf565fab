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
import { makeTextRow, readPages, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FieldSplitter, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import {
  createAuthor, isNameSuffix, splitInvertedName, splitName, splitNames,
} from '../mapping/person-name.ts';

/** A formula around no ISBN. */
const EMPTY_FORMULA = '=""';

const goodreadsTable: FormatTable = {
  name: 'goodreads',
  ownIdFields: ['Book Id'],
  restField: null,
  isBook: () => true,
  rows: [
    { member: 'title', from: ['Title'], read: readTitle },
    { member: 'authors', from: ['Author', 'Author l-f', 'Additional Authors'], read: readAuthors },
    {
      member: 'isbn', from: ['ISBN13', 'ISBN'],
      read: (record) => readIsbn([textOf(record, 'ISBN13'), textOf(record, 'ISBN')]),
    },
    makeTextRow('publisher', 'Publisher'),
    // The year of the edition; the work's own year where that is missing.
    {
      member: 'datePublished', from: ['Year Published'],
      read: (record) => readYear(record, 'Year Published'),
    },
    {
      member: 'datePublished', from: ['Original Publication Year'],
      read: (record) => readYear(record, 'Original Publication Year'),
    },
    {
      member: 'numberOfPages', from: ['Number of Pages'],
      read: (record) => readPages(textOf(record, 'Number of Pages')),
    },
    {
      member: 'bookFormat', from: ['Binding'],
      read: (record) => readBookFormat(textOf(record, 'Binding')),
    },
  ],
};

export const goodreadsCodec: FormatCodec =
  createTableCodec(goodreadsTable, createGoodreadsSplitter);

function createGoodreadsSplitter(): FieldSplitter {
  return createDelimitedTextSplitter({
    title: 'a Goodreads export',
    requiredColumns: [['Book Id'], ['Title'], ['Author']],
    keyColumns: ['Book Id'],
    isEmpty: (_column, text) => text === EMPTY_FORMULA,
  });
}

// A series has a place in it, `#1`; brackets without one belong to the title.
const SERIES = /\(((?:[^()]|\([^()]*\))*)\)$/;
const PLACE = /(?:^|[\s,;])#\S/;

function readTitle(record: FieldRecord): RowValue | undefined {
  const text = textOf(record, 'Title');
  const match = SERIES.exec(text);
  if (match !== null && PLACE.test(match[1] ?? '')) {
    const title = text.slice(0, match.index).trim();
    if (title !== '') return part(title);
  }
  return text === '' ? undefined : whole(text);
}

/** A year is whole, also one of two digits: 19 is the time of Augustus. */
function readYear(record: FieldRecord, name: string): RowValue | undefined {
  return readDate(textOf(record, name).padStart(4, '0'));
}

function readAuthors(record: FieldRecord): RowValue | undefined {
  const name = foldBlanks(textOf(record, 'Author'));
  const others = splitNames(textOf(record, 'Additional Authors')).filter((other) => other !== name)
    .map((other) => ({ name: other }));
  const invertedName = foldBlanks(textOf(record, 'Author l-f'));
  const inverted = splitInvertedName(invertedName);
  // Goodreads takes the last word for the family, also where it is `Jr.`
  const author = createAuthor(isNameSuffix(inverted.family) ? splitName(name) : inverted);
  const isSameName = invertedName.includes(',') && author['name'] === name;
  const authors = [isSameName ? author : { name }, ...others].filter((one) => one['name'] !== '');
  if (authors.length === 0) return undefined;
  const isAll = isSameName || invertedName === '' || invertedName === name;
  return isAll ? whole(authors) : part(authors);
}
