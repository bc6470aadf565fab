/**
 * The form in which durable records are written. In the new one, that of version 1.1, a request has
 * a delivery for each of its routes, and a made body is a record (request-codec.ts,
 * delivery-body.ts). Older versions cannot read it. Two records say which form is written:
 * - `{"identifier":"old-form"}`: the old one, as nodes of an older version share the log. It is in
 *   the collection of the requests' totals, as older nodes pass over what they do not know there.
 * - `{"identifier":"records","form":2}` in `record-forms`: the new one, begun by the transaction
 *   that deleted the other. An older program refuses to read this collection, and stops.
 * - neither: the new one. Here the format of the log or of the files keeps an older program out.
 *
 * When which is written, app/form-upkeep.ts says. A feature whose records an older program does not
 * know calls `checkNewForm` first, which throws while the old form is written.
 */
import { AppError } from '../../base/errors.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { CollectionSpec, FindRecord, Store } from '../../store/store-port.ts';

export const recordFormCollection: CollectionSpec = { name: 'record-forms', key: 'identifier' };

/** The newest form that this release reads. A node says so in its record (node-records.ts). */
export const RECORD_FORM = 2;

const MARK_COLLECTION = 'request-totals';
const OLD_FORM_ID = 'old-form';
const NEW_FORM_ID = 'records';

/** Whether records must be written in a form that older nodes can read. */
export function mustWriteOldForm(find: FindRecord): boolean {
  return find(MARK_COLLECTION, OLD_FORM_ID) !== undefined;
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
  if (find(recordFormCollection.name, NEW_FORM_ID) !== undefined || mustWriteOldForm(find)) return;
  // Another node may do the same meanwhile, so the transaction looks once more.
  await store.transact((transaction) => {
    if (transaction.find(recordFormCollection.name, NEW_FORM_ID) !== undefined) return;
    if (transaction.find(MARK_COLLECTION, OLD_FORM_ID) !== undefined) return;
    transaction.put(MARK_COLLECTION, OLD_FORM_ID, JSON.stringify({ identifier: OLD_FORM_ID }));
  });
}

/**
 * Begins the new form where the old one is written and `isReady` returns true; it is called within
 * the transaction.
 */
export async function beginNewForm(
  store: Store, isReady: () => boolean,
): Promise<void> {
  if (!mustWriteOldForm(findCommitted(store))) return;
  await store.transact((transaction) => {
    if (!isReady()) return;
    transaction.delete(MARK_COLLECTION, OLD_FORM_ID);
    const json = JSON.stringify({ identifier: NEW_FORM_ID, form: RECORD_FORM });
    transaction.put(recordFormCollection.name, NEW_FORM_ID, json);
  });
}
