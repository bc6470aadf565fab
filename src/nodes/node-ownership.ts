/** Says which shards this node owns: the `Ownership` of webhooks/work, from the leases. */
import type { Clock } from '../base/clock.ts';
import { listAllShards, type Instant, type LeaseTable } from './lease-table.ts';
import { computeShard, type Holder } from './node-records.ts';
import { Shard, type ShardLease } from './shard-lease.ts';

/** The owner of this shard does the upkeep that is done once for all nodes. */
export const MAINTENANCE_SHARD = 0;

type NodeOwnershipDeps = {
  readonly self: Holder;
  readonly table: LeaseTable;
  readonly clock: Clock;
  readonly isReloading: () => boolean;
  /** Called when the last attempt on a shard that is given up has ended. */
  readonly onDrained: () => void;
};

export class NodeOwnership {
  readonly shards: readonly Shard[];
  /** While false, no attempt may begin here. Membership sets it in `start` and `close`. */
  isActive = false;
  readonly #table: LeaseTable;
  readonly #clock: Clock;
  readonly #isReloading: () => boolean;
  readonly #listeners = new Set<() => void>();
  #isNotifyScheduled = false;

  constructor({ self, table, clock, isReloading, onDrained }: NodeOwnershipDeps) {
    this.#table = table;
    this.#clock = clock;
    this.#isReloading = isReloading;
    const mayBeginOnShard = (shard: number, term: number): boolean =>
      this.mayBegin() && table.isOurs(shard) && table.lease(shard)?.term === term;
    this.shards = listAllShards().map((shard) => new Shard(shard, {
      self, mayBegin: mayBeginOnShard, onDrained,
    }));
  }

  /**
   * The lease under which work for `key` may begin here; null when the shard is another node's or
   * is given up. When the shard is ours under a new term, this aborts the attempts of the old one.
   */
  findLease(key: string): ShardLease | null {
    const shard = this.shards[computeShard(key)];
    if (shard === undefined || shard.givenUpMs !== null) return null;
    if (!this.#table.isOurs(shard.number)) return null;
    // A shard that is ours has a lease in the table, and so a term.
    return shard.enterTerm(this.#table.lease(shard.number)?.term ?? 0);
  }

  mayBegin(): boolean {
    return this.isActive && !this.#isReloading() && this.#table.mayStartAttempts(this.now());
  }

  /**
   * Whether this node does the work that is done once for all nodes. It may do so until its leases
   * end; an attempt must begin earlier, as it needs time to end within them.
   */
  isMaintainer(): boolean {
    return this.isActive && this.#table.isOurs(MAINTENANCE_SHARD)
      && this.shards[MAINTENANCE_SHARD]?.givenUpMs === null
      && this.#table.remainingMs(this.now()) > 0;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls the listeners of `onChange` in a later turn, once for all shards that change together.
   */
  notifySoon(): void {
    if (this.#isNotifyScheduled) return;
    this.#isNotifyScheduled = true;
    setImmediate(() => {
      this.#isNotifyScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Aborts all attempts under way. */
  cutOffAll(): void {
    for (const shard of this.shards) shard.cutOff();
  }

  now(): Instant {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() };
  }
}
