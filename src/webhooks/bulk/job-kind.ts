/** The interface of a kind of job. The jobs themselves do not know what is done to a record. */
import type { JsonObject } from '../../base/schema.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import type { Job, JobCounts } from './job.ts';

export interface JobKind {
  /**
   * Finds the webhook that a job of this filter is for, if its deliveries are held while the job
   * runs: see stage-job.ts. Absent: no job of this kind holds any.
   */
  findHeldWebhookId?(filter: JsonObject): string;
  /** Resolves when a job that is added now may begin its selection. Absent: it always may. */
  whenReady?(): Promise<void>;
  /** Selects the records that match a filter, which was parsed before. */
  select(filter: JsonObject): RecordSelection;
}

export type JobKinds = Readonly<Record<string, JobKind>>;

export interface RecordSelection {
  /**
   * Resolves with the last id there is, once all accepted records are written; null without
   * records. Records that are added later do not belong to the selection, although their ids may
   * be lower than that one.
   */
  begin(): Promise<string | null>;
  count(upTo: string): Promise<number>;
  /**
   * Finds the next matching records behind the id `after`, up to the id `upTo`, in order. If they
   * are fewer than `max`, there are no more.
   */
  next(after: string | null, upTo: string, max: number): Promise<readonly RecordMatch[]>;
  /**
   * Stages what the job does to these records, but for those that do not match any more. Throws
   * `unavailable` when there is no room for the result.
   */
  stage(
    transaction: Transaction, ids: readonly string[], inputs: TransactionInputs,
    job: Pick<Job, 'id' | 'token'>,
  ): JobCounts;
  /** Stops watching for added records. Idempotent. */
  end(): void;
}

/** A record that matches, with its length, which bounds a chunk. */
export type RecordMatch = { readonly id: string; readonly bytes: number };
