/**
 * Delimited text as a stream of rows, each with the line on which it begins: comma-separated values
 * (RFC 4180), and what is like them but for its separator, a semicolon or a tab, which is found
 * from the first row with text unless it is known. A first row with text such as `sep=;` says the
 * separator of those behind it, as spreadsheets take it. Quoted cells may contain separators,
 * doubled quotes and line feeds; rows end in LF or CRLF, or all in CR where the first one does, as
 * old spreadsheets for the Macintosh write them; blank lines are skipped. Beyond the RFC, a cell
 * records whether it was quoted, to tell an empty text (`""`) from no text. Nothing is trimmed, and
 * no cell is treated as a formula. Where quotes are text between tabs, each line is a row.
 *
 * A row is valid when it is UTF-8 of at most 2 MiB, its quoted cells are closed, with a separator
 * or the row's end behind them, and it has no more cells than a header could name. Of a broken row
 * of several lines each line is a row that has, by itself, as many cells as the first row.
 */
import { isUtf8 } from 'node:buffer';
import { RecordBytes, TOO_LONG } from './record-splitter.ts';

const CSV_SEPARATORS = [',', ';', '\t'] as const;
type CsvSeparator = (typeof CSV_SEPARATORS)[number];

export type CsvCell = { readonly text: string; readonly isQuoted: boolean };

export type CsvRow = {
  readonly line: number;
  /** With a problem: those before it. */
  readonly cells: readonly CsvCell[];
  /** The mistake in the row, and where in it. */
  readonly problem?: string;
};

export type CsvSyntax = {
  /** Null: of the three that the first row with text has most of. */
  readonly separator: CsvSeparator | null;
  /** Whether quotes are text between tabs; else one at the start of a cell opens a quoted cell. */
  readonly hasPlainTabs: boolean;
};

const ANY_SEPARATOR: CsvSyntax = { separator: null, hasPlainTabs: false };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const TAB = 0x09;
/** No byte: the first row has not shown it yet. */
const NOT_FOUND = -1;
// As many columns as spreadsheets had for long. To say what 10,000 mean took 100 ms at once.
const CELLS_MAX = 1024;
// A row of 2 MiB could have 700,000 lines: they would take 5 s and 600 MB at once.
const LINES_MAX = 20_000;

type CsvState = 'cell-start' | 'plain' | 'quoted' | 'quote-in-quoted';

/** Finds where rows end. It works on bytes, so a chunk may end within a character. */
export class CsvRowSplitter {
  readonly #rowBytes = new RecordBytes();
  readonly #hasPlainTabs: boolean;
  #separator: CsvSeparator | null;
  /** How many cells the first row with text has; 0: none has come. */
  #columnCount = 0;
  #state: CsvState = 'cell-start';
  #line = 1;
  #rowLine = 1;
  #rowEnd: typeof LINE_FEED | typeof CARRIAGE_RETURN | typeof NOT_FOUND = NOT_FOUND;
  /** CRs within quotes that came while the row end was not known. */
  #quotedReturns = 0;
  /** Whether the last byte was a CR outside of quotes, and the row end is not known yet. */
  #isAfterReturn = false;

  constructor({ separator, hasPlainTabs }: CsvSyntax = ANY_SEPARATOR) {
    this.#separator = separator;
    this.#hasPlainTabs = hasPlainTabs;
  }

  push(chunk: Buffer): readonly CsvRow[] {
    const rows: CsvRow[] = [];
    let start = 0;
    let state = this.#state;
    let separatorCode = this.#separatorCode();
    let hasQuotes = this.#hasQuotes();
    const endRow = (end: number): void => {
      this.#rowBytes.add(chunk.subarray(start, end));
      this.#finish(rows);
      separatorCode = this.#separatorCode();
      hasQuotes = this.#hasQuotes();
      state = 'cell-start';
    };
    for (let offset = 0; offset < chunk.length; offset += 1) {
      const byte = chunk[offset] ?? 0;
      if (this.#rowEnd === NOT_FOUND && this.#findRowEnd(byte, state)) {
        endRow(offset);
        start = offset;
      }
      if (byte !== this.#rowEnd) {
        state = getNextState(state, byte, separatorCode, hasQuotes);
        continue;
      }
      this.#line += 1;
      if (state === 'quoted') continue;
      endRow(offset);
      start = offset + 1;
    }
    const rest = chunk.subarray(start);
    const isBroken = state === 'quoted' && this.#rowBytes.hasNoRoomFor(rest.length)
      && !this.#rowBytes.isTooLong;
    const openBytes = isBroken ? this.#breakRow(rest, rows) : null;
    if (openBytes !== null) return [...rows, ...this.push(openBytes)];
    if (!isBroken) this.#rowBytes.add(rest);
    this.#state = state;
    return rows;
  }

