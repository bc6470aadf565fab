/**
 * The chain of an entry ties it to all entries before it: it is the SHA-256, in hex, of the chain
 * before it, the batch's id, and its lines. A fail-over may cut the log back, which then goes on
 * with other entries: a node that has applied the lost ones finds that the chain does not continue
 * its own.
 */
import { createHash } from 'node:crypto';
import type { LogEntry, LogPosition } from '../engines/engine.ts';

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
