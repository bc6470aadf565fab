/**
 * The nodes that may still be at work on a log, for somebody who reads it without having followed
 * it. A node that stops cleanly deletes its record and releases its leases; of one that was killed,
 * frozen or cut off they are left.
 */
import { parseTimestamp } from '../base/clock.ts';
import type { Collection } from '../store/store-port.ts';
import { MARGIN_MS } from './lease-table.ts';
import { LEASES, NODES, decodeLease, decodeNode } from './records.ts';

export type LeaseHolder = {
  readonly node: string;
  readonly address: string | null;
  /** When it last wrote that it is there, by its own clock; null: the log no longer tells. */
  readonly heardMs: number | null;
  /** How long after that it may be at work. */
  readonly validMs: number;
};

export function findLeaseHolders(
  collections: ReadonlyMap<string, Collection>,
): readonly LeaseHolder[] {
  const holders = new Map<string, LeaseHolder>();
  for (const bytes of recordsIn(collections.get(NODES.name))) {
    const { identifier, address, at, lengthMs } = decodeNode(bytes);
    holders.set(identifier,
      { node: identifier, address, heardMs: parseTimestamp(at), validMs: lengthMs + MARGIN_MS });
  }
  for (const bytes of recordsIn(collections.get(LEASES.name))) {
    const { node, lengthMs, released } = decodeLease(bytes);
    if (released) continue;
    const { address = null, heardMs = null, validMs = 0 } = holders.get(node) ?? {};
    holders.set(node,
      { node, address, heardMs, validMs: Math.max(validMs, lengthMs + MARGIN_MS) });
  }
  return [...holders.values()];
}

/**
 * Milliseconds until the leases of a node have run out, if its clock is right and it gives no sign;
 * 0: they have, or its clock is so far off that it tells nothing.
 */
export function remainingLeaseMs({ heardMs, validMs }: LeaseHolder, nowMs: number): number {
  if (heardMs === null) return 0;
  const ageMs = nowMs - heardMs;
  return Math.abs(ageMs) >= validMs ? 0 : validMs - Math.max(0, ageMs);
}

function* recordsIn(collection: Collection | undefined): Generator<Buffer> {
  const walk = collection?.walk();
  for (let slot = walk?.next() ?? -1; slot >= 0; slot = walk?.next() ?? -1) {
    const bytes = collection?.bytesAt(slot);
    if (bytes !== undefined) yield bytes;
  }
}
