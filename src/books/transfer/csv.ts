/**
 * Books as rows of comma-separated values. The header row names the members. Text is written as it
 * is, a number in digits, and a nested value as JSON, except for authors of whom only the names are
 * known: `Terry Pratchett; Neil Gaiman`. An empty cell is an absent member, a quoted empty one
 * (`""`) an empty text. Reading what was written gives the same book.
 */
import { AppError } from '../../base/errors.ts';
import { nearest } from '../../base/text/nearest.ts';
import type { Schema } from '../../base/schema.ts';
import { bookSchema } from '../book.ts';
import type { Author, Book } from '../book.ts';
import { CsvRowSplitter, encodeCsvRow } from './csv-rows.ts';
import type { CsvCell, CsvRow } from './csv-rows.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

const CSV_COLUMNS: readonly string[] = Object.keys(bookSchema.members);

export const csvHeader: string = encodeCsvRow(CSV_COLUMNS);

/** The row of a stored book. */
export function encodeCsvBook(book: Book): string {
  const members: Readonly<Record<string, unknown>> = book;
  return encodeCsvRow(CSV_COLUMNS.map((name) => {
    const value = members[name];
    if (name === 'authors') return encodeAuthors(book.authors);
    if (value === undefined) return null;
    return typeof value === 'string' ? value : JSON.stringify(value);
  }));
}

/** Turns rows into JSON records. Throws `invalid` for an unusable header. */
export class CsvSplitter implements RecordSplitter {
  readonly #rows = new CsvRowSplitter();
  #columns: readonly string[] | null = null;

  push(chunk: Buffer): readonly SourceRecord[] {
    return this.#read(this.#rows.push(chunk));
  }

  end(): readonly SourceRecord[] {
    return this.#read(this.#rows.end());
  }

  #read(rows: readonly CsvRow[]): readonly SourceRecord[] {
    const records: SourceRecord[] = [];
    for (const row of rows) {
      if (this.#columns === null) this.#columns = parseHeader(row);
      else if (!isBlank(row)) records.push(toRecord(this.#columns, row));
    }
    return records;
  }
}

// Spreadsheets may end a table with rows that are only commas.
function isBlank({ cells }: CsvRow): boolean {
  return cells?.every(({ text, isQuoted }) => text === '' && !isQuoted) === true;
}

function parseHeader(row: CsvRow): readonly string[] {
  if (row.problem !== undefined) throw badHeader(row.line, row.problem);
  const columns = row.cells.map(({ text }) => {
    const given = text.trim();
    const name = CSV_COLUMNS.find((column) => column.toLowerCase() === given.toLowerCase());
    if (name !== undefined) return name;
    if (/[;\t]/.test(given)) throw badHeader(row.line, 'cells must be separated by commas');
    const near = given.length > 64 ? null : nearest(given, CSV_COLUMNS);
    const hint = near === null
      ? `known are ${CSV_COLUMNS.join(', ')}` : `did you mean \`${near}\`?`;
    throw badHeader(row.line, `unknown column ${JSON.stringify(given.slice(0, 80))}: ${hint}`);
  });
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw badHeader(row.line, `the column \`${twice}\` stands twice`);
  if (!columns.includes('title')) throw badHeader(row.line, 'there is no column `title`');
  return columns;
}

function badHeader(line: number, problem: string): AppError {
  return new AppError('invalid', `line ${line}, the header of the csv: ${problem}`);
}

function toRecord(columns: readonly string[], row: CsvRow): SourceRecord {
  const { line } = row;
  if (row.problem !== undefined) return { line, problem: row.problem };
  if (row.cells.length > columns.length) {
    const detail = `${row.cells.length} cells, but the header names ${columns.length}`;
    return { line, problem: detail };
  }
  const members: string[] = [];
  for (const [index, cell] of row.cells.entries()) {
    const name = columns[index] ?? '';
    if (cell.text === '' && !cell.isQuoted) continue;
    const json = toJson(name, cell);
    if (json === null) return { line, problem: `${name}: the cell is not valid JSON` };
    members.push(`"${name}":${json}`);
  }
  return { line, json: Buffer.from(`{${members.join(',')}}`) };
}

const DIGITS = /^-?(0|[1-9][0-9]{0,15})$/;

/** The value of a cell as JSON, or null when the cell should be JSON and is not valid. */
function toJson(name: string, { text }: CsvCell): string | null {
  const kind: Schema['kind'] | undefined = bookSchema.members[name]?.schema.kind;
  if (kind === 'string') return JSON.stringify(text);
  if (kind === 'integer') return DIGITS.test(text.trim()) ? text.trim() : JSON.stringify(text);
  const isJson = /^\s*[[{]/.test(text);
  if (!isJson && name === 'authors') return authorsOfNames(text);
  if (!isJson && name === 'keywords') return JSON.stringify(splitList(text));
  return oneLineOfJson(text);
}

function encodeAuthors(authors: readonly Author[]): string | null {
  if (authors.length === 0) return null;
  const isPlain = authors.every((author) => Object.keys(author).length === 1
    && author.name === author.name.trim() && !/;|^[[{]/.test(author.name));
  return isPlain ? authors.map(({ name }) => name).join('; ') : JSON.stringify(authors);
}

function authorsOfNames(text: string): string {
  return JSON.stringify(splitList(text).map((name) => ({ name })));
}

function splitList(text: string): string[] {
  return text.split(';').map((item) => item.trim()).filter((item) => item !== '');
}

// A valid JSON string contains no line feed, so only those between tokens are replaced.
function oneLineOfJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return text.replaceAll('\n', ' ');
}
