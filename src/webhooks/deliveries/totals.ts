/**
 * How many deliveries there are and were, kept in one record that changes with them: accepted =
 * pending + delivered + failed + cancelled + agedOut, always.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { Collection, CollectionSpec, Transaction } from '../../store/port.ts';
import type { DeliveryStatus } from './delivery.ts';

export type Totals = Readonly<Record<DeliveryStatus | 'accepted' | 'agedOut', number>>;

export const totalsCollection: CollectionSpec = { name: 'delivery-totals', key: 'identifier' };

const TOTALS_ID = 'totals';
const NO_TOTALS: Totals = {
  accepted: 0, pending: 0, delivered: 0, failed: 0, cancelled: 0, agedOut: 0,
};

/** As staged in the transaction. */
export function readTotals(transaction: Pick<Transaction, 'find'>): Totals {
  return decodeTotals(transaction.find(totalsCollection.name, TOTALS_ID));
}

/** As committed. */
export function committedTotals(collection: Collection): Totals {
  return decodeTotals(collection.find(TOTALS_ID)?.bytes);
}

export function writeTotals(transaction: Transaction, totals: Totals): void {
  const { accepted, pending, delivered, failed, cancelled, agedOut } = totals;
  const json = `{"identifier":"${TOTALS_ID}","accepted":${accepted},"pending":${pending},`
    + `"delivered":${delivered},"failed":${failed},"cancelled":${cancelled},"agedOut":${agedOut}}`;
  decoded.set(transaction.put(totalsCollection.name, TOTALS_ID, json).bytes, totals);
}

// The next transaction mostly reads the bytes that the last one staged, and bytes never change.
const decoded = new WeakMap<Buffer, Totals>();

function decodeTotals(bytes: Buffer | undefined): Totals {
  if (bytes === undefined) return NO_TOTALS;
  const known = decoded.get(bytes);
  if (known !== undefined) return known;
  const record: unknown = JSON.parse(bytes.toString('utf8'));
  if (!isJsonObject(record)) return NO_TOTALS;
  const entries = Object.keys(NO_TOTALS).map((name) => [name, Number(record[name] ?? 0)]);
  return { ...NO_TOTALS, ...Object.fromEntries(entries) as Partial<Totals> };
}
