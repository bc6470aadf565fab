/** Functions that find the bytes of records: as committed, or as a transaction sees them. */
import type { FindRecord, Store, Transaction } from './store-port.ts';

export function findCommitted(store: Pick<Store, 'collection'>): FindRecord {
  return (collection, id) => store.collection(collection).findBytes(id);
}

export function findStaged(transaction: Pick<Transaction, 'find'>): FindRecord {
  return (collection, id) => transaction.find(collection, id);
}
