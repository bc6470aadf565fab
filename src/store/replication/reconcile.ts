/**
 * Makes the live records of a node, which others hold references to, equal to newly loaded ones.
 * Projections learn only of records that differ. It runs in short turns of the event loop; between
 * them the records are a mixture of old and new, so nobody may read them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredCollection } from '../records/collection.ts';
import { putBytes } from './applier.ts';

const RECORDS_A_TURN = 500;

type Collections = ReadonlyMap<string, StoredCollection>;

export async function reconcile(
  live: Collections, target: Collections, onListenerError: (error: unknown) => void,
): Promise<void> {
  for (const [name, collection] of live) {
    const targetCollection = target.get(name);
    if (targetCollection === undefined) continue;
    const change = (run: () => void): void => {
      try {
        run();
      } catch (error) {
        onListenerError(error);
      }
    };
    // Deletions come first: a unique value may have gone from one record to another.
    const isUnique = collection.unique.isUsed;
    await visitRecords(collection, (id, bytes) => {
      const other = targetCollection.findBytes(id);
      const isGone = other === undefined || (isUnique && !other.equals(bytes));
      if (isGone) change(() => collection.applyDelete(id));
    });
    await visitRecords(targetCollection, (id, bytes) => {
      if (collection.findBytes(id)?.equals(bytes) === true) return;
      change(() => putBytes(collection, id, bytes));
    });
  }
}

async function visitRecords(
  collection: StoredCollection, visit: (id: string, bytes: Buffer) => void,
): Promise<void> {
  const walk = collection.walk();
  let count = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    const id = collection.idAt(slot);
    const bytes = collection.bytesAt(slot);
    if (id !== undefined && bytes !== undefined) visit(id, bytes);
    count += 1;
    if (count % RECORDS_A_TURN === 0) await nextTurn();
  }
}
