/**
 * Books as rows of comma-separated values, or as a spreadsheet saves them, with semicolons or tabs
 * between them. The header row says what the columns hold (csv-columns.ts), of `reading` each
 * member by itself (`reading.status`). Text is written as it is (but for `guardText`), a number in
 * digits, and a nested value as JSON, except for authors of whom only the names are known:
 * `Terry Pratchett; Neil Gaiman`; also with ` & ` between full names. Keywords and shelves
 * may be given in the same way (`fantasy; satire`) or as JSON. An empty cell is an absent member, a
 * quoted empty one (`""`) an empty text. Reading the row of a book gives the same book.
 *
 * People and spreadsheets write cells in other ways too: `WAHR`, `03.11.2018`, `4,5`, `***`,
 * `finished`, `="9780441478125"`. A cell that the model refuses all the same, or takes in part,
 * `9.78E+12` or `c1999`, stands in `metadata` under the name of its member. A row with a title is
 * valid.
 */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonRecord } from '../../base/json/parse.ts';
import type { JsonValue, Schema } from '../../base/schema.ts';
import { fold } from '../../base/text/fold.ts';
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX, decodeBook } from '../book.ts';
import type { Author, Book } from '../book.ts';
import { MEMBER_SCHEMAS, METADATA_PREFIX, separateMembers } from '../book-members.ts';
import { findReadingStatus } from '../reading-status.ts';
import { CSV_COLUMNS, LEFT_OUT, readColumns } from './csv-columns.ts';
import type { FileColumns } from './csv-columns.ts';
import { encodeCsvRow } from './csv-rows.ts';
import type { CsvCell } from './csv-rows.ts';
import type { FormatCodec, ReaderOptions } from './format-codec.ts';
import { TableSplitter } from './grammars/delimited-text.ts';
import { importSchema } from './import-record.ts';
import { explainRefusal } from './mapping/accept-member.ts';
import { readBookFormat } from './mapping/book-format.ts';
import { readDate } from './mapping/date-text.ts';
import { LIST_LENGTH_MAX, TEXT_LENGTH_MAX, readPages, splitPieces } from './mapping/field-text.ts';
import type { TextReader } from './mapping/field-text.ts';
import { fitFields } from './mapping/fit-fields.ts';
import { whole } from './mapping/format-table.ts';
import type { RowValue } from './mapping/format-table.ts';
import { readIsbn } from './mapping/isbn-text.ts';
import { readLanguage } from './mapping/language.ts';
import { addMember } from './mapping/map-record.ts';
import { splitJoinedNames } from './mapping/person-name.ts';
import { NOTHING, readRating } from './mapping/reading-text.ts';
import { readSeriesNames } from './mapping/series-title.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

export const csvCodec: FormatCodec = {
  createReader: createCsvReader,
  createWriter: ({ isForSpreadsheet = false }) => ({
    leftOutCount: 0,
    // Without a byte order mark Excel takes UTF-8 for Windows-1252.
    begin: () => isForSpreadsheet ? `\ufeff${csvHeader}` : csvHeader,
    write: (books) =>
      books.map((book) => encodeCsvBook(decodeBook(book), isForSpreadsheet)).join(''),
    end: () => '',
  }),
};

export const csvHeader: string = encodeCsvRow(CSV_COLUMNS);

/** The row of a stored book; `isForSpreadsheet`: no spreadsheet takes a text for a formula. */
export function encodeCsvBook(book: Book, isForSpreadsheet = false): string {
  const members = separateMembers(book);
  return encodeCsvRow(CSV_COLUMNS.map((name) => {
    const value = members[name];
    if (name === 'authors') return encodeAuthors(book.authors, isForSpreadsheet);
    if (value === undefined) return null;
    // A spreadsheet rounds a number of 13 digits when it saves the file again.
    if (name === 'isbn' && isForSpreadsheet) return String(value).replace(/^.{3}/, '$&-');
    return typeof value === 'string' ? guardText(value, isForSpreadsheet) : encodeJson(value);
  }));
}

