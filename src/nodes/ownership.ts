/** Says which shards this node owns: the `Ownership` of webhooks/durable-queue, from the leases. */
import type { Clock } from '../base/clock.ts';
import { allShards, type Instant, type LeaseTable } from './lease-table.ts';
import { shardOf, type Holder } from './records.ts';
import { Shard } from './shard-lease.ts';

/** What is done once for all nodes is done by the owner of this shard. */
export const MAINTENANCE_SHARD = 0;

type OwnershipParts = {
  readonly self: Holder;
  readonly table: LeaseTable;
  readonly clock: Clock;
  readonly isReloading: () => boolean;
  /** Called when nothing is under way any more of a shard that is given up. */
  readonly onDrained: () => void;
};

export class NodeOwnership {
  readonly shards: readonly Shard[];
  /** While false nothing is ours to begin. */
  isActive = false;
  readonly #table: LeaseTable;
  readonly #clock: Clock;
  readonly #isReloading: () => boolean;
  readonly #listeners = new Set<() => void>();
  #isTellAsked = false;

  constructor({ self, table, clock, isReloading, onDrained }: OwnershipParts) {
    this.#table = table;
    this.#clock = clock;
    this.#isReloading = isReloading;
    const mayBegin = (shard: number, term: number): boolean =>
      this.mayBegin() && table.isOurs(shard) && table.lease(shard)?.term === term;
    this.shards = allShards().map((shard) => new Shard(shard, { self, mayBegin, onDrained }));
  }

  findLease(key: string): ReturnType<Shard['leaseForTerm']> | null {
    const shard = this.shards[shardOf(key)];
    if (shard === undefined || shard.givenUpMs !== null) return null;
    if (!this.#table.isOurs(shard.number)) return null;
    return shard.leaseForTerm(this.#table.lease(shard.number)?.term ?? 0);
  }

  mayBegin(): boolean {
    return this.isActive && !this.#isReloading() && this.#table.mayBegin(this.now());
  }

  isMaintainer(): boolean {
    return this.isActive && this.#table.isOurs(MAINTENANCE_SHARD)
      && this.shards[MAINTENANCE_SHARD]?.givenUpMs === null
      && this.#table.leftMs(this.now()) > 0;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Soon, and once for all shards that change together. */
  tell(): void {
    if (this.#isTellAsked) return;
    this.#isTellAsked = true;
    setImmediate(() => {
      this.#isTellAsked = false;
      for (const listener of this.#listeners) listener();
    });
  }

  cutOffAll(): void {
    for (const shard of this.shards) shard.cutOff();
  }

  now(): Instant {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() };
  }
}
