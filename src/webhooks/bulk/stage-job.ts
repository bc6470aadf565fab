/**
 * Stages jobs, each together with the hold that it has on the deliveries of a webhook while it
 * runs (backfill-hold.ts), so that no hold is ever on disk without its job.
 */
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { findCommitted, walkRecords } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import {
  backfillCollection, decodeHoldingJobId, deleteHold, findHoldingJobId, putHold,
} from '../deliveries/backfill-hold.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import { decodeJob, encodeJob, jobCollection, type Job } from './job.ts';

/**
 * Stages a new job. Throws `conflict` if another one runs where one may: see job.ts for `running`;
 * `not_found` if the webhook it is for is gone.
 */
export function stageNewJob(transaction: Transaction, job: Job): void {
  const { id, kind, hook, status } = job;
  if (hook !== undefined && transaction.find(outgoingCollection.name, hook) === undefined) {
    throw notFoundError('outgoing webhook', hook);
  }
  try {
    transaction.put(jobCollection.name, id, encodeJob(job));
  } catch (thrown) {
    if (!(thrown instanceof AppError && thrown.code === 'conflict')) throw thrown;
    const what = hook === undefined ? `a job of this kind (${kind})`
      : `a job of this kind (${kind}) for this webhook`;
    throw new AppError('conflict', `${what} runs already: wait for its end (job:list, or GET `
      + '/api/jobs), or cancel it (job:cancel, or DELETE /api/jobs/{id})', {}, thrown);
  }
  if (hook !== undefined && status === 'running') putHold(transaction, hook, id);
}

export function stageJobChange(transaction: Transaction, job: Job): void {
  const { id, hook, status } = job;
  transaction.put(jobCollection.name, id, encodeJob(job));
  if (hook !== undefined && status !== 'running') deleteHold(transaction, hook, id);
}

/**
 * Stages that a job is cancelled, and returns it; a job that has ended stays as it is. `reason`:
 * see `Job`.
 */
export function stageJobCancel(
  transaction: Transaction, job: Job, updatedAt: string, reason?: string,
): Job {
  if (job.status !== 'running') return job;
  const cancelledJob: Job = {
    ...job, status: 'cancelled', updatedAt, ...reason === undefined ? {} : { reason },
  };
  stageJobChange(transaction, cancelledJob);
  return cancelledJob;
}

/** Stages the cancelling of a removed webhook's backfill, and the end of its hold. */
export function stageHoldingJobCancel(
  transaction: Transaction, webhookId: string, updatedAt: string,
): void {
  const jobId = findHoldingJobId(transaction, webhookId);
  if (jobId === null) return;
  const bytes = transaction.find(jobCollection.name, jobId);
  if (bytes !== undefined) {
    stageJobCancel(transaction, decodeJob(bytes), updatedAt, 'its webhook was removed');
  }
  // The hold ends also where the job is gone, or has ended already.
  deleteHold(transaction, webhookId, jobId);
}

/** Stages the hold of a job that goes on: it has none if it had stopped through a bug. */
export function stageMissingHold(transaction: Transaction, { id, hook }: Job): void {
  if (hook === undefined || findHoldingJobId(transaction, hook) !== null) return;
  const bytes = transaction.find(jobCollection.name, id);
  if (bytes !== undefined && decodeJob(bytes).status === 'running') putHold(transaction, hook, id);
}

/** Finds holds whose job does not run. */
export function findHoldProblems(store: Pick<Store, 'collection'>): readonly string[] {
  const find = findCommitted(store);
  const problems: string[] = [];
  for (const { id: webhookId, bytes } of walkRecords(store.collection(backfillCollection.name))) {
    const jobId = decodeHoldingJobId(bytes);
    const job = find(jobCollection.name, jobId);
    if (job !== undefined && decodeJob(job).status === 'running') continue;
    problems.push(`the deliveries of webhook ${webhookId} wait for job ${jobId}, `
      + 'which does not run');
  }
  return problems;
}
