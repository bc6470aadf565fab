/**
 * The form in which durable records are written. Since version 1.1 it is the new one, in which a
 * request has a delivery for each of its routes, and a made body is a record (request-codec.ts,
 * delivery-body.ts). Nodes that share a log with nodes of an older version, which cannot read it,
 * write the old form until the last of these is gone (app/form-upkeep.ts). While that is so, the
 * record `{"identifier":"old-form"}` is in the collection of the requests' totals, where older
 * nodes pass over it. The transaction that deletes it puts `{"identifier":"records","form":2}` into
 * `record-forms`, a collection that an older program refuses to read.
 *
 * A feature whose records an older program does not know asks `checkNewForm` first.
 */
import { AppError } from '../../base/errors.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { CollectionSpec, FindRecord, Store, Transaction } from '../../store/store-port.ts';

export const recordFormCollection: CollectionSpec = { name: 'record-forms', key: 'identifier' };

/** The newest form that this release reads. A node says so in its record (node-records.ts). */
export const RECORD_FORM = 2;

const MARK_COLLECTION = 'request-totals';
const MARK_ID = 'old-form';
const FORM_ID = 'records';

/** Whether records must be written in a form that older nodes can read. */
export function mustWriteOldForm(find: FindRecord): boolean {
  return find(MARK_COLLECTION, MARK_ID) !== undefined;
}

/**
 * Throws `unavailable` for a feature whose records older nodes could not read: they would stop.
 * `feature` is the subject of the sentence that says so.
 */
export function checkNewForm(find: FindRecord, feature: string): void {
  if (!mustWriteOldForm(find)) return;
  throw new AppError('unavailable', `${feature} has to wait for the end of an upgrade: begin this `
    + 'release at all nodes (node:list shows their versions); a minute after the last older one '
    + 'has stopped, all is there', { retryAfterS: 60 });
}

/** Has all nodes write the old form from now on, unless the new form has begun already. */
export async function keepOldForm(store: Store): Promise<void> {
  const find = findCommitted(store);
  if (find(recordFormCollection.name, FORM_ID) !== undefined || mustWriteOldForm(find)) return;
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
  if (!mustWriteOldForm(findCommitted(store))) return;
  await store.transact((transaction) => {
    if (!mayBegin(transaction)) return;
    transaction.delete(MARK_COLLECTION, MARK_ID);
    const json = JSON.stringify({ identifier: FORM_ID, form: RECORD_FORM });
    transaction.put(recordFormCollection.name, FORM_ID, json);
  });
}
