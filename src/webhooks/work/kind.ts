/**
 * Work is what lies on disk until it is done, and some time after: deliveries and kept requests are
 * the kinds of it. A piece of work is one record with a status; `pending` is the one that waits.
 */
import type { Collection, CollectionSpec, Transaction } from '../../store/store-port.ts';
import type { TotalsRecord } from './totals.ts';

/** `Gone`: the ways besides `agedOut` in which a record may leave; each is counted. */
export type WorkKind<Item, Status extends string, Gone extends string = never> = {
  /** In the plural, for messages. */
  readonly noun: string;
  readonly collection: CollectionSpec;
  readonly totals: TotalsRecord<Status, Gone>;
  readonly idOf: (item: Item) => string;
  readonly decode: (bytes: Buffer) => Item;
  /**
   * One line, read at once. `before` is the record of an earlier version, of which it may copy what
   * never changes.
   */
  readonly encode: (item: Item, before: Buffer | null) => string | Buffer;
  readonly statusIn: (item: Item) => Status;
  /** Without parsing, as is `updatedMsOf`: milliseconds since the epoch. */
  readonly statusOf: (bytes: Buffer) => Status;
  readonly updatedMsOf: (bytes: Buffer) => number;
  /** Keeps in one transaction what belongs to the work and lies in records of its own. */
  readonly attend: (transaction: Transaction) => Attendant<Item, Status, Gone>;
};

export interface Attendant<Item, Status extends string, Gone extends string> {
  /**
   * A piece of work has changed its status, or left. `item` decodes it only when called; of one
   * that left, `bytes` are what was stored.
   */
  moved(
    id: string, from: Status, to: Status | Gone | 'agedOut', item: () => Item,
    bytes: Buffer | null,
  ): void;
  /** All changes of the transaction are staged. */
  complete(): void;
}

/** A piece of work and the bytes it was decoded from, which never change. */
export type Known<Item> = { readonly bytes: Buffer; readonly item: Item };

/** Makes of a piece of work what it becomes; null leaves it as it is. */
export type WorkChange<Item> = (before: Item) => Item | null;

/** Pieces of work changed in one transaction: it is a few milliseconds of it. */
export const CHUNK = 250;
/** And their bytes, where they hold answers or a body. */
const CHUNK_BYTES = 1 << 19;

/** As many pieces of work, from the first on, as one transaction should change. */
export function firstChunk<T>(items: readonly T[], bytesOf: (item: T) => number): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && (index === CHUNK || bytes > CHUNK_BYTES);
  });
  return items.slice(0, end === -1 ? items.length : end);
}

/** Tells the bytes of a stored record by its id. */
export function sizesIn(records: Collection): (id: string) => number {
  return (id) => records.findBytes(id)?.length ?? 0;
}
