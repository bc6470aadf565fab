/** Decodes rows of the log's tables. The driver returns a bigint as text. */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../base/errors.ts';
import type { EngineSnapshot, LogEntry, LogHead, SnapshotPart } from '../engine.ts';
import type { Columns, Row } from './driver.ts';

/** The columns of the head, in the order of rows of bytes. */
export const HEAD_COLUMNS = ['log', 'format', 'sequence', 'chain', 'floor'] as const;
/** The columns of an entry, which follow its lines. */
export const ENTRY_COLUMNS = ['sequence', 'first', 'batch', 'chain'] as const;

const BASE64 = 'base64:';

/** Null when the log has not been made: an outer join gives a row of nulls. */
export function decodeHead(row: Row | undefined): LogHead | null {
  if (row === undefined || row.log === null) return null;
  return {
    log: readText(row, 'log'), format: readNumber(row, 'format'), floor: readNumber(row, 'floor'),
    sequence: readNumber(row, 'sequence'), chain: readText(row, 'chain'),
  };
}

/** Decodes a head from a row of bytes. */
export function decodeLockedHead(columns: Columns | undefined): LogHead | null {
  return columns === undefined ? null : decodeHead(createRow(HEAD_COLUMNS, columns));
}

/** Decodes an entry. Its lines are a view of the received bytes: nobody may keep them for long. */
export function decodeEntry(columns: Columns): LogEntry {
  const [lines] = columns;
  const row = createRow(ENTRY_COLUMNS, columns.slice(1));
  if (!lines) throw new AppError('damaged', 'an entry of the log in PostgreSQL has no lines');
  return {
    sequence: readNumber(row, 'sequence'), first: readNumber(row, 'first'),
    batchId: readText(row, 'batch'), chain: readText(row, 'chain'), lines,
  };
}

function createRow(names: readonly string[], columns: Columns): Row {
  return Object.fromEntries(names.map((name, index) =>
    [name, columns[index]?.toString('latin1') ?? null]));
}

export function decodeSnapshot(row: Row): EngineSnapshot {
  return {
    sequence: readNumber(row, 'sequence'), chain: readText(row, 'chain'),
    parts: readNumber(row, 'parts'),
  };
}

/** Encodes a part as the text of its column (statements.ts has the format). */
export function encodePart(bytes: Buffer): string {
  const isText = isUtf8(bytes) && !bytes.includes(0) && !bytes.subarray(0, BASE64.length)
    .equals(Buffer.from(BASE64));
  return isText ? bytes.toString() : `${BASE64}${bytes.toString('base64')}`;
}

export function decodePart(row: Row): SnapshotPart {
  const text = readText(row, 'lines');
  const bytes = text.startsWith(BASE64)
    ? Buffer.from(text.slice(BASE64.length), 'base64') : Buffer.from(text);
  return { sha256: readText(row, 'sha256'), bytes };
}

export function readText(row: Row, name: string): string {
  const value = row[name];
  if (typeof value === 'string') return value;
  throw new AppError('damaged', `the log in PostgreSQL holds no text in \`${name}\``);
}

export function readNumber(row: Row, name: string): number {
  const value = Number(row[name] ?? Number.NaN);
  if (Number.isSafeInteger(value)) return value;
  throw new AppError('damaged', `the log in PostgreSQL holds no number in \`${name}\``);
}
