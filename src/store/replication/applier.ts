/** Applies other nodes' committed transactions to the records in memory. */
import { AppError } from '../../base/errors.ts';
import type { Change, LoggedTransaction } from '../store-port.ts';
import type { StoredCollection } from '../records/collection.ts';
import type { ChangeFeed } from '../transactions/change-feed.ts';

type AppliedRecords = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  /** Null while the records are loaded: nobody follows the changes yet. */
  readonly feed: ChangeFeed | null;
  readonly onListenerError: (error: unknown) => void;
};

/** Throws `damaged`, before anything is applied, for a collection that this version lacks. */
export function checkCollections(
  collections: ReadonlyMap<string, StoredCollection>, transactions: readonly LoggedTransaction[],
): void {
  for (const { operations } of transactions) {
    const unknown = operations.find(({ collection }) => !collections.has(collection));
    if (unknown === undefined) continue;
    throw new AppError('damaged', `the log holds records of "${unknown.collection}", which this `
      + 'version does not know: start the newer hookshelf that wrote them');
  }
}

/** Applies transactions in order, and notifies the feed of each. */
export function applyTransactions(
  records: AppliedRecords, transactions: readonly LoggedTransaction[],
): void {
  for (const { sequence, operations } of transactions) {
    const changes: Change[] | null = records.feed?.isFollowed === true ? [] : null;
    for (const { collection: name, id, bytes } of operations) {
      const collection = records.collections.get(name);
      if (collection === undefined) continue;
      changes?.push({
        collection: name, id, before: collection.findBytes(id) ?? null, after: bytes,
      });
      try {
        if (bytes === null) collection.applyDelete(id);
        else putBytes(collection, id, bytes);
      } catch (error) {
        // Only a listener of the collection throws, which is a bug of it: the record is in place.
        records.onListenerError(error);
      }
    }
    if (changes !== null) records.feed?.notify(sequence, changes);
  }
}

export function putBytes(collection: StoredCollection, id: string, bytes: Buffer): void {
  collection.applyPut(id, collection.table.arena.appendBytes(bytes, 0, bytes.length), null);
}
