/**
 * Writes the lines of the journal into the file in use (journal-file.ts), one write after the
 * other: batches of transactions, and notes between them.
 *
 * A write ends in one of three ways. Committed. Refused: the write was cut off again, so it is
 * surely not on disk, and service goes on. Unknown: a sync failed; it is never tried again, and
 * this process acknowledges nothing any more.
 */
import { assert } from '../../base/assert.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { FailureLog } from './failure-log.ts';
import { toAppError } from './journal-file.ts';
import type { AppendFailure, JournalFile } from './journal-file.ts';
import { JournalLineEncoder, type JournalNote } from './journal-line-encoder.ts';
import type { Operation } from '../store-port.ts';
import type { AppendRequest } from './journal-port.ts';

const MARK_DELAY_MS = 100;
/** Encoding 20 MB in one turn took 0.4 s. */
const TURN_BYTES_MAX = 1 << 20;

type JournalWriterOptions = {
  readonly file: JournalFile;
  /** The last sequence on disk. */
  readonly sequence: number;
  readonly clock: Clock;
  readonly failureLog: FailureLog;
  /** Called when writing fails; `unknown` is permanent. */
  readonly onFailure: (kind: AppendFailure['kind']) => void;
};

/** The owners of a writer only read its fields; the compaction sets `diskBusyUntilMs`. */
export class JournalWriter {
  /** The file in use. */
  file: JournalFile;
  /** The last sequence on disk. */
  sequence: number;
  /** See `Journal.failure`. */
  failure: AppError | null = null;
  /** The end of other work of the disk, on the monotonic clock: no sync blocks the loop before. */
  diskBusyUntilMs = -Infinity;
  readonly #options: JournalWriterOptions;
  readonly #blockingPolicy = new BlockingPolicy();
  readonly #encoder = new JournalLineEncoder();
  #isBusy = false;
  /** Lets the writes that wait begin, one after the other. */
  #queue: (() => void)[] = [];
  /** Whether the last line is a note: then the next start sees that all is on disk. */
  #isMarked = true;
  #markTimer: Timer | null = null;
  #isClosed = false;

  constructor(options: JournalWriterOptions) {
    this.#options = options;
    this.file = options.file;
    this.sequence = options.sequence;
  }

  /** See `Journal.append`. */
  async append(request: AppendRequest): Promise<void> {
    await this.runExclusively(async () => {
      if (this.failure?.code === 'unknown_outcome') {
        request.onEnded(this.failure);
        return;
      }
      const transactions = request.collectOperations();
      await this.#encode(transactions);
      const failure = await this.#write(this.#encoder.bytes);
      if (failure !== null) {
        request.onEnded(this.#fail(failure));
        return;
      }
      this.sequence += transactions.length;
      this.#isMarked = false;
      if (this.failure !== null) this.clearFailure();
      request.onEnded(null);
      this.#scheduleMark();
    });
  }

  /** Calls `run` while nothing is being written; other writes wait until it has ended. */
  async runExclusively<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#isBusy = true;
    try {
      return await run();
    } finally {
      const next = this.#queue.shift();
      // The writer stays busy until `next` runs, a microtask later: no other call may come between.
      if (next === undefined) this.#isBusy = false;
      else next();
    }
  }

