/**
 * Books as rows of comma-separated values, or as a spreadsheet saves them, with semicolons or tabs
 * between them. The header row names the members, those of `reading` one by one
 * (`reading.status`). Text is written as it is (but for `guardText`), a number in digits, and a
 * nested value as JSON, except for authors of whom only the names are known:
 * `Terry Pratchett; Neil Gaiman`. Keywords and shelves may be given in the same way
 * (`fantasy; satire`) or as JSON. An empty cell is an absent member, a quoted empty one (`""`) an
 * empty text. Reading the row of a book gives the same book.
 *
 * A spreadsheet that has saved the file may have made other cells of these: `TRUE`, `03.11.2018`
 * (date-text.ts), `="9780441478125"`, and an ISBN that is rounded for good, `9.78E+12`, which is
 * put into `metadata`. So is a date whose day and month are in doubt, `3/11/2018`: the member has
 * the year.
 *
 * A column of another name is a person's own: its texts are members of `metadata`. A name that may
 * be meant for one of ours refuses the file, as do columns without `title`.
 */
import type { FieldError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonRecord } from '../../base/json/parse.ts';
import { findNearest } from '../../base/text/nearest.ts';
import { decodeBook } from '../book.ts';
import type { Author, Book } from '../book.ts';
import {
  MEMBER_SCHEMAS, METADATA_PREFIX, READING_PREFIX, separateMembers,
} from '../book-members.ts';
import { parsePartialDate } from '../partial-date.ts';
import { encodeCsvRow } from './csv-rows.ts';
import type { CsvCell } from './csv-rows.ts';
import type { FormatCodec } from './format-codec.ts';
import { TableSplitter } from './grammars/delimited-text.ts';
import { readDate } from './mapping/date-text.ts';
import { isRounded } from './mapping/isbn-text.ts';
import type { SourceRecord } from './record-splitter.ts';

const CSV_COLUMNS: readonly string[] = [...MEMBER_SCHEMAS.keys()];

/** The names that people give our columns in tables of their own. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'author': 'authors', 'year': 'datePublished', 'published': 'datePublished',
  'publication date': 'datePublished', 'publication year': 'datePublished',
  'pages': 'numberOfPages', 'page count': 'numberOfPages', 'language': 'inLanguage',
  'tags': 'keywords', 'genre': 'keywords', 'genres': 'keywords', 'edition': 'bookEdition',
  'format': 'bookFormat', 'binding': 'bookFormat', 'cover': 'image', 'status': 'reading.status',
  'rating': 'reading.rating', 'my rating': 'reading.rating', 'stars': 'reading.rating',
  'date started': 'reading.startedOn', 'date read': 'reading.finishedOn',
  'date finished': 'reading.finishedOn', 'read count': 'reading.readCount',
  'shelf': 'reading.shelves', 'shelves': 'reading.shelves', 'bookshelves': 'reading.shelves',
  'review': 'reading.review', 'my review': 'reading.review', 'owned': 'reading.owned',
};
const UNKNOWN_SHOWN_MAX = 20;
const NAME_SHOWN_MAX = 80;
const NAME_COMPARED_MAX = 64;

/** How a cell is written that holds a list. */
const LIST_SYNTAX: Readonly<Record<string, string>> = {
  authors: 'write names with semicolons between them, Terry Pratchett; Neil Gaiman, or JSON, '
    + '[{"name":"Terry Pratchett","birthDate":"1948"}]',
  keywords: 'write words with semicolons between them, fantasy; satire, or JSON, '
    + '["fantasy","satire"]',
  series: 'write an array, [{"name":"Discworld","position":1}]',
  'reading.shelves': 'write names with semicolons between them, own; lent, or JSON, '
    + '["own","lent"]',
  mergedIds: 'write ids with semicolons between them, or JSON, ["goodreads:2767052"]',
};
/** More than the model takes of any list, and little to hold. */
const LIST_PIECES_MAX = 10_000;
const JSON_SYNTAX = 'write an object, {"shelf":"A1"}';

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
    return typeof value === 'string' ? guardText(value, isForSpreadsheet) : encodeJson(value);
  }));
}

/** Turns rows into JSON records. */
export function createCsvReader(): TableSplitter<SourceRecord> {
  return new TableSplitter({
    title: 'the csv',
    missingHeader: ': name the columns there',
    // Spreadsheets may begin and end a table with rows that are only commas.
    isBlank: ({ text, isQuoted }) => text === '' && !isQuoted,
    readHeader, readRow,
  });
}

