/**
 * Books in RIS, by its specification (Reference Manager, EndNote) and by what EndNote, Zotero,
 * Mendeley and publishers' sites write. Editors (`A2`, `ED`), places (`CY`), notes (`N1`) and
 * all else that the model lacks stay in `metadata.source`.
 */
import type { Author, Book } from '../../book.ts';
import type { FormatCodec } from '../format-codec.ts';
import {
  DEFAULT_KIND, RIS_REST_FIELD, RisSplitter, encodeRisRecord, joinLines,
} from '../grammars/ris.ts';
import { combineDates, readDate } from '../mapping/date-text.ts';
import {
  LIST_LENGTH_MAX, listTexts, readFirst, readPages, readWords,
} from '../mapping/field-text.ts';
import type { FieldTexts } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue, WrittenFields } from '../mapping/format-table.ts';
import { readRichText } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createSeriesRow } from '../mapping/series-row.ts';
import { isNameList, readAuthorNames, splitAuthor } from '../mapping/person-name.ts';
import { createTableCodec, createTableWriter } from '../mapping/table-codec.ts';

/** Whole books; `CLSWK` is a classical work. A record without a kind is taken for one. */
const BOOK_KINDS: ReadonlySet<string> = new Set(['', DEFAULT_KIND, 'EBOOK', 'EDBOOK', 'CLSWK']);
const EBOOK = 'EBook';
/** In a record of another kind `T2` is the title of what it is a part of. */
const NO_TEXTS: FieldTexts = { texts: [], isWhole: false };

const { textRows, listRow, recordRow, titleRows } = createRowMaker(listTexts, writeTexts);

const risTable: FormatTable = {
  name: 'ris',
  rows: [
    // A record may have several titles: the first is read, the others are kept.
    titleRows(['TI', 'T1', 'CT', 'BT']),
    listRow('authors', ['AU', 'A1'], readAuthors,
      ({ authors }) => writeTexts('AU', authors.map(formatAuthor))),
    listRow('isbn', ['SN'], readIsbn),
    textRows('publisher', 'PB', readRichText),
    createSeriesRow({
      nameField: 'T2', positionField: 'M1', readName: readRichText, encode: writeTexts,
      listTexts: (record, name) => isBook(kindOf(record)) ? listTexts(record, name) : NO_TEXTS,
    }),
    listRow('datePublished', ['PY', 'Y1', 'DA'],
      (texts) => combineDates(texts.map(readDate)), writeDate),
    textRows('inLanguage', 'LA', readLanguage),
    recordRow('numberOfPages', ['SP'], readPageCount,
      ({ numberOfPages = '' }) => writeTexts('SP', numberOfPages)),
    textRows('bookEdition', 'ET', readRichText),
    recordRow('bookFormat', ['TY'],
      (record) => kindOf(record) === EBOOK.toUpperCase() ? whole(EBOOK) : undefined,
      ({ bookFormat }) => bookFormat === EBOOK ? writeTexts('TY', EBOOK.toUpperCase()) : []),
    listRow('keywords', ['KW'], readWords),
    textRows('description', ['AB', 'N2'], readRichText),
    textRows('url', 'UR'),
  ].flat(),
  ownIdFields: ['ID'],
  bookIdPrefix: '',
  restField: RIS_REST_FIELD,
  isBook,
};

export const risCodec: FormatCodec = {
  ...createTableCodec(risTable, () => new RisSplitter()),
  // A record is written under its own id: that of its source, else the catalog's.
  createWriter: () => createTableWriter(risTable,
    ({ ownId, fields }) => ({ text: encodeRisRecord(ownId, fields) })),
  canBeEmpty: true,
};

/** Controls that are no white space: bibutils, for one, ends a text at the first zero. */
const CONTROLS = /[^\P{Cc}\s\u0085]/gu;

/** A field with its values; none where all are blank, as a reader would not see them. */
function writeTexts(tag: string, value: string | number | readonly string[]): WrittenFields {
  const texts = [value].flat().map((item) => joinLines(String(item).replace(CONTROLS, '')))
    .filter((item) => item !== '');
  const [first] = texts;
  if (first === undefined) return [];
  return [[tag, texts.length === 1 ? first : texts]];
}

/** `Family, Given, Suffix`; other names are as they are, such as those of organizations. */
function readAuthors(texts: readonly string[]): RowValue | undefined {
  if (texts.length === 0) return undefined;
  const authors = readAuthorNames(texts.slice(0, LIST_LENGTH_MAX).join(';'));
  // The model has no organizations: their names are kept as they stood.
  const isAll = authors.length === texts.length && authors.every((author, index) =>
    formatAuthor(author) === texts[index]?.replace(/,\s*/g, ', ') && !isNameList(author.name));
  return isAll ? whole(authors) : part(authors);
}

function formatAuthor(author: Author): string {
  const { given, droppingParticle, family, suffix } = splitAuthor(author);
  // RIS has no place for a particle but behind the given name.
  const before = [given, droppingParticle].filter((piece) => piece !== '').join(' ');
  if (suffix !== '') return `${family}, ${before}, ${suffix}`;
  return before === '' ? family : `${family}, ${before}`;
}

/** The year, and the whole date where it is known more precisely: `1969/03/05/`. */
function writeDate({ datePublished = '' }: Book): WrittenFields {
  const [year = '', month, day = ''] = datePublished.split('-');
  if (month === undefined) return writeTexts('PY', year);
  return [...writeTexts('PY', year), ...writeTexts('DA', `${year}/${month}/${day}/`)];
}

function isBook(kind: string): boolean {
  return BOOK_KINDS.has(kind.toUpperCase());
}

function kindOf(record: FieldRecord): string {
  return listTexts(record, 'TY').texts[0] ?? '';
}

/** In a book the number of its pages; in what is a part of one, the page where it begins. */
function readPageCount(record: FieldRecord): RowValue | undefined {
  if (!isBook(kindOf(record)) || record.fields.has('EP')) return undefined;
  return readFirst(listTexts(record, 'SP'), readPages);
}