  /** Ends a row that grows too long where it has swallowed rows; returns its last line, or null. */
  #breakRow(rest: Buffer, rows: CsvRow[]): Buffer | null {
    const bytes = Buffer.concat([this.#rowBytes.take() ?? Buffer.alloc(0), rest]);
    const end = bytes.lastIndexOf(this.#rowEnd === CARRIAGE_RETURN ? CARRIAGE_RETURN : LINE_FEED);
    const whole = bytes.subarray(0, Math.max(end, 0));
    const wholeRows = isUtf8(whole) ? this.#splitRow(whole.toString(), this.#rowLine) : [];
    if (wholeRows.length < 2) {
      this.#rowBytes.add(bytes);
      return null;
    }
    for (const row of wholeRows) rows.push(row);
    this.#rowLine = this.#line;
    this.#state = 'cell-start';
    return Buffer.from(bytes.subarray(end + 1));
  }

  /** A row; of a broken one also the lines behind its first that are records by themselves. */
  #splitRow(text: string, line: number): readonly CsvRow[] {
    const separator = this.#separator ?? findSeparator(text);
    const syntax = { separator, hasQuotes: this.#hasQuotes() };
    const row = parseRow(line, text, syntax);
    const lineEnd = this.#rowEnd === CARRIAGE_RETURN ? '\r' : '\n';
    // With one column each line would be a record.
    if (row.problem === undefined || this.#columnCount < 2 || !text.includes(lineEnd)) return [row];
    const found: CsvRow[] = [row];
    let lostLine = 1;
    const lines = text.split(lineEnd, LINES_MAX + 1);
    if (lines.length > LINES_MAX) return [row];
    for (let index = 1; index <= lines.length; index += 1) {
      const one = lines[index]?.replace(/\r$/, '');
      const record = one === undefined ? null : parseRow(line + index, one, syntax);
      const isRecord = record?.problem === undefined && record?.cells.length === this.#columnCount;
      if (record !== null && !isRecord) continue;
      const isLost = lines.slice(lostLine, index).some((lost) => lost.trim() !== '');
      if (record === null && found.length === 1) break;
      if (isLost) nameLost(found, line + lostLine, line + index - 1);
      if (record !== null) found.push(record);
      lostLine = index + 1;
    }
    return found;
  }

  end(): readonly CsvRow[] {
    const rows: CsvRow[] = [];
    this.#finish(rows);
    return rows;
  }

  /**
   * The first LF is the row end, or the first CR outside of quotes, if no LF follows it. Returns
   * whether a row has ended with the byte before.
   */
  #findRowEnd(byte: number, state: CsvState): boolean {
    if (byte === LINE_FEED) {
      this.#rowEnd = LINE_FEED;
    } else if (this.#isAfterReturn) {
      this.#rowEnd = CARRIAGE_RETURN;
      this.#line += this.#quotedReturns + 1;
    } else if (byte === CARRIAGE_RETURN) {
      if (state === 'quoted') this.#quotedReturns += 1;
      else this.#isAfterReturn = true;
    }
    return this.#rowEnd === CARRIAGE_RETURN;
  }

  #hasQuotes(): boolean {
    return !this.#hasPlainTabs || this.#separator !== '\t';
  }

  #separatorCode(): number {
    return this.#separator?.charCodeAt(0) ?? NOT_FOUND;
  }

