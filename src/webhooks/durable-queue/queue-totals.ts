/**
 * Counts how many items a queue has and had, in one record that changes in the same transactions.
 * Always: accepted = the sum of all statuses, of the items that aged out, and of those that left in
 * another way.
 *
 *     {"identifier":"totals","accepted":<n>,"<status>":<n>,…,"agedOut":<n>,"<removal>":<n>,…}
 */
import { assert } from '../../base/assert.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Collection, CollectionSpec, Transaction } from '../../store/store-port.ts';

/** Counts by status, and by the way in which a record has left. */
export type QueueTotals<Status extends string, Removal extends string = never> =
  Readonly<Record<Status | Removal | 'accepted' | 'agedOut', number>>;

const TOTALS_ID = 'totals';

/** Reads and writes the record of the totals. */
export class TotalsAccess<Status extends string, Removal extends string = never> {
  readonly collection: CollectionSpec;
  readonly statuses: readonly Status[];
  /** The names of the counts that add up to `accepted`. */
  readonly #summands: readonly (Status | Removal | 'agedOut')[];
  readonly #zeros: QueueTotals<Status, Removal>;
  // A transaction mostly reads the bytes that the one before it staged, and bytes never change.
  readonly #decoded = new WeakMap<Buffer, QueueTotals<Status, Removal>>();

  /** `name` is the name of the collection that holds the one record. */
  constructor(name: string, statuses: readonly Status[], removals: readonly Removal[]) {
    this.collection = { name, key: 'identifier' };
    this.statuses = statuses;
    this.#summands = [...statuses, 'agedOut', ...removals];
    this.#zeros = this.#build(() => 0);
  }

  /** Reads the totals as staged in the transaction. */
  read(transaction: Pick<Transaction, 'find'>): QueueTotals<Status, Removal> {
    return this.#decode(transaction.find(this.collection.name, TOTALS_ID));
  }

  /** Reads the totals as committed. */
  readCommitted(store: { collection(name: string): Collection }): QueueTotals<Status, Removal> {
    return this.#decode(store.collection(this.collection.name).find(TOTALS_ID)?.bytes);
  }

  write(transaction: Transaction, totals: QueueTotals<Status, Removal>): void {
    let json = `{"identifier":"${TOTALS_ID}","accepted":${totals.accepted}`;
    for (const name of this.#summands) json += `,"${name}":${totals[name]}`;
    const { bytes } = transaction.put(this.collection.name, TOTALS_ID, `${json}}`);
    this.#decoded.set(bytes, totals);
  }

  /** Adds up what `accepted` must be. */
  sum(totals: QueueTotals<Status, Removal>): number {
    return this.#summands.reduce((sum, name) => sum + totals[name], 0);
  }

  /** Zeros where there is no record yet. Throws for a record that is no JSON object, as a bug. */
  #decode(bytes: Buffer | undefined): QueueTotals<Status, Removal> {
    if (bytes === undefined) return this.#zeros;
    const cachedTotals = this.#decoded.get(bytes);
    if (cachedTotals !== undefined) return cachedTotals;
    const record: unknown = JSON.parse(bytes.toString('utf8'));
    // Only `write` makes this record, so another value is a bug; zeros would hide it.
    assert(isJsonObject(record), 'the totals of a queue are no JSON object');
    return this.#build((name) => record[name]);
  }

  #build(count: (name: string) => unknown): QueueTotals<Status, Removal> {
    const names = ['accepted', ...this.#summands];
    const totals: unknown = Object.fromEntries(names.map((name) => [name, count(name)]));
    assert(this.#isTotals(totals), 'the totals of a queue lack a count');
    return totals;
  }

  #isTotals(value: unknown): value is QueueTotals<Status, Removal> {
    return isJsonObject(value)
      && ['accepted', ...this.#summands].every((name) => typeof value[name] === 'number');
  }
}
