/**
 * A durable queue holds items on disk until they are done, and some time after. There are two of
 * them: deliveries of webhooks and forwards, and stored requests. An item is one record with a
 * status. A request has parts as well, each a record of its own: the deliveries of its routes,
 * which are in the collection `deliveries` but belong to the queue of requests. The pending items
 * wait for an attempt.
 */
import type {
  Collection, CollectionSpec, FindRecord, Transaction,
} from '../../store/store-port.ts';

export type ItemSpec<Item> = {
  /** The plural, for messages and as the key of the record of removals. */
  readonly noun: string;
  readonly collection: CollectionSpec;
  readonly idOf: (item: Item) => string;
  readonly read: (bytes: Buffer, find: FindRecord) => Item;
  /** Whether an item that was read before still is what the records say. */
  readonly isCurrent: (storedItem: StoredItem<Item>, bytes: Buffer, find: FindRecord) => boolean;
  /** Stages at least the changes since `before`. */
  readonly stageChange: (transaction: Transaction, item: Item, before: Item) => void;
  /** Stages the removal of the item's records, of which `bytes` is the first. */
  readonly stageRemoval: (transaction: Transaction, id: string, bytes: Buffer) => void;
};

/** The members that a removal needs, whatever the items are. */
export type RemovalSpec = Pick<ItemSpec<unknown>, 'noun' | 'collection' | 'stageRemoval'>;

/** An item and the bytes it was decoded from, which never change. */
export type StoredItem<Item> = {
  readonly bytes: Buffer;
  readonly item: Item;
  /** The records of its parts: the deliveries of a request to its routes, in their order. */
  readonly partBytes?: readonly Buffer[];
};

/** Whether both are the same memory, which for records means the same version. */
export function isSameMemory(left: Buffer, right: Buffer): boolean {
  return left.buffer === right.buffer && left.byteOffset === right.byteOffset
    && left.length === right.length;
}

export type ItemChange<Item> = (before: Item) => Item | null;

/** Most items changed in one transaction, which takes a few milliseconds. */
export const CHUNK_ITEMS_MAX = 250;
/** Most bytes of these items: an item may hold responses or a body. */
const CHUNK_BYTES_MAX = 1 << 19;

/** Takes as many items from the front as one transaction should change, at least one. */
export function takeChunk<T>(items: readonly T[], bytesOf: (item: T) => number): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && (index === CHUNK_ITEMS_MAX || bytes > CHUNK_BYTES_MAX);
  });
  return items.slice(0, end === -1 ? items.length : end);
}

/** Makes a function that returns the bytes of a record by its id; 0 without a record. */
export function createSizeLookup(records: Collection): (id: string) => number {
  return (id) => records.findBytes(id)?.length ?? 0;
}
