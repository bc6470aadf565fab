/** A shard in this process: what is under way of it, and the right to begin more. */
import type { Transaction } from '../store/store-port.ts';
import { LEASES, decodeLease, leaseId, type Holder } from './records.ts';

/** What a hold asks of the whole: see `LeaseTable`. */
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
  #hold: ShardHold | null = null;

  constructor(number: number, rights: Rights) {
    this.number = number;
    this.#rights = rights;
  }

  /** The one of that term; a new one when the last was cut off. */
  holdOf(term: number): ShardHold {
    if (this.#hold?.term !== term || this.#hold.ended.aborted) {
      this.cutOff();
      this.#hold = new ShardHold(this, term, this.#rights);
    }
    return this.#hold;
  }

  /** Ends what is under way. */
  cutOff(): void {
    this.#hold?.cutOff();
    this.#hold = null;
  }
}

/** A `Hold` of webhooks/work: as long as a lease is ours, in one term. */
class ShardHold {
  readonly term: number;
  readonly #shard: Shard;
  readonly #rights: Rights;
  readonly #ended = new AbortController();

  constructor(shard: Shard, term: number, rights: Rights) {
    this.#shard = shard;
    this.term = term;
    this.#rights = rights;
  }

  begin(): boolean {
    if (!this.mayBegin()) return false;
    this.#shard.count += 1;
    return true;
  }

  end(): void {
    const shard = this.#shard;
    shard.count -= 1;
    if (shard.count === 0 && shard.givenUpMs !== null) this.#rights.onDrained();
  }

  mayBegin(): boolean {
    const { givenUpMs, number } = this.#shard;
    return givenUpMs === null && !this.#ended.signal.aborted
      && this.#rights.mayBegin(number, this.term);
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  isKept(transaction: Transaction): boolean {
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
