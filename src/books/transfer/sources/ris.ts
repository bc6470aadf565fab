/**
 * Books in RIS, by its specification (Reference Manager, EndNote) and by what EndNote, Zotero,
 * Mendeley and publishers' sites write. Editors (`A2`, `ED`), places (`CY`), notes (`N1`) and
 * all else that the model lacks stay in `metadata.source`.
 */
import type { JsonValue } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX } from '../../book.ts';
import type { Author, Book } from '../../book.ts';
import type { FormatCodec } from '../format-codec.ts';
import {
  DEFAULT_KIND, RIS_REST_FIELD, RisSplitter, encodeRisRecord, joinLines, listTexts,
} from '../grammars/ris.ts';
import { joinTitle, parsePageCount, splitTitle } from '../mapping/book-text.ts';
import { readDate } from '../mapping/date-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type {
  BookMember, FieldRecord, FormatTable, MemberRow, RowValue,
} from '../mapping/format-table.ts';
import { readRichText } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { createMappedWriter } from '../mapping/mapped-writer.ts';
import type { EncodedFields } from '../mapping/mapped-writer.ts';
import { isNameList, readAuthorNames, splitAuthor } from '../mapping/person-name.ts';
import { writeRecord } from '../mapping/write-record.ts';

/** Whole books; `CLSWK` is a classical work. A record without a kind is taken for one. */
const BOOK_KINDS: ReadonlySet<string> = new Set(['', DEFAULT_KIND, 'EBOOK', 'EDBOOK', 'CLSWK']);
/** The title of a book, the one that counts first: of several the others are kept. */
const TITLE_TAGS = ['TI', 'T1', 'CT', 'BT'] as const;
const DATE_TAGS = ['PY', 'Y1', 'DA'] as const;
const EBOOK = 'EBook';

const risTable: FormatTable = {
  name: 'ris',
  rows: [
    ...TITLE_TAGS.flatMap(createTitleRows),
    {
      member: 'authors', from: ['AU', 'A1'],
      read: (record) => readAuthors([...textsOf(record, 'AU'), ...textsOf(record, 'A1')]),
      write: ({ authors }) => writeTexts('AU', authors.map(formatAuthor)),
    },
    {
      member: 'isbn', from: ['SN'],
      read: (record) => readIsbn(textsOf(record, 'SN')),
      write: ({ isbn }) => writeTexts('SN', [isbn]),
    },
    ...createTextRow('publisher', ['PB'], ({ publisher }) => publisher, readRichText),
    {
      member: 'datePublished', from: DATE_TAGS,
      read: readDates, write: ({ datePublished }) => writeDate(datePublished),
    },
    {
      member: 'inLanguage', from: ['LA'],
      read: (record) => readSingle(record, 'LA', readLanguage),
      write: ({ inLanguage }) => writeTexts('LA', [inLanguage]),
    },
    {
      member: 'numberOfPages', from: ['SP'],
      read: readPageCount, write: ({ numberOfPages }) => writeTexts('SP', [numberOfPages]),
    },
    ...createTextRow('bookEdition', ['ET'], ({ bookEdition }) => bookEdition, readRichText),
    {
      member: 'bookFormat', from: ['TY'],
      read: (record) => textsOf(record, 'TY')[0] === EBOOK.toUpperCase() ? whole(EBOOK) : undefined,
      write: ({ bookFormat }) =>
        bookFormat === EBOOK ? writeTexts('TY', [EBOOK.toUpperCase()]) : [],
    },
    {
      member: 'keywords', from: ['KW'],
      read: (record) => readList(textsOf(record, 'KW')),
      write: ({ keywords = [] }) => writeTexts('KW', keywords),
    },
    ...createTextRow('description', ['AB', 'N2'], ({ description }) => description, readRichText),
    ...createTextRow('url', ['UR'], ({ url }) => url, whole),
  ],
  ownIdFields: ['ID'],
  bookIdPrefix: '',
  restField: RIS_REST_FIELD,
  isBook: (kind) => BOOK_KINDS.has(kind.toUpperCase()),
};

export const risCodec: FormatCodec = {
  ...createTableCodec(risTable, () => new RisSplitter()),
  createWriter: () => createMappedWriter(encodeBook, { begin: '', separator: '', end: '' }),
  canBeEmpty: true,
};

/** A book as a record, under its own id: that of its source, else the catalog's. */
function encodeBook(book: Book): EncodedFields {
  const { ownId, fields, leavesOut } = writeRecord(risTable, book);
  return { text: encodeRisRecord(ownId, fields), leavesOut };
}

function textsOf({ fields }: FieldRecord, tag: string): readonly string[] {
  return listTexts(fields.get(tag));
}

/** Controls that are no white space: bibutils, for one, ends a text at the first zero. */
const CONTROLS = /[^\P{Cc}\s\u0085]/gu;

/** A field with its values; none where all are blank, as a reader would not see them. */
function writeTexts(
  tag: string, values: readonly (string | number | undefined)[],
): readonly (readonly [string, JsonValue])[] {
  const texts = values.map((value) => joinLines(String(value ?? '').replace(CONTROLS, '')))
    .filter((text) => text !== '');
  const [first] = texts;
  if (first === undefined) return [];
  return [[tag, texts.length === 1 ? first : texts]];
}

