/** Decides which shards this node claims and gives up, by the lease table and its own attempts. */
import { LeaseTable, listAllShards } from './lease-table.ts';
import { LEASES, SHARDS, encodeLease, formatLeaseId, type Holder } from './node-records.ts';
import type { Transaction } from '../store/store-port.ts';
import type { Shard } from './shard-lease.ts';

/** The shards, as the leases of all nodes and the attempts of this one have them. */
export type ShardUse = {
  readonly self: Holder;
  readonly table: LeaseTable;
  readonly shards: readonly Shard[];
  /** The longest that an attempt may take. */
  readonly attemptMs: number;
};

/** Attempts on a shard that is given up may go on for so long, or for `attemptMs` if longer. */
const DRAIN_MS = 30_000;

/**
 * Gives up shards that other nodes should have, and cuts off attempts on shards that were given
 * up long ago. True if more shards are given up than before.
 */
export function giveUpSurplus(use: ShardUse, nowMs: number): boolean {
  const { table, shards, attemptMs } = use;
  const givenUpShards = shards.filter(({ givenUpMs }) => givenUpMs !== null);
  for (const shard of givenUpShards) {
    if (nowMs - (shard.givenUpMs ?? nowMs) > Math.max(attemptMs, DRAIN_MS)) shard.cutOff();
  }
  const surplus = computeMoves(use, nowMs).giveUp - givenUpShards.length;
  if (surplus <= 0) return false;
  const activeShards = table.ownShards().filter((shard) => shards[shard]?.givenUpMs === null);
  for (const number of activeShards.slice(-surplus)) {
    const shard = shards[number];
    if (shard !== undefined) shard.givenUpMs = nowMs;
  }
  return true;
}

/** Shards that were given up and have no attempt under way any more: they can be released. */
export function listDrainedShards({ table, shards }: ShardUse): readonly number[] {
  return shards.filter(({ givenUpMs, attemptCount }) => givenUpMs !== null && attemptCount === 0)
    .map(({ number }) => number).filter((shard) => table.isOurs(shard));
}

/** Whether a claim or a release is to be written. */
export function isMoveDue(use: ShardUse, nowMs: number): boolean {
  return computeMoves(use, nowMs).claim > 0 || listDrainedShards(use).length > 0;
}

export function stageRelease(table: LeaseTable, transaction: Transaction, shard: number): void {
  const lease = table.lease(shard);
  if (lease === null || !table.isOurs(shard)) return;
  const record = encodeLease(shard, { ...lease, released: true });
  transaction.put(LEASES.name, formatLeaseId(shard), record);
}

export function stageClaims(use: ShardUse, transaction: Transaction, nowMs: number): void {
  const { table } = use;
  const { claim } = computeMoves(use, nowMs);
  for (const shard of listFreeShards(table, nowMs).slice(0, claim)) {
    transaction.put(LEASES.name, formatLeaseId(shard), encodeLease(shard, table.claim(shard)));
  }
}

/** Milliseconds until the next lease or node of others expires; Infinity when there is none. */
export function computeNextEndMs({ table, self }: ShardUse, nowMs: number): number {
  const leaseEndsMs = listAllShards().filter((shard) => !table.isOurs(shard))
    .map((shard) => table.msUntilFree(shard, nowMs));
  const nodeEndsMs = [...table.nodes.keys()].filter((id) => id !== self.node)
    .map((id) => table.msUntilDead(id, nowMs));
  return Math.min(Infinity, ...[...leaseEndsMs, ...nodeEndsMs].filter((ms) => ms > 0));
}

function computeMoves({ table, self: { node } }: ShardUse, nowMs: number): ShardMoves {
  const others: ShardCount[] = [...table.nodes.keys()]
    .filter((id) => id !== node && table.isLive(id, nowMs))
    .map((id) => ({ node: id, count: table.listShards(id).length }));
  const own = { node, count: table.ownShards().length };
  return computeShardMoves(own, others, listFreeShards(table, nowMs).length);
}

function listFreeShards(table: LeaseTable, nowMs: number): readonly number[] {
  return listAllShards().filter((shard) => table.isFree(shard, nowMs));
}

type ShardMoves = {
  readonly giveUp: number;
  /** Number of free shards that it claims. */
  readonly claim: number;
};

export type ShardCount = { readonly node: string; readonly count: number };

/**
 * Spreads shards evenly over the live nodes: their counts differ by one at most. Returns the moves
 * of the node `own`, beside all `others` that live; `free` shards can be claimed.
 */
export function computeShardMoves(
  own: ShardCount, others: readonly ShardCount[], free: number,
): ShardMoves {
  const nodes = others.length + 1;
  const shareMin = Math.floor(SHARDS / nodes);
  const shareMax = Math.ceil(SHARDS / nodes);
  const { count } = own;
  if (count > shareMax) return { giveUp: count - shareMax, claim: 0 };
  const claimMin = Math.min(free, Math.max(0, shareMin - count));
  // The others are left as many as they lack.
  const othersLack = others.reduce((sum, other) => sum + Math.max(0, shareMin - other.count), 0);
  const rest = Math.max(0, free - claimMin - othersLack);
  const claim = claimMin + Math.min(rest, shareMax - count - claimMin);
  // A node has too few and nothing is free: of those with the larger share, the one whose
  // identifier sorts last gives one up.
  const isOneTooMany = count > shareMin && free === 0
    && others.some((other) => other.count < shareMin)
    && others.every((other) => other.count < shareMax
      || (other.count === shareMax && other.node < own.node));
  return { giveUp: isOneTooMany ? 1 : 0, claim: Math.max(0, claim) };
}
