/**
 * Finds the nodes that may still be working on a log, for a command that reads the log once. A node
 * that stops cleanly deletes its record and releases its leases; a node that was killed, frozen or
 * cut off leaves them behind.
 */
import { parseTimestamp } from '../base/clock.ts';
import { walkRecords } from '../store/find-record.ts';
import type { Collection } from '../store/store-port.ts';
import { MARGIN_MS } from './lease-table.ts';
import { LEASES, NODES, decodeLease, decodeNode } from './node-records.ts';

export type LeaseHolder = {
  readonly node: string;
  readonly address: string | null;
  /** Time of its last beat by its own clock; null when its record is gone. */
  readonly heardMs: number | null;
  /** How long after that beat it may still be working. */
  readonly validMs: number;
};

export function findLeaseHolders(
  collections: ReadonlyMap<string, Collection>,
): readonly LeaseHolder[] {
  const holders = new Map<string, LeaseHolder>();
  for (const bytes of listRecords(collections.get(NODES.name))) {
    const { identifier, address, at, lengthMs } = decodeNode(bytes);
    holders.set(identifier,
      { node: identifier, address, heardMs: parseTimestamp(at), validMs: lengthMs + MARGIN_MS });
  }
  for (const bytes of listRecords(collections.get(LEASES.name))) {
    const { node, lengthMs, released } = decodeLease(bytes);
    if (released) continue;
    const { address = null, heardMs = null, validMs = 0 } = holders.get(node) ?? {};
    holders.set(node,
      { node, address, heardMs, validMs: Math.max(validMs, lengthMs + MARGIN_MS) });
  }
  return [...holders.values()];
}

/**
 * Milliseconds until the leases of a node expire, if its clock is right and it sends no more beats;
 * 0 when they have expired, or when its clock is too far off to tell.
 */
export function remainingLeaseMs({ heardMs, validMs }: LeaseHolder, nowMs: number): number {
  if (heardMs === null) return 0;
  const ageMs = nowMs - heardMs;
  return Math.abs(ageMs) >= validMs ? 0 : validMs - Math.max(0, ageMs);
}

function listRecords(collection: Collection | undefined): readonly Buffer[] {
  return collection === undefined ? [] : [...walkRecords(collection)].map(({ bytes }) => bytes);
}
