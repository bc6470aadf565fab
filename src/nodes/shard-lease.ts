/** A shard in this process: what is under way of it, and the right to begin more. */
import type { Transaction } from '../store/store-port.ts';
import { LEASES, decodeLease, leaseId, type Holder } from './records.ts';

/** What the leases of all shards share: see `LeaseTable`. */
type Rights = {
  readonly self: Holder;
  /** Whether attempts of a shard may begin now, in that term. */
  readonly mayBegin: (shard: number, term: number) => boolean;
  /** Called when the last attempt of a shard that is given up has ended. */
  readonly onDrained: () => void;
};

/** One shard; it lives as long as the process. */
export class Shard {
  readonly number: number;
  readonly #rights: Rights;
  /** Attempts under way, of all holds. */
  count = 0;
  /** Since when it is given up, on the monotonic clock; null: it is not. */
  givenUpMs: number | null = null;
  #lease: ShardLease | null = null;

  constructor(number: number, rights: Rights) {
    this.number = number;
    this.#rights = rights;
  }

  /** The one of that term; a new one when the last was cut off. */
  leaseForTerm(term: number): ShardLease {
    if (this.#lease?.term !== term || this.#lease.endSignal.aborted) {
      this.cutOff();
      this.#lease = new ShardLease(this, term, this.#rights);
    }
    return this.#lease;
  }

  /** Ends what is under way. */
  cutOff(): void {
    this.#lease?.cutOff();
    this.#lease = null;
  }
}

/** The `QueueLease` of webhooks/durable-queue: it holds as long as a lease is ours, in one term. */
class ShardLease {
  readonly term: number;
  readonly #shard: Shard;
  readonly #rights: Rights;
  readonly #ended = new AbortController();

  constructor(shard: Shard, term: number, rights: Rights) {
    this.#shard = shard;
    this.term = term;
    this.#rights = rights;
  }

  beginAttempt(): boolean {
    if (!this.mayBegin()) return false;
    this.#shard.count += 1;
    return true;
  }

  endAttempt(): void {
    const shard = this.#shard;
    shard.count -= 1;
    if (shard.count === 0 && shard.givenUpMs !== null) this.#rights.onDrained();
  }

  mayBegin(): boolean {
    const { givenUpMs, number } = this.#shard;
    return givenUpMs === null && !this.#ended.signal.aborted
      && this.#rights.mayBegin(number, this.term);
  }

  get endSignal(): AbortSignal {
    return this.#ended.signal;
  }

  isHeld(transaction: Transaction): boolean {
    const bytes = transaction.find(LEASES.name, leaseId(this.#shard.number));
    if (bytes === undefined) return false;
    const { node, run, term, released } = decodeLease(bytes);
    const { self } = this.#rights;
    return node === self.node && run === self.run && term === this.term && !released;
  }

  cutOff(): void {
    this.#ended.abort();
  }
}
