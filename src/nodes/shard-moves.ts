/** Spreads shards evenly over the live nodes: their counts differ by one at most. Pure. */
import { SHARDS } from './node-records.ts';

type ShardMoves = {
  /** Number of its shards that the node gives up. */
  readonly giveUp: number;
  /** Number of free shards that it claims. */
  readonly claim: number;
};

export type ShardCount = { readonly node: string; readonly count: number };

/** The moves of the node `own`, beside all `others` that live; `free` shards can be claimed. */
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
