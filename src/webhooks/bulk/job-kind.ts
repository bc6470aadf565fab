/** What a kind of job has to say for itself; jobs know nothing else of what they do. */
import type { JsonObject } from '../../base/schema.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import type { JobCounts } from './job.ts';

export interface JobKind {
  /** The records that a filter means; it was checked before. */
  select(filter: JsonObject): RecordSelection;
}

export interface RecordSelection {
  /**
   * The last id there is; null when there is none. Resolves once all that was accepted is seen.
   * What is added from then on is left out, though its id may lie before that one.
   */
  begin(): Promise<string | null>;
  /** How many match, up to that id. */
  count(upTo: string): Promise<number>;
  /** The next that match, in order, up to `max` of them: fewer than that are the last ones. */
  next(after: string | null, upTo: string, max: number): Promise<readonly RecordMatch[]>;
  /**
   * Stages what is done to these records, and leaves out those that match no more. Throws
   * `unavailable` when there is no room for what it would make.
   */
  stage(transaction: Transaction, ids: readonly string[], drawn: TransactionInputs): JobCounts;
  /** Idempotent. */
  end(): void;
}

/** A record that matches, and its bytes, which bound a chunk. */
export type RecordMatch = { readonly id: string; readonly bytes: number };
