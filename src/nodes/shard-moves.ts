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
  const low = Math.floor(SHARDS / nodes);
  const high = Math.ceil(SHARDS / nodes);
  const { count } = own;
  if (count > high) return { giveUp: count - high, claim: 0 };
  const first = Math.min(free, Math.max(0, low - count));
  // The others are left what they need to reach their own share.
  const needed = others.reduce((sum, other) => sum + Math.max(0, low - other.count), 0);
  const rest = Math.max(0, free - first - needed);
  const claim = first + Math.min(rest, high - count - first);
  const isOneTooMany = count > low && free === 0 && others.some((other) => other.count < low)
    && others.every((other) => other.count < high
      || (other.count === high && other.node < own.node));
  return { giveUp: isOneTooMany ? 1 : 0, claim: Math.max(0, claim) };
}