/** The members that the columns hold, or everything that is wrong with them. */
function readHeader(names: readonly string[]): readonly string[] | string {
  const columns = names.map((name, index) => findColumn(name) ?? (name || `column ${index + 1}`));
  const unknownColumns = columns.filter((name) =>
    !CSV_COLUMNS.includes(name) && !name.startsWith(METADATA_PREFIX));
  if (columns.length === 1 && unknownColumns.some((name) => /[|:^]/.test(name))) {
    return 'cells must be separated by commas, semicolons or tabs';
  }
  const repeatedColumns = new Set(
    columns.filter((name, index) => columns.indexOf(name) !== index));
  const problems = [...repeatedColumns].map((name) => `the column \`${name}\` stands twice`);
  if (!columns.includes('title')) problems.push('there is no column `title`');
  const meantName = unknownColumns.find((name) => findMeantColumn(name) !== null);
  if (problems.length > 0) return [...describeUnknown(unknownColumns), ...problems].join('; ');
  if (meantName !== undefined) {
    return [...describeUnknown(unknownColumns),
      `a column of your own is kept as \`${METADATA_PREFIX}${meantName}\``].join('; ');
  }
  return columns.map((name) => unknownColumns.includes(name) ? METADATA_PREFIX + name : name);
}

function findColumn(name: string): string | undefined {
  return CSV_COLUMNS.find((column) => column.toLowerCase() === name.toLowerCase());
}

/** Our column for which an unknown name may be meant, or null. */
function findMeantColumn(name: string): string | null {
  if (name.length > NAME_COMPARED_MAX) return null;
  const lower = name.toLowerCase();
  return Object.hasOwn(OTHER_NAMES, lower)
    ? OTHER_NAMES[lower] ?? null : findNearest(name, CSV_COLUMNS);
}

/** A problem for each name that is like a column's, and one for all others together. */
function describeUnknown(names: readonly string[]): readonly string[] {
  const firstNames = names.slice(0, UNKNOWN_SHOWN_MAX);
  const problems: string[] = [];
  const strangeNames: string[] = [];
  for (const name of firstNames) {
    const column = findMeantColumn(name);
    const quotedName = JSON.stringify(name.slice(0, NAME_SHOWN_MAX));
    if (column === null) strangeNames.push(quotedName);
    else problems.push(`unknown column ${quotedName} (did you mean \`${column}\`?)`);
  }
  const more = names.length - firstNames.length;
  if (more > 0) problems.push(`${more} more are unknown`);
  if (strangeNames.length === 0) return problems;
  const noun = strangeNames.length === 1 ? 'column' : 'columns';
  return [...problems,
    `unknown ${noun} ${strangeNames.join(', ')}: known are ${CSV_COLUMNS.join(', ')}`];
}

function readRow(
  columns: readonly string[], cells: readonly CsvCell[], line: number,
): SourceRecord {
  const members: string[] = [];
  const readingMembers: string[] = [];
  const metadataMembers: string[] = [];
  const ownColumns: string[] = [];
  const putAside: string[] = [];
  const errors: FieldError[] = [];
  for (const [index, cell] of cells.entries()) {
    const name = columns[index];
    if (name === undefined || (cell.text === '' && !cell.isQuoted)) continue;
    if (name.startsWith(METADATA_PREFIX)) {
      const ownName = name.slice(METADATA_PREFIX.length);
      metadataMembers.push(`${JSON.stringify(ownName)}:${JSON.stringify(unguardText(cell.text))}`);
      ownColumns.push(ownName);
      continue;
    }
    const value = toJson(name, cell);
    if (value.isDoubtful === true) {
      metadataMembers.push(`${JSON.stringify(name)}:${JSON.stringify(cell.text)}`);
      putAside.push(name);
    }
    if (value.problem !== undefined) {
      errors.push({ pointer: `/${name.replace('.', '/')}`, detail: value.problem });
    } else if (value.json === null) {
      continue;
    } else if (name === 'metadata' && /^\{.+\}$/s.test(value.json)) {
      metadataMembers.push(value.json.slice(1, -1));
    } else if (name.startsWith(READING_PREFIX)) {
      readingMembers.push(`"${name.slice(READING_PREFIX.length)}":${value.json}`);
    } else {
      members.push(`"${name}":${value.json}`);
    }
  }
  if (readingMembers.length > 0) members.push(`"reading":{${readingMembers.join(',')}}`);
  if (metadataMembers.length > 0) members.push(`"metadata":{${metadataMembers.join(',')}}`);
  const json = Buffer.from(`{${members.join(',')}}`);
  return {
    line, json, ...errors.length === 0 ? {} : { errors },
    ...ownColumns.length === 0 ? {} : { ownColumns },
    ...putAside.length === 0 ? {} : { putAside },
  };
}

