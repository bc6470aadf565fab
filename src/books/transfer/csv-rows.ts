/**
 * Comma-separated values (RFC 4180) as a stream of rows, each with the line on which it begins.
 * Quoted cells may contain commas, doubled quotes and line feeds; rows end in LF or CRLF; blank
 * lines are skipped. Beyond the RFC, a cell records whether it was quoted, to tell an empty text
 * (`""`) from no text. Nothing is trimmed, and no cell is treated as a formula.
 */
import { isUtf8 } from 'node:buffer';
import { RecordBytes, TOO_LONG } from './record-splitter.ts';

export type CsvCell = { readonly text: string; readonly isQuoted: boolean };

export type CsvRow =
  | { readonly line: number; readonly cells: readonly CsvCell[]; readonly problem?: never }
  | { readonly line: number; readonly cells?: never; readonly problem: string };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;

type CsvState = 'cell-start' | 'plain' | 'quoted' | 'quote-in-quoted';

/** Finds where rows end. It works on bytes, so a chunk may end within a character. */
export class CsvRowSplitter {
  readonly #rowBytes = new RecordBytes();
  #state: CsvState = 'cell-start';
  #line = 1;
  #rowLine = 1;

  push(chunk: Buffer): readonly CsvRow[] {
    const rows: CsvRow[] = [];
    let start = 0;
    let state = this.#state;
    for (let offset = start; offset < chunk.length; offset += 1) {
      const byte = chunk[offset] ?? 0;
      if (byte === LINE_FEED) {
        this.#line += 1;
        if (state === 'quoted') continue;
        this.#rowBytes.add(chunk.subarray(start, offset));
        this.#finish(rows);
        start = offset + 1;
        state = 'cell-start';
      } else if (state === 'quoted') {
        if (byte === QUOTE) state = 'quote-in-quoted';
      } else if (byte === QUOTE) {
        // A quote opens a quoted cell only at its start; later in a cell it is text.
        state = state === 'plain' ? 'plain' : 'quoted';
      } else {
        state = byte === COMMA ? 'cell-start' : 'plain';
      }
    }
    this.#rowBytes.add(chunk.subarray(start));
    this.#state = state;
    return rows;
  }

  end(): readonly CsvRow[] {
    const rows: CsvRow[] = [];
    if (this.#state === 'quoted') {
      rows.push({ line: this.#rowLine, problem: 'a quoted cell is not closed' });
    } else {
      this.#finish(rows);
    }
    return rows;
  }

  #finish(rows: CsvRow[]): void {
    const line = this.#rowLine;
    this.#rowLine = this.#line;
    const isBlank = this.#rowBytes.isEmpty;
    const bytes = this.#rowBytes.take();
    if (bytes === null) {
      rows.push({ line, problem: TOO_LONG });
    } else if (!isUtf8(bytes)) {
      rows.push({ line, problem: 'not valid UTF-8' });
    } else if (!isBlank && !(bytes.length === 1 && bytes[0] === CARRIAGE_RETURN)) {
      const isCrLf = bytes[bytes.length - 1] === CARRIAGE_RETURN;
      rows.push(parseRow(line, bytes.toString('utf8', 0, bytes.length - (isCrLf ? 1 : 0))));
    }
  }
}

function parseRow(line: number, row: string): CsvRow {
  const cells: CsvCell[] = [];
  let offset = 0;
  for (;;) {
    if (row[offset] === '"') {
      const end = closingQuote(row, offset + 1);
      const next = row[end + 1];
      if (next !== undefined && next !== ',') {
        return { line, problem: `cell ${cells.length + 1}: text follows its closing quote` };
      }
      const text = row.slice(offset + 1, end).replaceAll('""', '"');
      cells.push({ text, isQuoted: true });
      offset = end + 1;
    } else {
      const comma = row.indexOf(',', offset);
      const end = comma < 0 ? row.length : comma;
      cells.push({ text: row.slice(offset, end), isQuoted: false });
      offset = end;
    }
    if (offset >= row.length) return { line, cells };
    offset += 1;
  }
}

/** The offset of the quote that closes a cell whose text begins at `start`. */
function closingQuote(row: string, start: number): number {
  for (let offset = row.indexOf('"', start); offset >= 0; offset = row.indexOf('"', offset + 2)) {
    if (row[offset + 1] !== '"') return offset;
  }
  return row.length;
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** One row as text, ended by CRLF. A null cell is no text, as opposed to an empty one. */
export function encodeCsvRow(cells: readonly (string | null)[]): string {
  return `${cells.map(encodeCell).join(',')}\r\n`;
}

function encodeCell(text: string | null): string {
  if (text === null) return '';
  const isPlain = text !== '' && !NEEDS_QUOTES.test(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}
