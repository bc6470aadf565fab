/**
 * Makes records in memory, which others hold on to, the same as those of another image. Only what
 * differs is told, as changes. In short turns; between them the records are neither the one nor
 * the other image.
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
    // First, so that a value that has changed hands is free.
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