/** The first value of a field; the others are kept. */
function readSingle(
  record: FieldRecord, tag: string, read: (text: string) => RowValue | undefined,
): RowValue | undefined {
  const texts = textsOf(record, tag);
  const [first] = texts;
  const value = first === undefined ? undefined : read(first);
  return value !== undefined && texts.length > 1 ? part(value.value) : value;
}

/** Rows of a text, one for each tag that may hold it; it is written under the first. */
function createTextRow(
  member: BookMember, tags: readonly string[], getText: (book: Book) => string | undefined,
  read: (text: string) => RowValue,
): readonly MemberRow[] {
  return tags.map((tag, index) => {
    const row = {
      member, from: [tag], read: (record: FieldRecord) => readSingle(record, tag, read),
    };
    return index > 0 ? row : { ...row, write: (book) => writeTexts(tag, [getText(book)]) };
  });
}

/** The rows of title and subtitle, which one field says: `Animal Farm: A Fairy Story`. */
function createTitleRows(tag: (typeof TITLE_TAGS)[number], index: number): readonly MemberRow[] {
  const earlierTags = TITLE_TAGS.slice(0, index);
  const splitText = (record: FieldRecord): readonly string[] => {
    if (earlierTags.some((earlier) => record.fields.has(earlier))) return [];
    return splitTitle(String(readRichText(textsOf(record, tag)[0] ?? '').value));
  };
  const read = (piece: number, isLast: (pieces: readonly string[]) => boolean) =>
    (record: FieldRecord): RowValue | undefined => {
      const pieces = splitText(record);
      const text = pieces[piece];
      if (text === undefined) return undefined;
      const [first = '', ...others] = textsOf(record, tag);
      const isAll = isLast(pieces) && others.length === 0 && readRichText(first).isWhole;
      return isAll ? whole(text) : part(text);
    };
  // Runs of white space become a blank in any case, so blanks at their ends are no reason.
  const write = ({ title = '', subtitle = '' }: Partial<Book>): ReturnType<typeof writeTexts> =>
    writeTexts(tag, [joinTitle(title.trim(), subtitle.trim())]);
  // With a subtitle the title says a part: where the model refuses the other, the field is kept.
  const titleRow: MemberRow =
    { member: 'title', from: [tag], read: read(0, (pieces) => pieces.length === 1) };
  const subtitleRow: MemberRow = { member: 'subtitle', from: [tag], read: read(1, () => true) };
  return [index > 0 ? titleRow : { ...titleRow, write }, subtitleRow];
}

/** `Family, Given, Suffix`; other names are as they are, such as those of organizations. */
function readAuthors(texts: readonly string[]): RowValue | undefined {
  if (texts.length === 0) return undefined;
  // One more than the model takes, so that it is told that there are more.
  const authors = texts.slice(0, LIST_ITEMS_MAX + 1).flatMap(readAuthorNames);
  // The model has no organizations: their names are kept as they stood.
  const isAll = authors.length === texts.length && authors.every((author, index) =>
    formatAuthor(author) === texts[index]?.replace(/,\s*/g, ', ') && !isNameList(author.name));
  return isAll ? whole(authors) : part(authors);
}

function readList(values: readonly JsonValue[]): RowValue | undefined {
  return values.length === 0 ? undefined : whole(values);
}

function formatAuthor(author: Author): string {
  const { given, droppingParticle, family, suffix } = splitAuthor(author);
  // RIS has no place for a particle but behind the given name.
  const before = [given, droppingParticle].filter((text) => text !== '').join(' ');
  if (suffix !== '') return `${family}, ${before}, ${suffix}`;
  return before === '' ? family : `${family}, ${before}`;
}

/** The date of the year's tags, as precise as one of them says it. */
function readDates(record: FieldRecord): RowValue | undefined {
  const dates = DATE_TAGS.flatMap((tag) => textsOf(record, tag)).map(readDate);
  const [first] = dates.filter((date) => date !== undefined);
  if (first === undefined) return undefined;
  let longest = String(first.value);
  for (const date of dates) {
    const text = String(date?.value ?? '');
    if (text.length > longest.length && text.startsWith(longest)) longest = text;
  }
  const isAll = dates.every((date) =>
    date?.isWhole === true && longest.startsWith(String(date.value)));
  return isAll ? whole(longest) : part(longest);
}

/** The year, and the whole date where it is known more precisely: `1969/03/05/`. */
function writeDate(date: string | undefined): ReturnType<typeof writeTexts> {
  const [year, month, day = ''] = date?.split('-') ?? [];
  if (month === undefined) return writeTexts('PY', [year]);
  return [...writeTexts('PY', [year]), ...writeTexts('DA', [`${year}/${month}/${day}/`])];
}

/** In a book the number of its pages; in what is a part of one, the page where it begins. */
function readPageCount(record: FieldRecord): RowValue | undefined {
  const [kind = ''] = textsOf(record, 'TY');
  if (!risTable.isBook(kind) || record.fields.has('EP')) return undefined;
  return readSingle(record, 'SP', (text) => {
    const count = parsePageCount(text);
    return count === null ? undefined : whole(count);
  });
}
