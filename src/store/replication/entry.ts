/** An entry of the log and the operations of its transactions: see journal/line.ts. */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { LogEntry, LogHead, LogPosition } from '../engines/engine.ts';
import { parseLine, visitOperations } from '../journal/line.ts';
import type { LineEncoder } from '../journal/line-encoder.ts';
import type { Operation } from '../journal/port.ts';
import type { LoggedChange, LoggedTransaction } from '../port.ts';
import { chainOf } from './chain.ts';

/** Of lines and records: the newest that this version knows, and the one of a log that it makes. */
export const LOG_FORMAT = 1;

const LINE_FEED = 0x0a;

/** Throws `misconfigured` for a log that only a newer version can read. */
export function checkFormat({ format }: LogHead): void {
  if (format <= LOG_FORMAT) return;
  throw new AppError('misconfigured', `the log has format ${format}, which this version does not `
    + 'know: start the newer hookshelf that made it');
}

/** What follows `position` with these transactions, as a new batch. */
export function encodeEntry(
  encoder: LineEncoder, { sequence, chain }: LogPosition,
  transactions: readonly (readonly Operation[])[],
): LogEntry {
  encoder.clear();
  for (const [index, operations] of transactions.entries()) {
    encoder.addTransaction(sequence + index + 1, sequence, operations);
  }
  // The encoder's buffer is used again, and this may be sent again later.
  const lines = Buffer.from(encoder.bytes);
  const batch = randomUUID();
  return {
    first: sequence + 1, sequence: sequence + transactions.length,
    chain: chainOf(chain, batch, lines), batch, lines,
  };
}

/** Throws `damaged` for what this version cannot read. */
export function decodeEntry(entry: LogEntry): LoggedTransaction[] {
  const { lines, first, sequence } = entry;
  const transactions: LoggedTransaction[] = [];
  let start = 0;
  for (let due = first; due <= sequence; due += 1) {
    const end = lines.indexOf(LINE_FEED, start);
    const line = end < 0 ? null : parseLine(lines, start, end);
    if (line === null || line.kind !== 'ops' || line.sequence !== due) throw unreadable(due);
    const changes = decodeChanges(lines, line.operationsAt, end, due);
    transactions.push({ sequence: due, changes });
    start = end + 1;
  }
  if (start !== lines.length) throw unreadable(sequence);
  return transactions;
}

function decodeChanges(
  lines: Buffer, operationsAt: number, end: number, sequence: number,
): LoggedChange[] {
  const changes: LoggedChange[] = [];
  try {
    visitOperations(lines, operationsAt, end, {
      put: (collection, from, to) =>
        void changes.push({ collection, id: null, after: lines.subarray(from, to) }),
      delete: (collection, id) => void changes.push({ collection, id, after: null }),
    });
  } catch (error) {
    throw unreadable(sequence, error);
  }
  return changes;
}

function unreadable(sequence: number, cause?: unknown): AppError {
  return new AppError('damaged', `transaction ${sequence} of the log cannot be read: if a newer `
    + 'hookshelf wrote it, start that', {}, cause);
}