const INTEGER = /^-?(0|[1-9][0-9]{0,15})$/;
const DECIMAL = /^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?$/;
/** A number as spreadsheets write it in most of Europe. */
const DECIMAL_COMMA = /^(\s*[0-9]+),([0-9]+\s*)$/;
const BOOLEAN = /^(true|false)$/;
/** The words that spreadsheets in other languages write for `true` and `false`. */
const BOOLEAN_WORDS: Readonly<Record<string, string>> = {
  wahr: 'true', vrai: 'true', verdadero: 'true', verdadeiro: 'true', vero: 'true', waar: 'true',
  falsch: 'false', faux: 'false', falso: 'false', onwaar: 'false',
};
/** A formula that keeps a spreadsheet from reading a number. */
const TEXT_FORMULA = /^="([^"]*)"$/;

type CellValue =
  | {
    /** Null where the cell says nothing of the member. */
    readonly json: string | null; readonly problem?: never;
    /** Whether the cell may say more: it is kept, and a person is told; absent: not. */
    readonly isDoubtful?: true;
  }
  | { readonly json?: never; readonly isDoubtful?: never; readonly problem: string };

/** The value of a cell as JSON, or why it cannot be read. */
function toJson(name: string, cell: CsvCell): CellValue {
  if (name === 'isbn' && isRounded(cell.text)) return { json: null, isDoubtful: true };
  const schema = MEMBER_SCHEMAS.get(name);
  const kind = schema?.kind;
  if (kind === 'string' && schema?.canonical === undefined) {
    return { json: JSON.stringify(unguardText(cell.text)) };
  }
  const text = unguardText(cell.text).replace(TEXT_FORMULA, '$1');
  if (text === '' && cell.text !== '') return { json: null };
  if (kind === 'string') {
    return schema?.canonical === parsePartialDate
      ? readDateCell(text) : { json: JSON.stringify(text) };
  }
  if (kind === 'integer') return readPlainCell(text, INTEGER);
  if (kind === 'number') return readPlainCell(text.replace(DECIMAL_COMMA, '$1.$2'), DECIMAL);
  if (kind === 'boolean') {
    const word = text.trim().toLowerCase();
    const value = BOOLEAN_WORDS[word] ?? word;
    return readPlainCell(BOOLEAN.test(value) ? value : text, BOOLEAN);
  }
  const isListOfTexts = schema?.kind === 'array' && schema.items.kind === 'string';
  const hasPieces = name === 'authors' || isListOfTexts;
  if (!hasPieces || /^\s*[[{]/.test(text)) return readJsonCell(name, text);
  const items = splitList(text);
  if (items === null) return { problem: `the cell has more than ${LIST_PIECES_MAX} pieces` };
  const value = name === 'authors' ? items.map((author) => ({ name: author })) : items;
  return { json: JSON.stringify(value) };
}

/**
 * The date of a text that says a day for sure, or the year of one that may be two days; else the
 * text, which the model may refuse.
 */
function readDateCell(text: string): CellValue {
  const date = readDate(text);
  if (date?.isDoubtful === true) return { json: JSON.stringify(date.value), isDoubtful: true };
  return { json: JSON.stringify(date?.isWhole === true ? date.value : text) };
}

/** A cell that does not fit the pattern becomes a text, which the model refuses. */
function readPlainCell(text: string, pattern: RegExp): CellValue {
  return { json: pattern.test(text.trim()) ? text.trim() : JSON.stringify(text) };
}

function readJsonCell(name: string, text: string): CellValue {
  const listSyntax = LIST_SYNTAX[name];
  try {
    const value = parseJsonRecord(Buffer.from(text));
    if (listSyntax !== undefined && !Array.isArray(value)) {
      return { problem: `the cell is not a JSON array: ${listSyntax}` };
    }
    return { json: encodeJson(value) };
  } catch {
    return { problem: `the cell is not valid JSON: ${listSyntax ?? JSON_SYNTAX}` };
  }
}

/** Names alone where that loses nothing and cannot be taken for JSON. */
function encodeAuthors(authors: readonly Author[], isForSpreadsheet: boolean): string | null {
  if (authors.length === 0) return null;
  const isPlain = authors.every((author) => Object.keys(author).length === 1
    && author.name === author.name.trim() && !/;|^[[{]/.test(author.name));
  if (!isPlain) return JSON.stringify(authors);
  return guardText(authors.map(({ name }) => name).join('; '), isForSpreadsheet);
}

/** The pieces between semicolons; null where there are too many. */
function splitList(text: string): readonly string[] | null {
  const pieces = text.split(';', LIST_PIECES_MAX + 1);
  if (pieces.length > LIST_PIECES_MAX) return null;
  return pieces.map((item) => item.trim()).filter((item) => item !== '');
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
