/**
 * The rules by which shards belong to nodes. Fed from applied entries, and it knows the time only
 * as it is told: no I/O, and never a time of day of another machine.
 *
 * - A lease of length L is renewed by each beat of its run.
 * - Its owner begins attempts until L - the time of an attempt - 1 s after the last beat that was
 *   applied was *sent*; L - 1 s after that nothing of it may still be under way.
 * - Others may claim it, with the next term, L + 1 s after they *applied* the last beat; at once
 *   when it was released. As a claim is committed directly after what was applied, no beat can
 *   have come between.
 *
 * So the owner has ended two seconds before another begins, whatever their clocks show, as long as
 * they run at the same speed. Not excluded: a process that is frozen between its look at the time
 * and its request. No lock can do that.
 */
import { SHARDS, type Holder, type Lease, type NodeRecord } from './records.ts';

/** Clocks of two machines may drift apart by so much in the length of a lease. */
export const MARGIN_MS = 1000;

/** The times of one machine: `monotonicMs` stands still while the machine sleeps, `wallMs` not. */
export type Instant = { readonly monotonicMs: number; readonly wallMs: number };

export type LeaseLengths = {
  /** Of a lease that we claim. */
  readonly lengthMs: number;
  /** How long an attempt takes at most. */
  readonly attemptMs: number;
};

/** `renewedMs`: when we applied the last sign of life of its holder, on the monotonic clock. */
type Known = { lease: Lease; renewedMs: number };
type KnownNode = { readonly record: NodeRecord; readonly heardMs: number };

/** Beats of which the sending time is remembered: one that was sent late may be applied late. */
const BEATS_MAX = 16;

export class LeaseTable {
  readonly #self: Holder;
  readonly #lengths: LeaseLengths;
  readonly #shards: (Known | null)[] = new Array<Known | null>(SHARDS).fill(null);
  readonly #nodes = new Map<string, KnownNode>();
  readonly #sent = new Map<number, Instant>();
  /** When our last beat that was applied was sent; null: none was. */
  #renewal: Instant | null = null;

  constructor(self: Holder, lengths: LeaseLengths) {
    this.#self = self;
    this.#lengths = lengths;
  }

  /** A beat of ours is about to be sent. */
  noteSent(beat: number, at: Instant): void {
    this.#sent.set(beat, at);
    this.#sent.delete(beat - BEATS_MAX);
  }

  applyNode(id: string, record: NodeRecord | null, monotonicMs: number): void {
    if (record === null) {
      this.#nodes.delete(id);
      return;
    }
    this.#nodes.set(id, { record, heardMs: monotonicMs });
    const { run, beat } = record;
    for (const known of this.#shards) {
      if (known?.lease.node === id && known.lease.run === run) known.renewedMs = monotonicMs;
    }
    if (id === this.#self.node && run === this.#self.run) {
      this.#renewal = this.#sent.get(beat) ?? null;
    }
  }

  applyLease(shard: number, lease: Lease | null, monotonicMs: number): void {
    this.#shards[shard] = lease === null ? null : { lease, renewedMs: monotonicMs };
  }

  /**
   * The log is another one than was followed so far: nothing is known of when a lease was renewed
   * there, so each counts as renewed now. Ours are no more, as our run is to be a new one.
   */
  forgetTimes(monotonicMs: number): void {
    this.#sent.clear();
    this.#renewal = null;
    for (const known of this.#shards) if (known !== null) known.renewedMs = monotonicMs;
    for (const [id, { record }] of this.#nodes) {
      this.#nodes.set(id, { record, heardMs: monotonicMs });
    }
  }

  lease(shard: number): Lease | null {
    return this.#shards[shard]?.lease ?? null;
  }

  /** Nodes by id, and when each was last heard, on the monotonic clock. */
  get nodes(): ReadonlyMap<string, KnownNode> {
    return this.#nodes;
  }

  /** Whether the record says that a shard is ours, in time or not. */
  isOurs(shard: number): boolean {
    const lease = this.lease(shard);
    return lease !== null && !lease.released && isHeldBy(lease, this.#self);
  }

  ownShards(): readonly number[] {
    return allShards().filter((shard) => this.isOurs(shard));
  }

  /** Whether attempts of our shards may begin now. */
  mayBegin(now: Instant): boolean {
    const { lengthMs, attemptMs } = this.#lengths;
    return this.#sinceRenewalMs(now) < lengthMs - attemptMs - MARGIN_MS;
  }

  /** Milliseconds from now until nothing of our shards may be under way; 0 or less: it is past. */
  leftMs(now: Instant): number {
    return this.#lengths.lengthMs - MARGIN_MS - this.#sinceRenewalMs(now);
  }

  /** Whether we may claim a shard. */
  isFree(shard: number, monotonicMs: number): boolean {
    return this.isOurs(shard) ? false : this.freeInMs(shard, monotonicMs) <= 0;
  }

  /** Milliseconds until somebody else's lease is over for us, if its holder gives no sign. */
  freeInMs(shard: number, monotonicMs: number): number {
    const known = this.#shards[shard] ?? null;
    if (known === null || known.lease.released) return 0;
    return known.renewedMs + known.lease.lengthMs + MARGIN_MS - monotonicMs;
  }

  /** The record of a claim of ours. */
  claim(shard: number): Lease {
    const term = (this.lease(shard)?.term ?? 0) + 1;
    const { lengthMs } = this.#lengths;
    return { ...this.#self, term, lengthMs, released: false };
  }

  /** Whether a node takes part: it was heard within the length of its leases. */
  isLive(id: string, monotonicMs: number): boolean {
    return this.deadInMs(id, monotonicMs) > 0;
  }

  /** Milliseconds until it counts as dead, if it gives no sign. */
  deadInMs(id: string, monotonicMs: number): number {
    const known = this.#nodes.get(id);
    if (known === undefined) return 0;
    return known.heardMs + known.record.lengthMs + MARGIN_MS - monotonicMs;
  }

  /** Shards of a node's present run that are not released, in time or not. */
  shardsOf(id: string): readonly number[] {
    const run = this.#nodes.get(id)?.record.run ?? '';
    return allShards().filter((shard) => {
      const lease = this.lease(shard);
      return lease !== null && !lease.released && isHeldBy(lease, { node: id, run });
    });
  }

  // The time of day besides: a machine that slept may have been given up by the others. Where it
  // is set forward by hand we pause until the next beat; set back, it counts for nothing.
  #sinceRenewalMs(now: Instant): number {
    const sent = this.#renewal;
    if (sent === null) return Infinity;
    return Math.max(now.monotonicMs - sent.monotonicMs, now.wallMs - sent.wallMs);
  }
}

export function allShards(): readonly number[] {
  return Array.from({ length: SHARDS }, (_, shard) => shard);
}

function isHeldBy({ node, run }: Lease, holder: Holder): boolean {
  return node === holder.node && run === holder.run;
}
