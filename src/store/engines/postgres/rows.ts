/** Rows of the log's tables as what they stand for. The driver gives a bigint as text. */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../base/errors.ts';
import type { EngineSnapshot, LogEntry, LogHead, SnapshotPart } from '../engine.ts';
import type { Columns, Row } from './driver.ts';

/** In the order in which rows of bytes have them. */
export const HEAD_COLUMNS = ['log', 'format', 'sequence', 'chain', 'floor'] as const;
/** After its lines. */
export const ENTRY_COLUMNS = ['sequence', 'first', 'batch', 'chain'] as const;

const BASE64 = 'base64:';

/** Null when the log has not been made: an outer join gives a row of nulls. */
export function headOf(row: Row | undefined): LogHead | null {
  if (row === undefined || row.log === null) return null;
  return {
    log: textOf(row, 'log'), format: numberOf(row, 'format'), floor: numberOf(row, 'floor'),
    sequence: numberOf(row, 'sequence'), chain: textOf(row, 'chain'),
  };
}

/** The same of a row of bytes. */
export function lockedHeadOf(columns: Columns | undefined): LogHead | null {
  return columns === undefined ? null : headOf(rowOf(HEAD_COLUMNS, columns));
}

/** The lines are a view of what was received: nothing may keep them for long. */
export function entryOf(columns: Columns): LogEntry {
  const [lines] = columns;
  const row = rowOf(ENTRY_COLUMNS, columns.slice(1));
  if (!lines) throw new AppError('damaged', 'an entry of the log in PostgreSQL has no lines');
  return {
    sequence: numberOf(row, 'sequence'), first: numberOf(row, 'first'),
    batch: textOf(row, 'batch'), chain: textOf(row, 'chain'), lines,
  };
}

function rowOf(names: readonly string[], columns: Columns): Row {
  return Object.fromEntries(names.map((name, index) =>
    [name, columns[index]?.toString('latin1') ?? null]));
}

export function snapshotOf(row: Row): EngineSnapshot {
  return {
    sequence: numberOf(row, 'sequence'), chain: textOf(row, 'chain'),
    parts: numberOf(row, 'parts'),
  };
}

/** A part as its column keeps it. */
export function encodePart(bytes: Buffer): string {
  const isText = isUtf8(bytes) && !bytes.includes(0) && !bytes.subarray(0, BASE64.length)
    .equals(Buffer.from(BASE64));
  return isText ? bytes.toString() : `${BASE64}${bytes.toString('base64')}`;
}

export function partOf(row: Row): SnapshotPart {
  const text = textOf(row, 'lines');
  const bytes = text.startsWith(BASE64)
    ? Buffer.from(text.slice(BASE64.length), 'base64') : Buffer.from(text);
  return { sha256: textOf(row, 'sha256'), bytes };
}

export function textOf(row: Row, name: string): string {
  const value = row[name];
  if (typeof value === 'string') return value;
  throw new AppError('damaged', `the log in PostgreSQL holds no text in \`${name}\``);
}

export function numberOf(row: Row, name: string): number {
  const value = Number(row[name] ?? Number.NaN);
  if (Number.isSafeInteger(value)) return value;
  throw new AppError('damaged', `the log in PostgreSQL holds no number in \`${name}\``);
}
