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
import { listTrimmedTexts, readKeywords, textOf } from '../mapping/field-text.ts';
import { whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { isAuthorRole, splitNames } from '../mapping/person-name.ts';

/** An ISBN, an ASIN or a UUID; older files have an ISBN alone. */
const OWN_ID_COLUMNS = ['ISBN/UID', 'ISBN'] as const;

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
  ].flat(),
};

export const storygraphCodec: FormatCodec =
  createTableCodec(storygraphTable, () => createDelimitedTextSplitter({
    title: 'a StoryGraph export',
    requiredColumns: [['Title'], ['Authors', 'Author'], OWN_ID_COLUMNS],
    keyColumns: OWN_ID_COLUMNS,
  }));

/** Contributors who are authors are authors; the field of all of them is kept. */
function readAuthors(record: FieldRecord): RowValue | undefined {
  const names = new Set(splitNames(textOf(record, 'Authors') || textOf(record, 'Author')));
  for (const contributor of textOf(record, 'Contributors').split(')')) {
    const [name = '', role = ''] = contributor.split('(');
    if (isAuthorRole(role.trim())) names.add(foldBlanks(name.replace(/^\s*,/, '')));
  }
  return names.size === 0 ? undefined : whole([...names].map((name) => ({ name })));
}
