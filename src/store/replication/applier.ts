/** Applies to the records in memory what other nodes have committed. */
import { AppError } from '../../base/errors.ts';
import type { CommittedChange, LoggedTransaction } from '../store-port.ts';
import type { StoredCollection } from '../records/collection.ts';
import type { ChangeFeed } from '../transactions/change-feed.ts';

type AppliedRecords = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  /** Null while nobody listens yet. */
  readonly feed: ChangeFeed | null;
  readonly onListenerError: (error: unknown) => void;
};

/** Throws `damaged`, before anything is applied, for a collection that this version lacks. */
export function checkCollections(
  collections: ReadonlyMap<string, StoredCollection>, transactions: readonly LoggedTransaction[],
): void {
  for (const { changes } of transactions) {
    const unknown = changes.find(({ collection }) => !collections.has(collection));
    if (unknown === undefined) continue;
    throw new AppError('damaged', `the log holds records of "${unknown.collection}", which this `
      + 'version does not know: start the newer hookshelf that wrote them');
  }
}

export function applyTransactions(
  records: AppliedRecords, transactions: readonly LoggedTransaction[],
): void {
  for (const { sequence, changes } of transactions) {
    const told: CommittedChange[] | null = records.feed?.isFollowed === true ? [] : null;
    for (const { collection: name, id, after } of changes) {
      const collection = records.collections.get(name);
      if (collection === undefined) continue;
      const key = after === null ? id : collection.readKey(after);
      told?.push({ collection: name, id: key, before: collection.findBytes(key) ?? null, after });
      try {
        if (after === null) collection.applyDelete(key);
        else putBytes(collection, key, after);
      } catch (error) {
        // A listener's bug: the record itself is in place.
        records.onListenerError(error);
      }
    }
    if (told !== null) records.feed?.notify(sequence, told);
  }
}

export function putBytes(collection: StoredCollection, id: string, bytes: Buffer): void {
  collection.applyPut(id, collection.table.arena.appendBytes(bytes, 0, bytes.length), null);
}
