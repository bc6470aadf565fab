/**
 * Functions that find the bytes and ids of records, as committed or as a transaction sees them, and
 * walk over all that are committed.
 */
import type { Collection, FindRecord, Store, Transaction } from './store-port.ts';

export function findCommitted(store: Pick<Store, 'collection'>): FindRecord {
  return (collection, id) => store.collection(collection).findBytes(id);
}

export function findStaged(transaction: Pick<Transaction, 'find'>): FindRecord {
  return (collection, id) => transaction.find(collection, id);
}

/** The key of the record that has this key, else of the one that has this name. */
export function resolveKey(
  collection: Pick<Collection, 'findBytes' | 'idByName'>, name: string,
): string | undefined {
  return collection.findBytes(name) === undefined ? collection.idByName.get(name) : name;
}

/** Lists the ids that begin with `prefix` and are longer, in their order. */
export function listCommittedIds(
  records: Pick<Collection, 'walk' | 'idAt'>, prefix = '',
): string[] {
  const walk = records.walk({ after: prefix });
  const next = (): string | undefined => records.idAt(walk.next());
  const ids: string[] = [];
  for (let id = next(); id?.startsWith(prefix); id = next()) ids.push(id);
  return ids;
}

type WalkedRecord = { readonly slot: number; readonly id: string; readonly bytes: Buffer };

/** Visits every record in the order of their ids; `Walk` says what a write meanwhile changes. */
export function* walkRecords(
  collection: Pick<Collection, 'walk' | 'idAt' | 'bytesAt'>,
): Generator<WalkedRecord> {
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const id = collection.idAt(slot);
    const bytes = collection.bytesAt(slot);
    if (id !== undefined && bytes !== undefined) yield { slot, id, bytes };
  }
}