/** Makes books of rows. `columns`: the caller's word for what the columns hold. */
export function createCsvReader(
  { columns: columnMap = new Map() }: Pick<ReaderOptions, 'columns'> = {},
): RecordSplitter {
  let fileColumns: FileColumns | null = null;
  const table = new TableSplitter<SourceRecord>({
    title: 'the csv',
    missingHeader: ': name the columns there',
    // Spreadsheets may begin and end a table with rows that are only commas.
    isBlank: ({ text, isQuoted }) => text === '' && !isQuoted,
    readHeader(names) {
      const header = readColumns(names, columnMap);
      if ('contents' in header) fileColumns = header.columns;
      return 'contents' in header ? header.contents : header;
    },
    readRow,
  });
  return {
    push: (chunk) => table.push(chunk),
    end: () => table.end(),
    get columns() {
      return fileColumns;
    },
  };
}

/** A cell that the model refuses is put aside into `metadata`; that of the title is an error. */
function readRow(
  columns: readonly string[], cells: readonly CsvCell[], line: number,
): SourceRecord {
  const members: RowMembers = { body: {}, reading: {}, metadata: new Map() };
  const ownColumns: string[] = [];
  const putAside: string[] = [];
  for (const [index, cell] of cells.entries()) {
    const name = columns[index];
    const isSilent = cell.text === '' && !cell.isQuoted;
    if (name === undefined || name === LEFT_OUT || isSilent) continue;
    if (name.startsWith(METADATA_PREFIX)) {
      const ownName = name.slice(METADATA_PREFIX.length);
      putMetadata(members, ownName, unguardText(cell.text), index);
      ownColumns.push(ownName);
    } else if (!addCell(members, name, cell, index)) {
      putMetadata(members, name, unguardText(cell.text), index);
      putAside.push(name);
    }
  }
  const { body, reading } = members;
  if (Object.keys(reading).length > 0) body['reading'] = reading;
  const { kept, leftOut } = fitFields(members.metadata, [], METADATA_ROOM);
  if (kept.size > 0) body['metadata'] = Object.fromEntries(kept);
  return {
    line, key: null, body, leftOut,
    ...body['title'] === undefined ? { titleProblem: explainTitle(columns, cells) } : {},
    ...ownColumns.length === 0 ? {} : { ownColumns },
    ...putAside.length === 0 ? {} : { putAside },
  };
}

type RowMembers = {
  readonly body: Record<string, JsonValue>;
  readonly reading: Record<string, JsonValue>;
  readonly metadata: Map<string, JsonValue>;
};

// A comma less than members have.
const METADATA_ROOM = { bytesMax: METADATA_BYTES_MAX - 1, depthMax: METADATA_DEPTH_MAX - 1 };

/** Where the name is taken, the number of the column stands behind it. */
function putMetadata(
  { metadata }: RowMembers, ownName: string, value: JsonValue, index: number,
): void {
  let name = ownName;
  while (metadata.has(name)) name += ` (column ${index + 1})`;
  metadata.set(name, value);
}

function explainTitle(columns: readonly string[], cells: readonly CsvCell[]): string {
  const text = cells[columns.indexOf('title')]?.text ?? '';
  return (text === '' ? null : explainRefusal('title', text)) ?? 'is required';
}

/** Adds what the cell says of its member; returns whether that is all that it says. */
function addCell(members: RowMembers, name: string, cell: CsvCell, index: number): boolean {
  const { body, reading } = members;
  const read = readCell(name, cell);
  if (read === undefined) return false;
  const { value, isWhole } = read;
  if (value === null) return isWhole;
  if (name === 'metadata') {
    if (!isJsonObject(value)) return false;
    // An empty one is a value, too.
    body['metadata'] = {};
    for (const [member, inner] of Object.entries(value)) {
      putMetadata(members, member, inner, index);
    }
    return true;
  }
  if (!addMember(body, reading, name, value, importSchema)) return false;
  if ((importSchema.check?.(body, body) ?? []).length === 0) return isWhole;
  Reflect.deleteProperty(body, name);
  return false;
}

const INTEGER = /^[0-9]{1,6}$/;
/** The words for yes and no, and those that spreadsheets write for `TRUE` and `FALSE`. */
const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'wahr', 'ja', 'vrai', 'oui', 'verdadero', 'verdadeiro', 'si', 'sim', 'vero',
    'waar', 'x'].map((word) => [word, true] as const),
  ...['false', 'no', 'falsch', 'nein', 'faux', 'non', 'falso', 'onwaar', 'nee']
    .map((word) => [word, false] as const),
]);
/** A formula that keeps a spreadsheet from reading a number. */
const TEXT_FORMULA = /^="([^"]*)"$/;

const LANGUAGE = 'inLanguage';
// BCP 47 keeps such words for languages to come: here each is a name, or nothing.
const LANGUAGE_WORD = /^[a-z]{4,8}$/i;

