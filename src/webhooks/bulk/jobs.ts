/**
 * The jobs of a data directory. One of each kind runs at a time, of some kinds one for each
 * webhook. A second one is refused: mostly it is the same request sent again, and both would do the
 * same to the records that both select. A job starts when its record is applied. A job that stops
 * through a bug goes on at the next start, or on the next maintainer, and holds no deliveries until
 * then.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../base/assert.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { JsonObject } from '../../base/schema.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { walkRecords } from '../../store/find-record.ts';
import type { Collection, Transaction } from '../../store/store-port.ts';
import { decodeJob, jobCollection, type Job } from './job.ts';
import type { JobKind, JobKinds, RecordSelection } from './job-kind.ts';
import { runJob, type IsTokenInForce } from './run-job.ts';
import { retryUntilWritten } from '../work/write-retry.ts';
import { backfillCollection, deleteHold } from '../deliveries/backfill-hold.ts';
import type { RelayContext } from '../relay-context.ts';
import { stageJobCancel, stageMissingHold, stageNewJob } from './stage-job.ts';

/**
 * Most finished jobs to keep, of all tokens that are bound to no webhooks, and of each that is.
 * Older ones are removed when a job is added.
 */
const FINISHED_MAX = 100;

export class Jobs {
  readonly #context: RelayContext;
  readonly #kinds: JobKinds;
  readonly #isTokenInForce: IsTokenInForce;
  readonly #records: Collection;
  readonly #unlisten: readonly (() => void)[];
  readonly #closing = new AbortController();
  /** The jobs that run in this process, by id. */
  readonly #runs = new Map<string, Promise<void>>();
  /** The jobs that have stopped through a bug in this process, which does not run them again. */
  readonly #stoppedIds = new Set<string>();
  /**
   * The selections of jobs that this process has added and not started yet, by id. They go on with
   * the job, because they know which records were added since it began.
   */
  readonly #begunSelections = new Map<string, RecordSelection>();
  #isStarted = false;