  #finish(rows: CsvRow[]): void {
    const line = this.#rowLine;
    this.#rowLine = this.#line;
    const isBlank = this.#rowBytes.isEmpty;
    const bytes = this.#rowBytes.take();
    if (bytes === null) {
      rows.push({ line, cells: [], problem: TOO_LONG });
    } else if (!isUtf8(bytes)) {
      rows.push({ line, cells: [], problem: 'not valid UTF-8' });
    } else if (!isBlank && !(bytes.length === 1 && bytes[0] === CARRIAGE_RETURN)) {
      const isCrLf = bytes[bytes.length - 1] === CARRIAGE_RETURN;
      this.#readRow(bytes.toString('utf8', 0, bytes.length - (isCrLf ? 1 : 0)), line, rows);
    }
  }

  #readRow(row: string, line: number, rows: CsvRow[]): void {
    const isFirst = this.#columnCount === 0 && NOT_BLANK.test(row);
    const statedSeparator = isFirst ? parseSeparatorLine(row) : null;
    // A row of blanks before the first is no header: it may have another row's separators.
    if (isFirst) this.#separator = statedSeparator ?? this.#separator ?? findSeparator(row);
    if (statedSeparator !== null) return;
    const newRows = this.#splitRow(row, line);
    if (isFirst) this.#columnCount = newRows[0]?.cells.length ?? 0;
    for (const one of newRows) rows.push(one);
  }
}

// A spreadsheet that saves the file again may put the line in quotes, or blank cells behind it.
const SEPARATOR_LINE = /^"?sep=([,;\t])"?\1*$/i;

/** The separator that a first line such as `sep=;` says; null for another line. */
function parseSeparatorLine(line: string): CsvSeparator | null {
  const sign = SEPARATOR_LINE.exec(line)?.[1];
  return CSV_SEPARATORS.find((separator) => separator === sign) ?? null;
}

/** Says of the last row, which is broken, or of a row of its own which lines are no records. */
function nameLost(rows: CsvRow[], firstLine: number, lastLine: number): void {
  const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
  const last = rows.at(-1);
  if (rows.length > 1 || last === undefined) {
    rows.push({ line: firstLine, cells: [], problem: `${lines}: no record` });
  } else {
    rows[0] = { ...last, problem: `${last.problem ?? ''}: ${lines} went with it` };
  }
}

function getNextState(
  state: CsvState, byte: number, separatorCode: number, hasQuotes: boolean,
): CsvState {
  if (state === 'quoted') return byte === QUOTE ? 'quote-in-quoted' : 'quoted';
  // A quote opens a quoted cell only at its start; later in a cell it is text.
  if (byte === QUOTE) return state === 'plain' || !hasQuotes ? 'plain' : 'quoted';
  const isSeparator = byte === separatorCode
    || (separatorCode === NOT_FOUND && isAnySeparator(byte));
  return isSeparator ? 'cell-start' : 'plain';
}

function isAnySeparator(byte: number): boolean {
  return byte === COMMA || byte === SEMICOLON || byte === TAB;
}

const NOT_BLANK = /[^\s",;]/;
// A quoted cell, of which a separator is no part; a quote that is not closed goes to the end.
const QUOTED_CELL = /"[^"]*("|$)/g;

/** The separator that a row has most of outside of quotes; a comma where it has none. */
function findSeparator(row: string): CsvSeparator {
  const text = row.replace(QUOTED_CELL, '');
  const counts = CSV_SEPARATORS.map((separator) => text.split(separator).length);
  return CSV_SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function parseRow(
  line: number, row: string,
  { separator, hasQuotes }: { readonly separator: CsvSeparator; readonly hasQuotes: boolean },
): CsvRow {
  const cells: CsvCell[] = [];
  let offset = 0;
  for (;;) {
    if (cells.length === CELLS_MAX) {
      return { line, cells, problem: `more than ${CELLS_MAX} cells` };
    }
    if (hasQuotes && row[offset] === '"') {
      const end = closingQuote(row, offset + 1);
      const next = row[end + 1];
      if (end === row.length) return { line, cells, problem: 'a quoted cell is not closed' };
      if (next !== undefined && next !== separator) {
        const problem = `cell ${cells.length + 1}: text follows its closing quote`;
        return { line, cells, problem };
      }
      cells.push({ text: decodeQuotes(row.slice(offset + 1, end)), isQuoted: true });
      offset = end + 1;
    } else {
      const next = row.indexOf(separator, offset);
      const end = next < 0 ? row.length : next;
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

/**
 * The text of a quoted cell, whose quotes stand twice. The engine's own replacement of a text would
 * hold 64 bytes for each quote: of a row of 2 MiB more than a small heap has.
 */
function decodeQuotes(text: string): string {
  if (!text.includes('"')) return text;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let offset = 0; offset < bytes.length; offset += 1) {
    const byte = bytes[offset] ?? 0;
    bytes[length] = byte;
    length += 1;
    if (byte === QUOTE) offset += 1;
  }
  return bytes.toString('utf8', 0, length);
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
