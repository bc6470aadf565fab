/** Decides which shards this node claims and gives up, by the lease table and its own attempts. */
import { LeaseTable, listAllShards } from './lease-table.ts';
import { LEASES, SHARDS, encodeLease, formatLeaseId, type Holder } from './node-records.ts';
import type { Transaction } from '../store/store-port.ts';
import type { Shard } from './shard-lease.ts';

type ShardBalanceDeps = {
  readonly self: Holder;
  readonly table: LeaseTable;
  readonly shards: readonly Shard[];
  /** The longest that an attempt may take. */
  readonly attemptMs: number;
};

/** Attempts on a shard that is given up may go on for so long, or for `attemptMs` if longer. */
const DRAIN_MS = 30_000;

export class ShardBalance {
  readonly #deps: ShardBalanceDeps;

  constructor(deps: ShardBalanceDeps) {
    this.#deps = deps;
  }

  /**
   * Gives up shards that other nodes should have, and cuts off attempts on shards that were given
   * up long ago. True if more shards are given up than before.
   */
  giveUpSurplus(nowMs: number): boolean {
    const { table, shards, attemptMs } = this.#deps;
    const givenUpShards = shards.filter(({ givenUpMs }) => givenUpMs !== null);
    for (const shard of givenUpShards) {
      if (nowMs - (shard.givenUpMs ?? nowMs) > Math.max(attemptMs, DRAIN_MS)) shard.cutOff();
    }
    const surplus = this.#computeMoves(nowMs).giveUp - givenUpShards.length;
    if (surplus <= 0) return false;
    const activeShards = table.ownShards().filter((shard) => shards[shard]?.givenUpMs === null);
    for (const number of activeShards.slice(-surplus)) {
      const shard = shards[number];
      if (shard !== undefined) shard.givenUpMs = nowMs;
    }
    return true;
  }

  /** Shards that were given up and have no attempt under way any more: they can be released. */
  drainedShards(): readonly number[] {
    const { table, shards } = this.#deps;
    return shards.filter(({ givenUpMs, attemptCount }) => givenUpMs !== null && attemptCount === 0)
      .map(({ number }) => number).filter((shard) => table.isOurs(shard));
  }

  /** Whether a claim or a release is to be written. */
  isDue(nowMs: number): boolean {
    return this.#computeMoves(nowMs).claim > 0 || this.drainedShards().length > 0;
  }

  stageRelease(transaction: Transaction, shard: number): void {
    const { table } = this.#deps;
    const lease = table.lease(shard);
    if (lease === null || !table.isOurs(shard)) return;
    const record = encodeLease(shard, { ...lease, released: true });
    transaction.put(LEASES.name, formatLeaseId(shard), record);
  }

  stageClaims(transaction: Transaction, nowMs: number): void {
    const { table } = this.#deps;
    const { claim } = this.#computeMoves(nowMs);
    for (const shard of this.#freeShards(nowMs).slice(0, claim)) {
      transaction.put(LEASES.name, formatLeaseId(shard), encodeLease(shard, table.claim(shard)));
    }
  }

  /** Milliseconds until the next lease or node of others expires; Infinity when there is none. */
  nextEndMs(nowMs: number): number {
    const { table, self } = this.#deps;
    const leaseEndsMs = listAllShards().filter((shard) => !table.isOurs(shard))
      .map((shard) => table.msUntilFree(shard, nowMs));
    const nodeEndsMs = [...table.nodes.keys()].filter((id) => id !== self.node)
      .map((id) => table.msUntilDead(id, nowMs));
    return Math.min(Infinity, ...[...leaseEndsMs, ...nodeEndsMs].filter((ms) => ms > 0));
  }

  #computeMoves(nowMs: number): ReturnType<typeof computeShardMoves> {
    const { table, self: { node } } = this.#deps;
    const others: ShardCount[] = [...table.nodes.keys()]
      .filter((id) => id !== node && table.isLive(id, nowMs))
      .map((id) => ({ node: id, count: table.listShards(id).length }));
    const own = { node, count: table.ownShards().length };
    return computeShardMoves(own, others, this.#freeShards(nowMs).length);
  }

  #freeShards(nowMs: number): readonly number[] {
    return listAllShards().filter((shard) => this.#deps.table.isFree(shard, nowMs));
  }
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
