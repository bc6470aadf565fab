/**
 * The jobs of a data directory. Of each kind one runs at a time: a second is refused, as it is
 * mostly the first one asked for again, and both would do the same to what both mean. Which ones
 * run is told by the applied entries; what does the work is loaded when there is some.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatTimestamp, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { Logger } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Collection, Store, Transaction } from '../../store/store-port.ts';
import { decodeJob, encodeJob, jobCollection, type Job } from './job.ts';
import type { JobKind, RecordSelection } from './job-kind.ts';
import type { Ownership } from '../durable-queue/ownership.ts';

const loadRun = lazyImport(() => import('./run-job.ts'));

type JobsDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  readonly ownership: Pick<Ownership, 'isMaintainer' | 'onChange'>;
  /** By name. */
  readonly kinds: Readonly<Record<string, () => Promise<JobKind>>>;
};

/** Finished jobs that are kept, the newest; the others are removed when one is added. */
const FINISHED_MAX = 100;

export class Jobs {
  readonly #deps: JobsDeps;
  readonly #records: Collection;
  readonly #unlisten: readonly (() => void)[];
  readonly #closing = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  /** Of jobs that were added by this process and have not been taken up. */
  readonly #begunSelections = new Map<string, RecordSelection>();
  #isStarted = false;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
    this.#records = deps.store.collection(jobCollection.name);
    this.#unlisten = [
      this.#records.onChange(({ id, before, after }) => {
        if (before === null && after !== null) this.#resumeJob(id, after);
      }),
      deps.ownership.onChange(() => this.#resumeAll()),
    ];
  }

  /** Goes on with what was left. Commands leave that to the server. */
  start(): void {
    this.#isStarted = true;
    this.#resumeAll();
  }

  /** Of several nodes one runs the jobs: those that another has left go on here. */
  #resumeAll(): void {
    if (!this.#isStarted || !this.#deps.ownership.isMaintainer()) return;
    const walk = this.#records.walk();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = this.#records.bytesAt(slot);
      const id = this.#records.idAt(slot);
      if (bytes !== undefined && id !== undefined) this.#resumeJob(id, bytes);
    }
  }

  /** Resolves when no chunk is under way. Idempotent. */
  async close(): Promise<void> {
    this.#isStarted = false;
    for (const unlisten of this.#unlisten) unlisten();
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  /** Newest first. */
  list(): Job[] {
    const jobs: Job[] = [];
    const walk = this.#records.walk({ isDescending: true });
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = this.#records.bytesAt(slot);
      if (bytes !== undefined) jobs.push(decodeJob(bytes));
    }
    return jobs;
  }

  /** Throws `not_found`. */
  get(id: string): Job {
    const bytes = this.#records.findBytes(id);
    if (bytes === undefined) throw notFoundError('job', id);
    return decodeJob(bytes);
  }

  /** How many records a job would take. */
  async count(kind: string, filter: JsonObject): Promise<number> {
    const selection = (await this.#load(kind)).select(filter);
    try {
      const upTo = await selection.begin();
      return upTo === null ? 0 : await selection.count(upTo);
    } finally {
      selection.end();
    }
  }

  /**
   * Adds a job; what `onAdded` stages is committed with it. Throws `conflict` while another of its
   * kind runs.
   */
  async add(
    kind: string, filter: JsonObject,
    onAdded: (transaction: Transaction, job: Job) => void = () => {},
  ): Promise<Job> {
    const { store, makeId } = this.#deps;
    const id = makeId();
    const selection = (await this.#load(kind)).select(filter);
    this.#begunSelections.set(id, selection);
    try {
      const job = await this.#begin({ id, kind, filter }, selection);
      const old = this.list().filter(({ status }) => status !== 'running').slice(FINISHED_MAX - 1);
      await store.transact((transaction) => {
        putNewJob(transaction, job);
        for (const { id: oldId } of old) transaction.delete(jobCollection.name, oldId);
        onAdded(transaction, job);
      });
      return job;
    } finally {
      // Still there when nobody has taken it up.
      if (this.#begunSelections.delete(id)) selection.end();
    }
  }

  /** What it has done stays done; a finished job stays as it is. Throws `not_found`. */
  async cancel(id: string): Promise<Job> {
    const { store, clock } = this.#deps;
    const updatedAt = formatTimestamp(clock.now());
    return store.transact((transaction) => {
      const bytes = transaction.find(jobCollection.name, id);
      if (bytes === undefined) throw notFoundError('job', id);
      const job = decodeJob(bytes);
      if (job.status !== 'running') return job;
      const cancelled: Job = { ...job, status: 'cancelled', updatedAt };
      transaction.put(jobCollection.name, id, encodeJob(cancelled));
      return cancelled;
    });
  }

  async #begin(
    given: Pick<Job, 'id' | 'kind' | 'filter'>, selection: RecordSelection,
  ): Promise<Job> {
    const upTo = await selection.begin();
    const total = upTo === null ? 0 : await selection.count(upTo);
    const at = formatTimestamp(this.#deps.clock.now());
    return {
      ...given, createdAt: at, updatedAt: at, status: total === 0 ? 'done' : 'running',
      total, done: 0, failed: 0, after: null, upTo: upTo ?? '',
    };
  }

  async #load(kind: string): Promise<JobKind> {
    const load = this.#deps.kinds[kind];
    if (load === undefined) throw new AppError('conflict', `this version has no jobs of ${kind}`);
    return load();
  }

  #resumeJob(id: string, bytes: Buffer): void {
    const isOurs = this.#isStarted && this.#deps.ownership.isMaintainer();
    if (!isOurs || this.#running.has(id)) return;
    const job = decodeJob(bytes);
    if (job.status !== 'running') return;
    const begun = this.#begunSelections.get(id);
    this.#begunSelections.delete(id);
    let hasFailed = false;
    const run = this.#run(job, begun).catch((thrown: unknown) => {
      hasFailed = true;
      this.#deps.log.error('a job has stopped until the next start',
        { job: id, kind: job.kind, error: thrown });
    }).finally(() => {
      begun?.end();
      this.#running.delete(id);
    }).then(() => {
      // It may have been another's for a moment.
      if (!hasFailed) this.#resumeAll();
    });
    this.#running.set(id, run);
  }

  // In a later turn all of the transaction that we heard of is there.
  async #run({ id, kind, filter }: Job, begun: RecordSelection | undefined): Promise<void> {
    await nextTurn();
    const [{ runJob }, selection] = await Promise.all([
      loadRun((loaded) => loaded),
      begun ?? this.#load(kind).then((loaded) => loaded.select(filter)),
    ]);
    await runJob({ ...this.#deps, closing: this.#closing.signal }, id, selection);
  }
}

function putNewJob(transaction: Transaction, job: Job): void {
  try {
    transaction.put(jobCollection.name, job.id, encodeJob(job));
  } catch (thrown) {
    if (!(thrown instanceof AppError && thrown.code === 'conflict')) throw thrown;
    throw new AppError('conflict', `a job of this kind (${job.kind}) runs already: wait for its `
      + 'end (GET /api/jobs), or cancel it (DELETE /api/jobs/{id})', {}, thrown);
  }
}
