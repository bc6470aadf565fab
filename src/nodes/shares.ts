/** What this node is to claim and to give up now, by the table and by what is under way here. */
import { LeaseTable, allShards } from './lease-table.ts';
import { LEASES, encodeLease, leaseId, type Holder } from './records.ts';
import type { Transaction } from '../store/store-port.ts';
import type { Shard } from './shard-lease.ts';
import { spread, type Share } from './spread.ts';

type SharesParts = {
  readonly self: Holder;
  readonly table: LeaseTable;
  readonly shards: readonly Shard[];
  /** How long an attempt takes at most. */
  readonly attemptMs: number;
};

/** A shard that is given up waits so long, or as an attempt takes, for what is under way. */
const DRAIN_MS = 30_000;

export class Shares {
  readonly #parts: SharesParts;

  constructor(parts: SharesParts) {
    this.#parts = parts;
  }

  /** Lets shards end that others are to have; whether it did of any. */
  giveUp(nowMs: number): boolean {
    const { table, shards, attemptMs } = this.#parts;
    const leaving = shards.filter(({ givenUpMs }) => givenUpMs !== null);
    for (const shard of leaving) {
      if (nowMs - (shard.givenUpMs ?? nowMs) > Math.max(attemptMs, DRAIN_MS)) shard.cutOff();
    }
    const count = this.#spread(nowMs).giveUp - leaving.length;
    if (count <= 0) return false;
    const kept = table.ownShards().filter((shard) => shards[shard]?.givenUpMs === null);
    for (const number of kept.slice(-count)) {
      const shard = shards[number];
      if (shard !== undefined) shard.givenUpMs = nowMs;
    }
    return true;
  }

  /** Shards that were given up and of which nothing is under way any more. */
  ended(): readonly number[] {
    const { table, shards } = this.#parts;
    return shards.filter(({ givenUpMs, count }) => givenUpMs !== null && count === 0)
      .map(({ number }) => number).filter((shard) => table.isOurs(shard));
  }

  /** Whether there is something to write. */
  isDue(nowMs: number): boolean {
    return this.#spread(nowMs).claim > 0 || this.ended().length > 0;
  }

  stageRelease(transaction: Transaction, shard: number): void {
    const { table } = this.#parts;
    const lease = table.lease(shard);
    if (lease === null || !table.isOurs(shard)) return;
    transaction.put(LEASES.name, leaseId(shard), encodeLease(shard, { ...lease, released: true }));
  }

  stageClaims(transaction: Transaction, nowMs: number): void {
    const { table } = this.#parts;
    const { claim } = this.#spread(nowMs);
    for (const shard of this.#free(nowMs).slice(0, claim)) {
      transaction.put(LEASES.name, leaseId(shard), encodeLease(shard, table.claim(shard)));
    }
  }

  /** Milliseconds until somebody else's lease, or a node's life, is over; Infinity: none is. */
  nextEndMs(nowMs: number): number {
    const { table, self } = this.#parts;
    const leases = allShards().filter((shard) => !table.isOurs(shard))
      .map((shard) => table.freeInMs(shard, nowMs));
    const lives = [...table.nodes.keys()].filter((id) => id !== self.node)
      .map((id) => table.deadInMs(id, nowMs));
    return Math.min(Infinity, ...[...leases, ...lives].filter((ms) => ms > 0));
  }

  #spread(nowMs: number): ReturnType<typeof spread> {
    const { table, self: { node } } = this.#parts;
    const others: Share[] = [...table.nodes.keys()]
      .filter((id) => id !== node && table.isLive(id, nowMs))
      .map((id) => ({ node: id, count: table.shardsOf(id).length }));
    const own = { node, count: table.ownShards().length };
    return spread(own, others, this.#free(nowMs).length);
  }

  #free(nowMs: number): readonly number[] {
    return allShards().filter((shard) => this.#parts.table.isFree(shard, nowMs));
  }
}
