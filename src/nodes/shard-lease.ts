/**
 * The part that this process has in a shard. `Shard` counts the attempts under way, and lives as
 * long as the process. `ShardLease` is the right to attempt while the lease in the log is ours.
 * Each time that a node claims a shard, its lease gets a new term, and a `ShardLease` is good for
 * one: an attempt that began in a term is aborted when that ends, and its result is not written.
 */
import type { Transaction } from '../store/store-port.ts';
import { LEASES, decodeLease, formatLeaseId, type Holder } from './node-records.ts';

/** All shards share these. */
type ShardDeps = {
  readonly self: Holder;
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
  /** The lease of the last term that attempts began in; null before, and after its cut-off. */
  #lease: ShardLease | null = null;

  constructor(number: number, deps: ShardDeps) {
    this.number = number;
    this.#deps = deps;
  }

  /** Returns the lease of a term. The first call for a term aborts the attempts of another one. */
  enterTerm(term: number): ShardLease {
    if (this.#lease?.term === term) return this.#lease;
    this.cutOff();
    this.#lease = new ShardLease(this, term, this.#deps);
    return this.#lease;
  }

  /** Aborts the attempts under way. `enterTerm` gives a new lease after this, also in this term. */
  cutOff(): void {
    this.#lease?.cutOff();
    this.#lease = null;
  }
}

/** The right to attempt on a shard in one term: the `QueueLease` of webhooks/work. */
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
    if (!this.mayContinue()) return false;
    this.#shard.attemptCount += 1;
    return true;
  }

  endAttempt(): void {
    const shard = this.#shard;
    shard.attemptCount -= 1;
    if (shard.attemptCount === 0 && shard.givenUpMs !== null) this.#deps.onDrained();
  }

  mayContinue(): boolean {
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