  constructor(
    context: RelayContext, kinds: JobKinds, isTokenInForce: IsTokenInForce = () => true,
  ) {
    this.#context = context;
    this.#kinds = kinds;
    this.#isTokenInForce = isTokenInForce;
    this.#records = context.store.collection(jobCollection.name);
    this.#unlisten = [
      this.#records.onChange(({ id, before, after }) => {
        if (before === null && after !== null) this.#resumeJob(id, after);
      }),
      context.ownership.onChange(() => this.#resumeAll()),
    ];
  }

  /** Goes on with unfinished jobs. A command that opens the data directory does not call it. */
  start(): void {
    this.#isStarted = true;
    this.#resumeAll();
  }

  /** Starts all jobs that run nowhere. One of several nodes runs jobs, also those of another. */
  #resumeAll(): void {
    if (!this.#isStarted || !this.#context.ownership.isMaintainer()) return;
    for (const { id, bytes } of walkRecords(this.#records)) this.#resumeJob(id, bytes);
  }

  /** Resolves when no chunk is under way. Idempotent. */
  async close(): Promise<void> {
    this.#isStarted = false;
    for (const unlisten of this.#unlisten) unlisten();
    this.#closing.abort();
    await Promise.all(this.#runs.values());
  }

  /** Lists all jobs, newest first. */
  list(): Job[] {
    return [...walkRecords(this.#records)].map(({ bytes }) => decodeJob(bytes)).reverse();
  }

  /** Gets a job. Throws `not_found`. */
  get(id: string): Job {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined) throw notFoundError('job', id);
    return decodeJob(bytes);
  }

  /** Counts the records that a job would take. */
  async count(kind: string, filter: JsonObject): Promise<number> {
    const selection = this.#getKind(kind).select(filter);
    try {
      const upTo = await selection.begin();
      return upTo === null ? 0 : await selection.count(upTo);
    } finally {
      selection.end();
    }
  }

  /**
   * Adds a job; what `onAdded` stages is committed with it. Throws `conflict` while another runs
   * where one may, and `not_found` when the webhook that it is for is gone.
   */
  async add(
    kind: string, filter: JsonObject, { token, onAdded = () => {} }: {
      /** See `Job`. */
      readonly token?: string | undefined;
      readonly onAdded?: (transaction: Transaction, job: Job) => void;
    } = {},
  ): Promise<Job> {
    const { store, makeId } = this.#context;
    const id = makeId();
    const jobKind = this.#getKind(kind);
    await jobKind.whenReady?.();
    const selection = jobKind.select(filter);
    const hook = jobKind.findHeldWebhookId?.(filter);
    this.#begunSelections.set(id, selection);
    try {
      const job = await this.#begin({ id, kind, filter, hook, token }, selection);
      const oldJobs = this.list()
        .filter((other) => other.status !== 'running' && other.token === token)
        .slice(FINISHED_MAX - 1);
      await store.transact((transaction) => {
        stageNewJob(transaction, job);
        for (const { id: oldId } of oldJobs) transaction.delete(jobCollection.name, oldId);
        onAdded(transaction, job);
      });
      return job;
    } finally {
      // `#resumeJob` has taken the selection if the job was started.
      if (this.#begunSelections.delete(id)) selection.end();
    }
  }

  /**
   * Cancels a job. Its finished chunks stay, and a finished job stays as it is. Throws `not_found`.
   */
  async cancel(id: string): Promise<Job> {
    const { store, clock } = this.#context;
    const updatedAt = formatTimestamp(clock.now());
    return store.transact((transaction) => {
      const bytes = transaction.find(jobCollection.name, id);
      if (bytes === undefined) throw notFoundError('job', id);
      return stageJobCancel(transaction, decodeJob(bytes), updatedAt);
    });
  }

  async #begin(
    description: Pick<Job, 'id' | 'kind' | 'filter' | 'hook' | 'token'>,
    selection: RecordSelection,
  ): Promise<Job> {
    const upTo = await selection.begin();
    const total = upTo === null ? 0 : await selection.count(upTo);
    const at = formatTimestamp(this.#context.clock.now());
    return {
      ...description, createdAt: at, updatedAt: at, status: total === 0 ? 'done' : 'running',
      total, done: 0, failed: 0, after: null, upTo: upTo ?? '',
    };
  }

  #getKind(kind: string): JobKind {
    const { [kind]: jobKind } = this.#kinds;
    assert(jobKind !== undefined, `there are no jobs of ${kind}`);
    return jobKind;
  }

  #resumeJob(id: string, bytes: Buffer): void {
    const mayRun = this.#isStarted && this.#context.ownership.isMaintainer();
    if (!mayRun || this.#runs.has(id) || this.#stoppedIds.has(id)) return;
    const job = decodeJob(bytes);
    if (job.status !== 'running') return;
    const begunSelection = this.#begunSelections.get(id);
    this.#begunSelections.delete(id);
    this.#runs.set(id, this.#runOrStop(job, begunSelection));
  }

  async #runOrStop(job: Job, begunSelection: RecordSelection | undefined): Promise<void> {
    const { id, kind } = job;
    try {
      await this.#run(job, begunSelection);
    } catch (thrown) {
      this.#stoppedIds.add(id);
      this.#context.log.error('a job has stopped until the next start',
        { job: id, kind, error: thrown });
      await this.#releaseHold(job);
    } finally {
      begunSelection?.end();
      this.#runs.delete(id);
    }
    // Another node may have been the maintainer for a moment, which ended the run here.
    this.#resumeAll();
  }

  async #holdAgain(job: Job): Promise<void> {
    const { id, hook: webhookId } = job;
    if (webhookId === undefined) return;
    const { store } = this.#context;
    if (store.collection(backfillCollection.name).findSlot(webhookId) !== -1) return;
    await retryUntilWritten(this.#context, this.#closing.signal,
      'a job waits to hold deliveries', { job: id },
      () => store.transact((transaction) => stageMissingHold(transaction, job)));
  }

  async #releaseHold({ id, hook: webhookId }: Job): Promise<void> {
    if (webhookId === undefined) return;
    const { store } = this.#context;
    await retryUntilWritten(this.#context, this.#closing.signal,
      'a job that has stopped still holds deliveries', { job: id },
      () => store.transact((transaction) => deleteHold(transaction, webhookId, id)));
  }

  async #run(job: Job, begunSelection: RecordSelection | undefined): Promise<void> {
    const { id, kind, filter } = job;
    // The caller may be applying a transaction of which the rest is to come.
    await nextTurn();
    const selection = begunSelection ?? this.#getKind(kind).select(filter);
    await this.#holdAgain(job);
    const context = { ...this.#context, isTokenInForce: this.#isTokenInForce };
    await runJob(context, this.#closing.signal, id, selection);
  }
}
