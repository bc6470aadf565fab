/**
 * The library export of StoryGraph: comma-separated values. `ISBN/UID` is an ISBN, an ASIN or the
 * UUID of a book that has neither, and the book's own id. `Authors` and `Contributors` are names
 * with commas between them, the latter with their roles in brackets: `Ada Byron (Translator)`.
 * Older files have `Author` and `ISBN`.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { makeTextRow, readKeywords, textOf } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FieldSplitter, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { isAuthorRole, splitNames } from '../mapping/person-name.ts';

/** An ISBN, an ASIN or a UUID; older files have an ISBN alone. */
const OWN_ID_COLUMNS = ['ISBN/UID', 'ISBN'] as const;

const storygraphTable: FormatTable = {
  name: 'storygraph',
  ownIdFields: OWN_ID_COLUMNS,
  restField: null,
  isBook: () => true,
  rows: [
    makeTextRow('title', 'Title'),
    { member: 'authors', from: ['Authors', 'Author'], read: readAuthors },
    { member: 'isbn', from: OWN_ID_COLUMNS, read: readIsbnOrUid },
    {
      member: 'bookFormat', from: ['Format'],
      read: (record) => readBookFormat(textOf(record, 'Format')),
    },
    {
      member: 'keywords', from: ['Tags'], read: (record) => readKeywords(textOf(record, 'Tags')),
    },
  ],
};

export const storygraphCodec: FormatCodec =
  createTableCodec(storygraphTable, createStorygraphSplitter);

function createStorygraphSplitter(): FieldSplitter {
  return createDelimitedTextSplitter({
    title: 'a StoryGraph export',
    requiredColumns: [['Title'], ['Authors', 'Author'], OWN_ID_COLUMNS],
    keyColumns: OWN_ID_COLUMNS,
  });
}

/** Contributors who are authors are authors; the field of all of them is kept. */
function readAuthors(record: FieldRecord): RowValue | undefined {
  const names = new Set(splitNames(textOf(record, 'Authors') || textOf(record, 'Author')));
  for (const contributor of textOf(record, 'Contributors').split(')')) {
    const [name = '', role = ''] = contributor.split('(');
    if (isAuthorRole(role.trim())) names.add(foldBlanks(name.replace(/^\s*,/, '')));
  }
  return names.size === 0 ? undefined : whole([...names].map((name) => ({ name })));
}

function readIsbnOrUid(record: FieldRecord): RowValue | undefined {
  const isbn = readIsbn(OWN_ID_COLUMNS.map((name) => textOf(record, name)));
  return isbn === undefined ? undefined : part(isbn.value);
}
