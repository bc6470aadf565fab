/**
 * The form in which durable records are written. Since version 1.1 it is the new one, in which a
 * request has a delivery for each of its routes (request-codec.ts). Nodes that share a log with
 * nodes of an older version, which cannot read it, write the old form until the last of these is
 * gone. While that is so, the record `{"identifier":"old-form"}` is in the collection of the
 * requests' totals, where older nodes pass over it. The transaction that deletes it puts
 * `{"identifier":"records","form":2}` into `record-forms`, a collection that an older program
 * refuses to read.
 */
import type { CollectionSpec, FindRecord, Store, Transaction } from '../../store/store-port.ts';

export const recordFormCollection: CollectionSpec = { name: 'record-forms', key: 'identifier' };

const MARK_COLLECTION = 'request-totals';
const MARK_ID = 'old-form';
const FORM_ID = 'records';

/** Whether records must be written in a form that older nodes can read. */
export function mustWriteOldForm(find: FindRecord): boolean {
  return find(MARK_COLLECTION, MARK_ID) !== undefined;
}

/** Has all nodes write the old form from now on, unless the new form has begun already. */
export async function keepOldForm(store: Store): Promise<void> {
  await store.transact((transaction) => {
    if (transaction.find(recordFormCollection.name, FORM_ID) !== undefined) return;
    if (transaction.find(MARK_COLLECTION, MARK_ID) !== undefined) return;
    transaction.put(MARK_COLLECTION, MARK_ID, JSON.stringify({ identifier: MARK_ID }));
  });
}

/** Begins the new form if `mayBegin`, which is asked within the transaction. */
export async function beginNewForm(
  store: Store, mayBegin: (transaction: Transaction) => boolean,
): Promise<void> {
  if (!mustWriteOldForm((collection, id) => store.collection(collection).findBytes(id))) return;
  await store.transact((transaction) => {
    if (!mayBegin(transaction)) return;
    transaction.delete(MARK_COLLECTION, MARK_ID);
    const json = JSON.stringify({ identifier: FORM_ID, form: 2 });
    transaction.put(recordFormCollection.name, FORM_ID, json);
  });
}
