/**
 * How many requests there are and were, kept in one record that changes with them: accepted =
 * pending + done + failed + filtered + duplicate + agedOut + deleted, always.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { Collection, CollectionSpec, Transaction } from '../../store/port.ts';
import type { RequestStatus } from './request.ts';

/** A status of a request that is on disk. */
export type KeptStatus = Exclude<RequestStatus, 'rejected'>;
export type RequestTotals =
  Readonly<Record<KeptStatus | 'accepted' | 'agedOut' | 'deleted', number>>;

export const requestTotalsCollection: CollectionSpec = {
  name: 'request-totals', key: 'identifier',
};

const TOTALS_ID = 'totals';
const NO_TOTALS: RequestTotals = {
  accepted: 0, pending: 0, done: 0, failed: 0, filtered: 0, duplicate: 0, agedOut: 0, deleted: 0,
};

/** As staged in the transaction. */
export function readRequestTotals(transaction: Pick<Transaction, 'find'>): RequestTotals {
  return decodeTotals(transaction.find(requestTotalsCollection.name, TOTALS_ID));
}

/** As committed. */
export function committedRequestTotals(collection: Collection): RequestTotals {
  return decodeTotals(collection.find(TOTALS_ID)?.bytes);
}

export function writeRequestTotals(transaction: Transaction, totals: RequestTotals): void {
  const json = JSON.stringify({ identifier: TOTALS_ID, ...totals });
  decoded.set(transaction.put(requestTotalsCollection.name, TOTALS_ID, json).bytes, totals);
}

// The next transaction mostly reads the bytes that the last one staged, and bytes never change.
const decoded = new WeakMap<Buffer, RequestTotals>();

function decodeTotals(bytes: Buffer | undefined): RequestTotals {
  if (bytes === undefined) return NO_TOTALS;
  const known = decoded.get(bytes);
  if (known !== undefined) return known;
  const record: unknown = JSON.parse(bytes.toString('utf8'));
  if (!isJsonObject(record)) return NO_TOTALS;
  const entries = Object.keys(NO_TOTALS).map((name) => [name, Number(record[name] ?? 0)]);
  return { ...NO_TOTALS, ...Object.fromEntries(entries) as Partial<RequestTotals> };
}
