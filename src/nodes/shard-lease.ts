/** A shard in this process: the attempts under way, and the right to begin more. */
import type { Transaction } from '../store/store-port.ts';
import { LEASES, decodeLease, formatLeaseId, type Holder } from './node-records.ts';

/** All shards share these. */
type ShardDeps = {
  readonly self: Holder;
  /** Whether attempts of a shard may begin now, in that term. */
  readonly mayBegin: (shard: number, term: number) => boolean;
  /** Called when the last attempt of a shard that is given up has ended. */
  readonly onDrained: () => void;
};

/** One shard; it lives as long as the process. */
export class Shard {
  readonly number: number;
  readonly #deps: ShardDeps;
  /** Attempts under way, in all terms. */
  attemptCount = 0;
  /** Monotonic time since which the shard is given up; null while it is not. */
  givenUpMs: number | null = null;
  #lease: ShardLease | null = null;

  constructor(number: number, deps: ShardDeps) {
    this.number = number;
    this.#deps = deps;
  }

  /** The lease of that term; a new one when the last was cut off. */
  leaseForTerm(term: number): ShardLease {
    if (this.#lease?.term !== term || this.#lease.endSignal.aborted) {
      this.cutOff();
      this.#lease = new ShardLease(this, term, this.#deps);
    }
    return this.#lease;
  }

  /** Aborts the attempts under way. */
  cutOff(): void {
    this.#lease?.cutOff();
    this.#lease = null;
  }
}

/** The `QueueLease` of webhooks/durable-queue: the right to work on a shard in one term. */
export class ShardLease {
  readonly term: number;
  readonly #shard: Shard;
  readonly #deps: ShardDeps;
  readonly #end = new AbortController();

  constructor(shard: Shard, term: number, deps: ShardDeps) {
    this.#shard = shard;
    this.term = term;
    this.#deps = deps;
  }

  beginAttempt(): boolean {
    if (!this.mayBegin()) return false;
    this.#shard.attemptCount += 1;
    return true;
  }

  endAttempt(): void {
    const shard = this.#shard;
    shard.attemptCount -= 1;
    if (shard.attemptCount === 0 && shard.givenUpMs !== null) this.#deps.onDrained();
  }

  mayBegin(): boolean {
    const { givenUpMs, number } = this.#shard;
    return givenUpMs === null && !this.#end.signal.aborted
      && this.#deps.mayBegin(number, this.term);
  }

  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whether the lease is ours in the state that a transaction sees: its result may be written. */
  isHeld(transaction: Transaction): boolean {
    const bytes = transaction.find(LEASES.name, formatLeaseId(this.#shard.number));
    if (bytes === undefined) return false;
    const { node, run, term, released } = decodeLease(bytes);
    const { self } = this.#deps;
    return node === self.node && run === self.run && term === this.term && !released;
  }

  cutOff(): void {
    this.#end.abort();
  }
}
