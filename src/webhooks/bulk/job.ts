/**
 * A job does one thing to many records, chunk by chunk, and goes on after a restart. It takes the
 * records that existed when it began, in order of their ids: those up to `after` are dealt with,
 * and `upTo` is the last one.
 *
 * A stored job is one JSON object on one line: `{"id", "createdAt", "updatedAt", "kind", "status",
 * "reason"?, "running"?, "hook"?, "token"?, "total", "done", "failed", "after", "upTo", "filter"}`.
 * `reason` is there when nobody has cancelled the job, and it was ended all the same. `running` is
 * there only while the job runs, and is unique in the collection. It is the kind, so that one
 * job of each kind runs at a time; for a kind of which one may run for each webhook, kind and
 * webhook. `hook` is that webhook. A job that a token has begun which is bound to webhooks has the
 * token's identifier as `token`, and that behind the kind where no webhook is: one of each such
 * token runs at a time. The changes of a chunk and the job that counts them are one
 * transaction.
 */
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { objectSchema, TEXT, COUNT } from '../../resources/route-specs.ts';
import type { CollectionSpec } from '../../store/store-port.ts';

export const jobCollection: CollectionSpec = { name: 'jobs', key: 'id', unique: ['running'] };

const JOB_STATUSES = ['running', 'done', 'cancelled'] as const;

type JobStatus = typeof JOB_STATUSES[number];

export type Job = {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly kind: string;
  readonly status: JobStatus;
  /** Why it has ended before its time; absent where somebody cancelled it. */
  readonly reason?: string | undefined;
  /** The records that matched when the job began; corrected to what it has really dealt with. */
  readonly total: number;
  readonly done: number;
  /** The records with which it could not be done. */
  readonly failed: number;
  /** The webhook whose deliveries it holds while it runs; absent: it holds none. */
  readonly hook?: string | undefined;
  /** The identifier of the token that has begun it; absent where that was bound to no webhooks. */
  readonly token?: string | undefined;
  /** The last id that the job has dealt with; null before the first. */
  readonly after: string | null;
  readonly upTo: string;
  readonly filter: JsonObject;
};

/** Counts the records of a chunk with which it was done, and with which it could not be done. */
export type JobCounts = { readonly done: number; readonly failed: number };

export const JOB_SCHEMA = objectSchema('Job', {
  id: TEXT, kind: TEXT, status: { kind: 'string', values: JOB_STATUSES },
  reason: [TEXT, 'Why it has ended before its time; null where it has not, or was cancelled'],
  total: COUNT, done: COUNT, failed: COUNT, hook: TEXT,
}, { nullable: ['reason', 'hook'] });

/** A dry run: how many records a job would take. */
export const COUNT_SCHEMA = objectSchema('Count', { count: COUNT });

export function toPublicJob(
  { id, kind, status, reason, total, done, failed, hook }: Job,
): JsonObject {
  return { id, kind, status, reason: reason ?? null, total, done, failed, hook: hook ?? null };
}

/** Returns the job after a chunk that ended with the id `after`; `isEnd` for the last chunk. */
export function advance(
  job: Job, { done, failed }: JobCounts, after: string, isEnd: boolean, at: string,
): Job {
  const counts = { done: job.done + done, failed: job.failed + failed };
  const sum = counts.done + counts.failed;
  return {
    ...job, ...counts, updatedAt: at, status: isEnd ? 'done' : 'running', after,
    total: isEnd ? sum : Math.max(job.total, sum),
  };
}

export function encodeJob(job: Job): string {
  const { id, createdAt, updatedAt, kind, status, reason, hook, token } = job;
  const { total, done, failed, after, upTo, filter } = job;
  const owner = hook ?? token;
  const place = owner === undefined ? kind : `${kind} ${owner}`;
  return JSON.stringify({
    id, createdAt, updatedAt, kind, status, reason,
    running: status === 'running' ? place : undefined,
    hook, token, total, done, failed, after, upTo, filter,
  });
}

export function decodeJob(bytes: Buffer): Job {
  // `running` follows from status, kind and webhook.
  const { running: _, ...job } = decodeRecordAs<Job & { readonly running?: string }>(bytes,
    ({ kind, status, total, done, failed, upTo, filter }) =>
      typeof kind === 'string' && JOB_STATUSES.some((candidate) => candidate === status)
      && [total, done, failed].every((value) => typeof value === 'number')
      && typeof upTo === 'string' && typeof filter === 'object');
  return job;
}
