/** How shards are spread over the nodes that live: no two differ by more than one. Pure. */
import { SHARDS } from './records.ts';

type Spread = {
  /** How many of its shards a node gives up. */
  readonly giveUp: number;
  /** How many of the free ones it claims. */
  readonly claim: number;
};

export type Share = { readonly node: string; readonly count: number };

/** For the node `own`, with all `others` that live, and so many shards that it might claim now. */
export function spread(own: Share, others: readonly Share[], free: number): Spread {
  const nodes = others.length + 1;
  const low = Math.floor(SHARDS / nodes);
  const high = Math.ceil(SHARDS / nodes);
  const { count } = own;
  if (count > high) return { giveUp: count - high, claim: 0 };
  const first = Math.min(free, Math.max(0, low - count));
  // What the others need to have their share is left to them.
  const needed = others.reduce((sum, other) => sum + Math.max(0, low - other.count), 0);
  const rest = Math.max(0, free - first - needed);
  const claim = first + Math.min(rest, high - count - first);
  const isOneTooMany = count > low && free === 0 && others.some((other) => other.count < low)
    && others.every((other) => other.count < high
      || (other.count === high && other.node < own.node));
  return { giveUp: isOneTooMany ? 1 : 0, claim: Math.max(0, claim) };
}