  /** Continues in another file. Must be called within `runExclusively`. */
  async switchTo(file: JournalFile): Promise<void> {
    assert(this.#isBusy, 'nothing is written during a switch');
    assert(file.generation > this.file.generation, 'generations rise');
    this.#encoder.clear();
    this.#encoder.addNote(this.sequence, { next: file.generation });
    const failure = await this.file.append(this.#encoder.bytes);
    // A refused note is no reason to stop: a start finds the next journal by its generation. The
    // note only shows that the next journal is missing, should it get lost.
    if (failure?.kind === 'unknown') throw this.#fail(failure);
    this.file.close();
    this.file = file;
    this.#isMarked = true;
  }

  /** Writes a mark: everything before it is on disk. False when that failed. */
  writeMark(): Promise<boolean> {
    return this.#writeNote({ mark: true });
  }

  /** Notes that the generation of the file in use has all its snapshots. False when that failed. */
  writeSnapshotsNote(collections: readonly string[]): Promise<boolean> {
    return this.#writeNote({ snapshots: collections });
  }

  /** Resumes writing: the disk has room again. */
  clearFailure(): void {
    if (this.failure === null || this.failure.code === 'unknown_outcome') return;
    this.failure = null;
    this.#options.failureLog.setFailure(null);
  }

  /** Writes a mark and closes the file. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#markTimer?.cancel();
    if (!this.#isMarked) await this.writeMark();
    await this.runExclusively(async () => this.file.close());
    this.#options.failureLog.close();
  }

  /** Encodes lines: large ones in several turns, so that other work of the process goes on. */
  async #encode(transactions: readonly (readonly Operation[])[]): Promise<void> {
    this.#encoder.clear();
    this.#encoder.reserve(transactions);
    let turnEnd = TURN_BYTES_MAX;
    for (const [index, operations] of transactions.entries()) {
      if (this.#encoder.length >= turnEnd) {
        turnEnd = this.#encoder.length + TURN_BYTES_MAX;
        await new Promise((resolve) => setImmediate(resolve));
      }
      this.#encoder.addTransaction(this.sequence + index + 1, this.sequence, operations);
    }
  }

  async #write(bytes: Buffer): Promise<AppendFailure | null> {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    if (startedMs < this.diskBusyUntilMs || !this.#blockingPolicy.mayBlock(bytes.length)) {
      return this.file.append(bytes);
    }
    const failure = this.file.appendBlocking(bytes);
    this.#blockingPolicy.recordDuration(clock.monotonicMs() - startedMs);
    return failure;
  }

  #writeNote(note: JournalNote): Promise<boolean> {
    return this.runExclusively(async () => {
      if (this.failure !== null) return false;
      this.#encoder.clear();
      this.#encoder.addNote(this.sequence, note);
      const failure = await this.file.append(this.#encoder.bytes);
      if (failure === null) this.#isMarked = true;
      else this.#fail(failure);
      return failure === null;
    });
  }

  #fail(failure: AppendFailure): AppError {
    const error = toAppError(failure);
    this.failure = error;
    this.#options.failureLog.setFailure(error);
    this.#options.onFailure(failure.kind);
    return error;
  }

  /** Writes a mark once nothing has been written for a while. */
  #scheduleMark(): void {
    if (this.#markTimer !== null || this.#isClosed) return;
    const sequence = this.sequence;
    this.#markTimer = this.#options.clock.startTimer(MARK_DELAY_MS, () => {
      this.#markTimer = null;
      if (this.#isMarked || this.#isClosed || this.failure !== null) return;
      if (this.sequence !== sequence) this.#scheduleMark();
      else void this.writeMark();
    });
  }
}

const SLOW_MS = 1;
const POOLED_BATCHES = 256;
// A large batch takes long on any disk.
const BLOCKING_BYTES_MAX = 256 * 1024;

/**
 * Decides whether a batch is written and synced on the loop, or in the thread pool. Blocking the
 * loop saves the way through the pool and back: one writer on a disk that syncs at once (tmpfs)
 * waits a third as long, for a third of the CPU time; of 64 writers it is hardly seen. On a slow
 * disk it stops every reader for as long as the disk takes. The duration of a sync can only be
 * measured while blocking, as in the pool the figure includes the loop's own work. So after one
 * slow batch the pool takes the next 256, and then the loop is tried again.
 */
export class BlockingPolicy {
  #pooledLeft = 0;

  /** Called once for each batch, with its length. */
  mayBlock(bytes: number): boolean {
    if (bytes > BLOCKING_BYTES_MAX) return false;
    if (this.#pooledLeft === 0) return true;
    this.#pooledLeft -= 1;
    return false;
  }

  /** Called with the time for which a batch has blocked the loop. */
  recordDuration(durationMs: number): void {
    if (durationMs >= SLOW_MS) this.#pooledLeft = POOLED_BATCHES;
  }
}
