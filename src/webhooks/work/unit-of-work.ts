/**
 * Every change of work goes through here, inside a transaction, together with the totals and with
 * what else belongs to the work.
 */
import type { Store, Transaction } from '../../store/store-port.ts';
import type { Attendant, Known, WorkChange, WorkKind } from './kind.ts';
import type { WorkTotals } from './totals.ts';

/** Runs `work` as one unit: the totals follow its changes once. */
export function changeWork<Item, Status extends string, Gone extends string, T>(
  kind: WorkKind<Item, Status, Gone>, transaction: Transaction,
  work: (unit: UnitOfWork<Item, Status, Gone>) => T,
): T {
  const unit = new UnitOfWork(kind, transaction);
  const result = work(unit);
  unit.complete();
  return result;
}

/** The same in a transaction of its own. */
export function commitWork<Item, Status extends string, Gone extends string, T>(
  kind: WorkKind<Item, Status, Gone>, store: Store,
  work: (unit: UnitOfWork<Item, Status, Gone>) => T,
): Promise<T> {
  return store.transact((transaction) => changeWork(kind, transaction, work));
}

export class UnitOfWork<Item, Status extends string, Gone extends string = never> {
  readonly #kind: WorkKind<Item, Status, Gone>;
  readonly #transaction: Transaction;
  readonly #attendant: Attendant<Item, Status, Gone>;
  readonly #totals: { -readonly [Name in keyof WorkTotals<Status, Gone>]: number };
  #hasCounted = false;

  constructor(kind: WorkKind<Item, Status, Gone>, transaction: Transaction) {
    this.#kind = kind;
    this.#transaction = transaction;
    this.#attendant = kind.attend(transaction);
    this.#totals = { ...kind.totals.read(transaction) };
  }

  /** With what has changed so far. */
  get totals(): WorkTotals<Status, Gone> {
    return this.#totals;
  }

  /** Stages a new piece of work; its bytes. */
  accept(item: Item): Buffer {
    this.count(this.#kind.statusIn(item), 1);
    return this.put(item);
  }

  /** Stages a piece of work that the totals count already; its bytes. See `WorkKind.encode`. */
  put(item: Item, before: Buffer | null = null): Buffer {
    const { collection, idOf, encode } = this.#kind;
    return this.#transaction.put(collection.name, idOf(item), encode(item, before)).bytes;
  }

  /** Counts accepted work whose records are staged otherwise, or follow. */
  count(status: Status, count: number): void {
    this.#totals.accepted += count;
    this.#totals[status] += count;
    this.#hasCounted = true;
  }

  /**
   * Stages a record as `change` makes it; undefined when it is gone or stays as it is. `known` is
   * not decoded again while its bytes are still the record's.
   */
  change(id: string, change: WorkChange<Item>, known: Known<Item> | null = null): Item | undefined {
    const bytes = this.#transaction.find(this.#kind.collection.name, id);
    if (bytes === undefined) return undefined;
    const before = known !== null && isSame(known.bytes, bytes)
      ? known.item : this.#kind.decode(bytes);
    const after = change(before);
    if (after === null) return undefined;
    this.put(after, bytes);
    const [from, to] = [this.#kind.statusIn(before), this.#kind.statusIn(after)];
    if (from !== to) this.#move(id, from, to, () => after, null);
    return after;
  }

  /** Deletes a record if `isMeant` says so of it as it is now. Whether it did. */
  remove(id: string, gone: Gone | 'agedOut', isMeant: (bytes: Buffer) => boolean): boolean {
    const { collection, statusOf, decode } = this.#kind;
    const bytes = this.#transaction.find(collection.name, id);
    if (bytes === undefined || !isMeant(bytes)) return false;
    this.#transaction.delete(collection.name, id);
    this.#move(id, statusOf(bytes), gone, () => decode(bytes), bytes);
    return true;
  }

  complete(): void {
    this.#attendant.complete();
    if (this.#hasCounted) this.#kind.totals.write(this.#transaction, this.#totals);
  }

  #move(
    id: string, from: Status, to: Status | Gone | 'agedOut', item: () => Item,
    bytes: Buffer | null,
  ): void {
    this.#totals[from] -= 1;
    this.#totals[to] += 1;
    this.#hasCounted = true;
    this.#attendant.moved(id, from, to, item, bytes);
  }
}

/** Whether both are one place in memory; what lies there never changes. */
export function isSame(left: Buffer, right: Buffer): boolean {
  return left.buffer === right.buffer && left.byteOffset === right.byteOffset
    && left.length === right.length;
}
