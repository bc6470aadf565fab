/**
 * The hold that a backfill has on the deliveries of its webhook: deliveries placed after the job's
 * start wait until it ends, so that the ones it makes go first. It is a record of the collection
 * `backfills`:
 *
 *     {"identifier":"<webhook>","job":"<job>"}
 *
 * The record is put in the transaction that adds the job, and deleted in the one that ends it,
 * whether the job is done, is cancelled, or its webhook is removed; also when the job stops through
 * a bug. A hold that is left behind would keep a webhook from sending for ever. The id of the job,
 * a UUIDv7, is its start: it compares with the places of tasks.
 */
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { decodeRecordAs } from '../../resources/record.ts';

export const backfillCollection: CollectionSpec = { name: 'backfills', key: 'identifier' };

export function putHold(transaction: Transaction, webhookId: string, jobId: string): void {
  const json = JSON.stringify({ identifier: webhookId, job: jobId });
  transaction.put(backfillCollection.name, webhookId, json);
}

/** Deletes the hold of that job, unless another job has one by now. */
export function deleteHold(transaction: Transaction, webhookId: string, jobId: string): void {
  if (findHoldingJobId(transaction, webhookId) !== jobId) return;
  transaction.delete(backfillCollection.name, webhookId);
}

export function findHoldingJobId(
  transaction: Pick<Transaction, 'find'>, webhookId: string,
): string | null {
  const bytes = transaction.find(backfillCollection.name, webhookId);
  return bytes === undefined ? null : decodeHoldingJobId(bytes);
}

export function decodeHoldingJobId(bytes: Buffer): string {
  return decodeRecordAs<{ readonly job: string }>(bytes, ({ job }) => typeof job === 'string').job;
}
