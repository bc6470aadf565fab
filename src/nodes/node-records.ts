/**
 * The records that nodes which share a log write there about themselves, in two collections.
 *
 * `nodes`, one record a node, written anew every five seconds (a beat):
 *
 *     {"identifier":"<the node's uuid>","run":"<uuid>","beat":<n>,"lengthMs":<n>,"version":"…",
 *      "address":"…" or null,"position":<n>,"lag":<n>,"startedAt":"<time>","at":"<time>"
 *      [,"padding":"…"]}
 *
 * A run is the life of one process; its beats count from 1. `position` is the last sequence that it
 * had applied, `lag` by how many transactions that was behind the log. Times are by that node's own
 * clock and for people only. While the node's writes are refused the beat is as large as `padding`
 * makes it: one that is taken shows that there is room. A node that stops cleanly deletes its
 * record.
 *
 * `leases`, one record for each of the 16 shards of hooks that has ever had an owner:
 *
 *     {"identifier":"shard-<0…15>","node":"<uuid>","run":"<uuid>","term":<n>,"lengthMs":<n>,
 *      "released":<boolean>}
 *
 * A term begins with a claim: that is one more than the term before it. The lease is valid for
 * `lengthMs` after each beat of its run; the record itself changes only when the lease is claimed
 * or released. A record that does not hold to this is a bug: reading it throws.
 */
import { decodeRecordAs } from '../resources/record.ts';
import type { CollectionSpec } from '../store/store-port.ts';

export const NODES: CollectionSpec = { name: 'nodes', key: 'identifier' };
export const LEASES: CollectionSpec = { name: 'leases', key: 'identifier' };

/** Number of shards; each webhook belongs to one. Part of the log's format: see `computeShard`. */
export const SHARDS = 16;

/** The process that holds a lease: a node's id outlives it. */
export type Holder = { readonly node: string; readonly run: string };

export type Lease = Holder & {
  readonly term: number;
  readonly lengthMs: number;
  readonly released: boolean;
};

export type NodeRecord = {
  readonly identifier: string;
  readonly run: string;
  readonly beat: number;
  /** How long its leases are valid after this beat. */
  readonly lengthMs: number;
  readonly version: string;
  /** The address at which it serves; null while it does not. */
  readonly address: string | null;
  readonly position: number;
  readonly lag: number;
  readonly startedAt: string;
  readonly at: string;
  readonly padding?: string;
};

const LEASE_ID_PREFIX = 'shard-';

export function formatLeaseId(shard: number): string {
  return `${LEASE_ID_PREFIX}${shard}`;
}

export function parseLeaseId(id: string): number {
  return Number(id.slice(LEASE_ID_PREFIX.length));
}

export function encodeLease(shard: number, lease: Lease): string {
  const { node, run, term, lengthMs, released } = lease;
  return JSON.stringify({ identifier: formatLeaseId(shard), node, run, term, lengthMs, released });
}

export function decodeLease(bytes: Buffer): Lease {
  return decodeRecordAs<Lease>(bytes, ({ node, run, term, lengthMs, released }) =>
    typeof node === 'string' && typeof run === 'string' && Number.isSafeInteger(term)
    && Number.isSafeInteger(lengthMs) && typeof released === 'boolean');
}

export function decodeNode(bytes: Buffer): NodeRecord {
  return decodeRecordAs<NodeRecord>(bytes, ({ run, version, startedAt, at, ...numbers }) =>
    [run, version, startedAt, at].every((value) => typeof value === 'string')
    && ['beat', 'lengthMs', 'position', 'lag'].every((name) =>
      Number.isSafeInteger(numbers[name])));
}

/**
 * The shard of a webhook, or of another key that work waits for: FNV-1a of the key, 32 bits. Every
 * node and every version must compute the same one.
 */
export function computeShard(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  // The low bits of similar names differ least.
  return (hash >>> 28) ^ ((hash >>> 4) & 0xf);
}