/** The readers of members that people and spreadsheets write in several ways. */
const READERS: Readonly<Record<string, TextReader>> = {
  'isbn': (text) => readIsbn([text]), 'datePublished': readDate, [LANGUAGE]: readLanguage,
  'numberOfPages': readPages, 'bookFormat': readBookFormat,
  'reading.status'(text) {
    const status = findReadingStatus(text);
    return status === undefined ? undefined : whole(status);
  },
  'reading.rating': readRating,
  'reading.startedOn': readDate, 'reading.finishedOn': readDate,
  'reading.readCount': (text) => INTEGER.test(text) ? whole(Number(text)) : undefined,
  'reading.owned'(text) {
    const value = BOOLEAN_WORDS.get(fold(text));
    return value === undefined ? undefined : whole(value);
  },
  'series': readSeriesNames,
};

/** The value of a cell, which the model has not checked yet; undefined where it cannot be read. */
function readCell(name: string, cell: CsvCell): RowValue | undefined {
  const schema = MEMBER_SCHEMAS.get(name);
  if (isFreeText(schema)) return whole(unguardText(cell.text));
  const text = unguardText(cell.text).replace(TEXT_FORMULA, '$1').trim();
  if (text === '') return NOTHING;
  const isJson = /^[[{]/.test(text);
  if (isJson && (schema?.kind === 'array' || name === 'metadata')) return readJsonCell(text);
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  if (schema?.kind === 'array' && name !== 'series') return readListCell(name, text);
  const isLanguageWord = name === LANGUAGE && LANGUAGE_WORD.test(text);
  // An export of ours has such texts, also for languages that no reader knows.
  const isCanonical = schema?.kind === 'string' && schema.canonical?.(text) === text;
  const read = READERS[name];
  if ((isCanonical && !isLanguageWord) || read === undefined) return whole(text);
  return read(text) ?? (isLanguageWord ? undefined : whole(text));
}

/** Whether every text is taken as it stands, up to a length. */
function isFreeText(schema: Schema | undefined): boolean {
  return schema?.kind === 'string' && schema.canonical === undefined && schema.values === undefined
    && schema.format === undefined;
}

function readJsonCell(text: string): RowValue | undefined {
  try {
    const value = parseJsonRecord(Buffer.from(text));
    return isJsonObject(value) || Array.isArray(value) ? whole(value) : undefined;
  } catch (thrown) {
    if (thrown instanceof AppError) return undefined;
    throw thrown;
  }
}

/** The pieces between semicolons. */
function readListCell(name: string, text: string): RowValue {
  const items = splitPieces(text, ';').map((item) => item.trim()).filter((item) => item !== '');
  if (name !== 'authors') return whole(items);
  const names = items.slice(0, LIST_LENGTH_MAX).flatMap(splitJoinedNames);
  return whole(names.slice(0, LIST_LENGTH_MAX).map((author) => ({ name: author })));
}

/** Names alone where that loses nothing and cannot be taken for JSON. */
function encodeAuthors(authors: readonly Author[], isForSpreadsheet: boolean): string | null {
  if (authors.length === 0) return null;
  const isPlain = authors.every((author) => Object.keys(author).length === 1
    && author.name === author.name.trim() && !/;|^[[{]/.test(author.name)
    && splitJoinedNames(author.name).length === 1);
  if (!isPlain) return JSON.stringify(authors);
  return guardText(authors.map(({ name }) => name).join('; '), isForSpreadsheet);
}

/**
 * Spreadsheets run a cell of csv as a formula where it begins with one of a few characters. A `'`
 * before it makes it a text; the reader of csv takes that `'` off again. A text that begins with
 * `'` and such a character by itself gets another one, in every csv, so that no text is changed.
 */
const FORMULA = /^[=+\-@\t\r]/;
const GUARDED_TEXT = /^'+[=+\-@\t\r]/;

/** The text as a cell has it; with `isForSpreadsheet` no spreadsheet takes it for a formula. */
export function guardText(text: string, isForSpreadsheet: boolean): string {
  const needsGuard = GUARDED_TEXT.test(text) || (isForSpreadsheet && FORMULA.test(text));
  return needsGuard ? `'${text}` : text;
}

/** The text of a cell, as `guardText` was given it. */
export function unguardText(cell: string): string {
  return GUARDED_TEXT.test(cell) ? cell.slice(1) : cell;
}
