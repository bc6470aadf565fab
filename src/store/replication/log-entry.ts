/**
 * The entries of the log. Their lines are those of journal/journal-line.ts.
 *
 * The chain of an entry ties it to all entries before it: it is the SHA-256, in hex, of the chain
 * before it, the batch's id, and its lines. A fail-over may cut the log back, which then goes on
 * with other entries: a node that has applied the lost ones finds that the chain does not continue
 * its own.
 */
import { createHash, randomUUID } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { LogEntry, LogHead, LogPosition } from '../engines/engine.ts';
import { decodeTransaction, parseLine } from '../journal/journal-line.ts';
import type { DecodedCollections } from '../journal/journal-line.ts';
import type { JournalLineEncoder } from '../journal/journal-line-encoder.ts';
import type { LoggedTransaction, Operation } from '../store-port.ts';
import { FORMAT_HINT } from '../generations/damage-error.ts';

/** The format of lines and records in a log. */
export const LOG_FORMAT = 2;

const LINE_FEED = 0x0a;

/** The position before the first entry. */
export const LOG_START: LogPosition = { sequence: 0, chain: '' };

export function computeChain(before: string, batchId: string, lines: Buffer): string {
  return createHash('sha256').update(before + batchId, 'latin1').update(lines).digest('hex');
}

/** Returns why `entry` does not continue the log at `position`; null: it does. */
export function findBreak(position: LogPosition, entry: LogEntry): string | null {
  const { first, sequence, chain, batchId, lines } = entry;
  if (first !== position.sequence + 1 || sequence < first) {
    return `transactions ${first} to ${sequence} where ${position.sequence + 1} is due`;
  }
  if (chain === computeChain(position.chain, batchId, lines)) return null;
  return `transaction ${first} does not continue what was applied here`;
}

export function isSamePosition(left: LogPosition, right: LogPosition): boolean {
  return left.sequence === right.sequence && left.chain === right.chain;
}

/** Throws `misconfigured` for a log of another format. */
export function checkFormat({ format }: LogHead): void {
  if (format === LOG_FORMAT) return;
  throw new AppError('misconfigured', `the format of the log is ${format}, and this version reads `
    + `${LOG_FORMAT} alone: ${FORMAT_HINT}`);
}

/** Encodes transactions as a new batch that follows `position`. */
export function encodeEntry(
  encoder: JournalLineEncoder, { sequence, chain }: LogPosition,
  transactions: readonly (readonly Operation[])[],
): LogEntry {
  assert(transactions.length > 0, 'an entry of the log has transactions');
  encoder.clear();
  for (const [index, operations] of transactions.entries()) {
    encoder.addTransaction(sequence + index + 1, sequence, operations);
  }
  // A copy: the encoder uses its buffer again, and the entry may be sent again later.
  const lines = Buffer.from(encoder.bytes);
  const batchId = randomUUID();
  return {
    first: sequence + 1, sequence: sequence + transactions.length,
    chain: computeChain(chain, batchId, lines), batchId, lines,
  };
}

/**
 * Decodes the transactions of entries; the checksum of each line is verified. Throws `damaged` for
 * lines that this version cannot read.
 */
export function decodeEntries(
  entries: readonly LogEntry[], collections: DecodedCollections,
): LoggedTransaction[] {
  const transactions: LoggedTransaction[] = [];
  for (const { lines, first, sequence: last } of entries) {
    let dueSequence = first;
    try {
      for (let start = 0; start < lines.length; dueSequence += 1) {
        const end = lines.indexOf(LINE_FEED, start);
        const line = parseLine(lines, start, end);
        assert(line !== null && line.kind === 'ops' && line.sequence === dueSequence);
        transactions.push(decodeTransaction(lines, line, end, collections));
        start = end + 1;
      }
      assert(dueSequence === last + 1);
    } catch (error) {
      throw createUnreadableError(dueSequence, error);
    }
  }
  return transactions;
}

function createUnreadableError(sequence: number, cause: unknown): AppError {
  return new AppError('damaged', `transaction ${sequence} of the log cannot be read: if a newer `
    + 'hookshelf wrote it, start that', {}, cause);
}
