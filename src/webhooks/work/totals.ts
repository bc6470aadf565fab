/**
 * How many pieces of work there are and were, kept in one record that changes with them: accepted =
 * the sum of every status, of those that aged out, and of those that left in another way, always.
 *
 *     {"identifier":"totals","accepted":<n>,"<status>":<n>,…,"agedOut":<n>,"<gone>":<n>,…}
 */
import { isJsonObject } from '../../base/fields.ts';
import type { Collection, CollectionSpec, Transaction } from '../../store/store-port.ts';

/** By status, and by the way in which a record has left. */
export type WorkTotals<Status extends string, Gone extends string = never> =
  Readonly<Record<Status | Gone | 'accepted' | 'agedOut', number>>;

const TOTALS_ID = 'totals';

export class TotalsRecord<Status extends string, Gone extends string = never> {
  readonly collection: CollectionSpec;
  readonly statuses: readonly Status[];
  /** What accepted is the sum of. */
  readonly #parts: readonly (Status | Gone | 'agedOut')[];
  readonly #none: WorkTotals<Status, Gone>;
  // The next transaction mostly reads the bytes that the last one staged, and bytes never change.
  readonly #decoded = new WeakMap<Buffer, WorkTotals<Status, Gone>>();

  /** `name` is the collection's that holds the one record. */
  constructor(name: string, statuses: readonly Status[], gone: readonly Gone[]) {
    this.collection = { name, key: 'identifier' };
    this.statuses = statuses;
    this.#parts = [...statuses, 'agedOut', ...gone];
    this.#none = this.#from(() => 0);
  }

  /** As staged in the transaction. */
  read(transaction: Pick<Transaction, 'find'>): WorkTotals<Status, Gone> {
    return this.#decode(transaction.find(this.collection.name, TOTALS_ID));
  }

  /** As committed. */
  committed(store: { collection(name: string): Collection }): WorkTotals<Status, Gone> {
    return this.#decode(store.collection(this.collection.name).find(TOTALS_ID)?.bytes);
  }

  write(transaction: Transaction, totals: WorkTotals<Status, Gone>): void {
    let json = `{"identifier":"${TOTALS_ID}","accepted":${totals.accepted}`;
    for (const part of this.#parts) json += `,"${part}":${totals[part]}`;
    const { bytes } = transaction.put(this.collection.name, TOTALS_ID, `${json}}`);
    this.#decoded.set(bytes, totals);
  }

  /** What `accepted` must be. */
  sum(totals: WorkTotals<Status, Gone>): number {
    return this.#parts.reduce((sum, part) => sum + totals[part], 0);
  }

  #decode(bytes: Buffer | undefined): WorkTotals<Status, Gone> {
    if (bytes === undefined) return this.#none;
    const known = this.#decoded.get(bytes);
    if (known !== undefined) return known;
    const record: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(record) ? this.#from((name) => Number(record[name] ?? 0)) : this.#none;
  }

  #from(count: (name: string) => number): WorkTotals<Status, Gone> {
    const names = ['accepted', ...this.#parts];
    return Object.fromEntries(names.map((name) => [name, count(name)])) as
      WorkTotals<Status, Gone>;
  }
}
