/**
 * Functions that find the bytes of records, as committed or as a transaction sees them, and the ids
 * of all that are committed.
 */
import type { Collection, FindRecord, Store, Transaction } from './store-port.ts';

export function findCommitted(store: Pick<Store, 'collection'>): FindRecord {
  return (collection, id) => store.collection(collection).findBytes(id);
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

export function findStaged(transaction: Pick<Transaction, 'find'>): FindRecord {
  return (collection, id) => transaction.find(collection, id);
}
