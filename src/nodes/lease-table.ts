/**
 * The rules by which shards belong to nodes. The table is fed from applied entries; the time is a
 * parameter. It does no I/O, and never uses a time of day of another machine.
 *
 * - A lease of length L is renewed by each beat of its run.
 * - The owner begins attempts until L - the time of an attempt - 1 s after it *sent* the last beat
 *   that was applied; L - 1 s after that, none of its attempts may still be under way.
 * - Other nodes may claim it, with the next term, L + 1 s after they *applied* the last beat, or at
 *   once when it was released. A claim is committed directly after what was applied, so no beat
 *   can have come between.
 *
 * So the owner has ended two seconds before another begins, whatever their clocks show, as long as
 * they run at the same speed. This does not exclude a process that is frozen between reading the
 * clock and sending its request: no lock can.
 */
import { SHARDS, type Holder, type Lease, type NodeRecord } from './node-records.ts';

/** The most that the clocks of two machines may drift apart within a lease. */
export const MARGIN_MS = 1000;

/** A time on one machine. `monotonicMs` stops while the machine sleeps, `wallMs` does not. */
export type Instant = { readonly monotonicMs: number; readonly wallMs: number };

export type LeaseLengths = {
  /** Length of the leases that this node claims. */
  readonly lengthMs: number;
  /** The longest that an attempt may take. */
  readonly attemptMs: number;
};

/** `renewedMs`: monotonic time at which we applied the last beat of its holder. */
type TimedLease = { readonly lease: Lease; renewedMs: number };
/** `heardMs`: monotonic time at which we applied the node's last beat. */
type TimedNode = { readonly record: NodeRecord; readonly heardMs: number };

/** Beats whose sending time is remembered: several may be under way before one is applied. */
const BEATS_MAX = 16;

export class LeaseTable {
  readonly #self: Holder;
  readonly #lengths: LeaseLengths;
  /** By number; null for a shard that no node has claimed yet. */
  readonly #shards: (TimedLease | null)[] = new Array<TimedLease | null>(SHARDS).fill(null);
  readonly #nodes = new Map<string, TimedNode>();
  /** When each of our last beats was sent. */
  readonly #sentBeats = new Map<number, Instant>();
  /** When we sent our last beat that was applied; null when none was. */
  #renewal: Instant | null = null;

  constructor(self: Holder, lengths: LeaseLengths) {
    this.#self = self;
    this.#lengths = lengths;
  }

  recordSent(beat: number, at: Instant): void {
    this.#sentBeats.set(beat, at);
    this.#sentBeats.delete(beat - BEATS_MAX);
  }

  /** Takes a beat of a node; null when its record is deleted. */
  applyNode(id: string, record: NodeRecord | null, monotonicMs: number): void {
    if (record === null) {
      this.#nodes.delete(id);
      return;
    }
    this.#nodes.set(id, { record, heardMs: monotonicMs });
    const { run, beat } = record;
    for (const shard of this.#shards) {
      if (shard?.lease.node === id && shard.lease.run === run) shard.renewedMs = monotonicMs;
    }
    if (id === this.#self.node && run === this.#self.run) {
      this.#renewal = this.#sentBeats.get(beat) ?? null;
    }
  }

  applyLease(shard: number, lease: Lease | null, monotonicMs: number): void {
    this.#shards[shard] = lease === null ? null : { lease, renewedMs: monotonicMs };
  }

  /**
   * Starts all times anew, as this node follows another log from now on: it is unknown when a lease
   * was renewed there, so each counts as renewed now. Ours end, because our run is a new one.
   */
  resetTimes(monotonicMs: number): void {
    this.#sentBeats.clear();
    this.#renewal = null;
    for (const shard of this.#shards) if (shard !== null) shard.renewedMs = monotonicMs;
    for (const [id, { record }] of this.#nodes) {
      this.#nodes.set(id, { record, heardMs: monotonicMs });
    }
  }

  /** The last lease of a shard, expired or not; null when no node has claimed it yet. */
  lease(shard: number): Lease | null {
    return this.#shards[shard]?.lease ?? null;
  }

  /** Nodes by id, with the monotonic time of each one's last beat. */
  get nodes(): ReadonlyMap<string, TimedNode> {
    return this.#nodes;
  }

  /** Whether the record says that a shard is ours, expired or not. */
  isOurs(shard: number): boolean {
    const lease = this.lease(shard);
    return lease !== null && !lease.released && isHeldBy(lease, this.#self);
  }

  ownShards(): readonly number[] {
    return listAllShards().filter((shard) => this.isOurs(shard));
  }

  /** Whether attempts on our shards may begin now. */
  mayStartAttempts(now: Instant): boolean {
    const { lengthMs, attemptMs } = this.#lengths;
    return this.#msSinceRenewal(now) < lengthMs - attemptMs - MARGIN_MS;
  }

  /** Milliseconds until no attempt on our shards may be under way; 0 or less when that is past. */
  remainingMs(now: Instant): number {
    return this.#lengths.lengthMs - MARGIN_MS - this.#msSinceRenewal(now);
  }

  /** Whether we may claim a shard. */
  isFree(shard: number, monotonicMs: number): boolean {
    return !this.isOurs(shard) && this.msUntilFree(shard, monotonicMs) <= 0;
  }

  /** Milliseconds until another node's lease expires for us, if its holder sends no beat. */
  msUntilFree(shard: number, monotonicMs: number): number {
    const timedLease = this.#shards[shard] ?? null;
    if (timedLease === null || timedLease.lease.released) return 0;
    const { lease, renewedMs } = timedLease;
    return renewedMs + lease.lengthMs + MARGIN_MS - monotonicMs;
  }

  claim(shard: number): Lease {
    const term = (this.lease(shard)?.term ?? 0) + 1;
    const { lengthMs } = this.#lengths;
    return { ...this.#self, term, lengthMs, released: false };
  }

  /** Whether a node is alive: its last beat came within the length of its leases. */
  isLive(id: string, monotonicMs: number): boolean {
    return this.msUntilDead(id, monotonicMs) > 0;
  }

  /** Milliseconds until it counts as dead, if it sends no beat. */
  msUntilDead(id: string, monotonicMs: number): number {
    const node = this.#nodes.get(id);
    if (node === undefined) return 0;
    return node.heardMs + node.record.lengthMs + MARGIN_MS - monotonicMs;
  }

  /** Shards of a node's present run that are not released, expired or not. */
  listShards(id: string): readonly number[] {
    const run = this.#nodes.get(id)?.record.run ?? '';
    return listAllShards().filter((shard) => {
      const lease = this.lease(shard);
      return lease !== null && !lease.released && isHeldBy(lease, { node: id, run });
    });
  }

  /**
   * Milliseconds since we sent our last beat that was applied. The wall clock counts too: others
   * may have given up a machine that slept. If it is set forward by hand, we pause until the next
   * beat; if it is set back, the monotonic clock decides.
   */
  #msSinceRenewal(now: Instant): number {
    const renewal = this.#renewal;
    if (renewal === null) return Infinity;
    return Math.max(now.monotonicMs - renewal.monotonicMs, now.wallMs - renewal.wallMs);
  }
}

export function listAllShards(): readonly number[] {
  return Array.from({ length: SHARDS }, (_, shard) => shard);
}

function isHeldBy({ node, run }: Lease, holder: Holder): boolean {
  return node === holder.node && run === holder.run;
}
