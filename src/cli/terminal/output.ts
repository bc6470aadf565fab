/**
 * Prints the results of a command: one JSON value with --json, else text for people with control
 * characters escaped. Notes and progress go to stderr. A reader that goes away (EPIPE) ends the
 * printing, not the command.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { escapeControls, escapeLines, escapeText } from '../../base/text/printable.ts';
import { createPaint } from './colour.ts';
import type { Paint } from './colour.ts';
import type { Io } from './process-io.ts';
import { Progress } from './progress.ts';
import { Table } from './text-table.ts';
import type { Column } from './text-table.ts';
import { padToWidth, textWidth } from './text-width.ts';

const COLUMNS_DEFAULT = 80;

export class Output {
  readonly isJson: boolean;
  /** For text on standard output. */
  readonly paint: Paint;
  readonly #io: Io;
  #isClosed = false;
  #failure: Error | null = null;

  constructor(io: Io, isJson: boolean) {
    this.#io = io;
    this.isJson = isJson;
    this.paint = createPaint(io.stdout, io);
    io.stdout.on('error', (error: Error) => {
      this.#isClosed = true;
      if (systemCodeOf(error) !== 'EPIPE') this.#failure ??= error;
    });
    // Without a listener a closed stderr would end the process; notes are no result.
    io.stderr.on('error', () => {});
  }

  /** Whether the reader has gone away: a long list can stop. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Prints untrusted text as it is; on a terminal escaped, as it could take the terminal over. */
  async text(text: string): Promise<void> {
    await this.write(this.#io.stdout.isTTY === true ? escapeText(text) : text);
  }

  /** The terminal's width; null where the output is no terminal. */
  get columns(): number | null {
    const { isTTY, columns = COLUMNS_DEFAULT } = this.#io.stdout;
    return isTTY === true ? columns : null;
  }

  /** Writes a chunk as it is; resolves when there is room for more. */
  async write(chunk: string | Buffer): Promise<void> {
    const { stdout } = this.#io;
    if (this.#isClosed || stdout.write(chunk)) return;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        for (const event of ['drain', 'close', 'error']) stdout.removeListener(event, goOn);
        resolve();
      };
      for (const event of ['drain', 'close', 'error']) stdout.on(event, goOn);
    });
  }

  /** Throws when output could not be written, as on a full disk. */
  async finish(): Promise<void> {
    // The error of a write to a file is emitted one turn of the event loop later.
    await nextTurn();
    if (this.#failure === null) return;
    const message = `cannot write to standard output: ${messageOf(this.#failure)}`;
    throw new AppError('conflict', message, {}, this.#failure);
  }

  async json(value: unknown): Promise<void> {
    await this.write(`${formatPrintableJson(value, 2)}\n`);
  }

  /** Prints one line of text, escaped. */
  async line(text: string): Promise<void> {
    await this.write(`${escapeControls(text)}\n`);
  }

  /** Prints `value` with --json, else the lines. */
  async result(value: unknown, ...lines: readonly string[]): Promise<void> {
    if (this.isJson) return this.json(value);
    for (const text of lines) await this.line(text);
  }

  /** Prints a line for people on stderr. */
  note(text: string): void {
    this.#io.stderr.write(`hookshelf: ${escapeControls(text)}\n`);
  }

  table<Row>(columns: readonly Column<Row>[]): Table<Row> {
    return new Table(columns, this.columns, this.paint);
  }

  /** Prints a whole list: an array with --json, else a table, or `empty` when there are no rows. */
  async list<Row>(
    rows: readonly Row[], columns: readonly Column<Row>[], empty: string,
  ): Promise<void> {
    if (this.isJson) await this.json(rows);
    else if (rows.length === 0) await this.line(empty);
    else await this.write(`${this.table(columns).formatRows(rows).join('\n')}\n`);
  }

  /**
   * Prints one object: as it is with --json, else a member on a line, nested ones by their path.
   * The further lines of a text begin below its first, so that none looks like a member.
   */
  async object(value: unknown): Promise<void> {
    if (this.isJson) return this.json(value);
    const members = flattenMembers(value, '');
    const width = Math.max(0, ...members.map(([name]) => textWidth(name)));
    const lineStart = `\n${' '.repeat(width + 2)}`;
    for (const [name, text] of members) {
      const lines = escapeText(text.trimEnd()).replaceAll(/\r?\n/g, lineStart);
      await this.write(`${escapeControls(padToWidth(name, width))}  ${lines}\n`);
    }
  }

  progress(noun: string, total: number | null): Progress {
    return new Progress(this.#io.stderr, this.#io.now, noun, total);
  }
}

/** JSON in which the control characters are escaped that JSON.stringify leaves, for terminals. */
export function formatPrintableJson(value: unknown, indent = 0): string {
  return escapeLines(encodeJson(value, indent));
}

function flattenMembers(value: unknown, path: string): (readonly [string, string])[] {
  if (Array.isArray(value) && value.length > 0 && !value.some(isNested)) {
    return [[path, value.map(formatValue).join(', ')]];
  }
  if (!isNested(value)) return [[path, formatValue(value)]];
  return Object.entries(value).flatMap(([name, member]) => {
    const step = Array.isArray(value) ? `[${name}]` : name;
    const isAppended = path === '' || step.startsWith('[');
    return flattenMembers(member, isAppended ? path + step : `${path}.${step}`);
  });
}

function isNested(value: unknown): value is object {
  return (Array.isArray(value) || isJsonObject(value)) && Object.keys(value).length > 0;
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '-';
  return Array.isArray(value) && value.length === 0 ? '-' : encodeJson(value);
}
