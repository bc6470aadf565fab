/**
 * The journal of a directory on a file system that is mounted read-only. It refuses every append,
 * and changes nothing on the disk: what recovery.ts has read is all there is, and a torn end stays.
 */
import type { AppError } from '../../base/errors.ts';
import { FailureLog } from '../journal/failure-log.ts';
import type { AppendRequest, Journal, Snapshots } from '../journal/journal-port.ts';
import type { LogReader } from '../store-port.ts';
import type { FileJournalOptions, JournalExtent } from './file-journal.ts';
import { openReader } from './journal-reader.ts';
import type { RecoveredState } from './recovery.ts';

export class ReadOnlyJournal implements Journal {
  readonly failureLog: FailureLog;
  readonly failure: AppError;
  readonly reloadError = null;
  readonly isShared = false;
  readonly isContended = false;
  readonly batchBytesMax = Infinity;
  readonly recordBytesMax = Infinity;
  readonly sequence: number;
  readonly bytes: number;
  readonly snapshots: Snapshots;
  readonly #options: FileJournalOptions;
  readonly #collections: RecoveredState['collections'];
  readonly #extent: JournalExtent;

  /** `refusal` says why nothing can be written. */
  constructor(options: FileJournalOptions, state: RecoveredState, refusal: AppError) {
    const { base, collections, journals, sequence } = state;
    this.#options = options;
    this.#collections = collections;
    this.failureLog = new FailureLog(options.clock, options.logger, 'the disk');
    this.failure = refusal;
    this.sequence = sequence;
    this.bytes = journals.reduce((sum, { replay }) => sum + replay.validEnd, 0);
    const last = journals.at(-1);
    const inUse = { generation: last?.generation ?? base, length: last?.replay.validEnd ?? 0 };
    this.#extent = { base, inUse };
    this.snapshots = { isRunning: false, writtenMs: null, write: () => Promise.reject(refusal) };
  }

  get generation(): number { return this.#extent.inUse.generation; }

  async catchUp(): Promise<void> {}

  append(request: AppendRequest): void {
    request.collectOperations();
    request.onEnded(this.failure);
  }

  read(sequence: number): Promise<LogReader | null> {
    const { files, directory } = this.#options;
    return openReader(files, directory, sequence, this.#collections);
  }

  /** See `FileJournal.runBetweenBatches`: there are no batches. */
  async runBetweenBatches<T>(run: (extent: JournalExtent) => T): Promise<T> {
    return run(this.#extent);
  }

  async close(): Promise<void> {}
}
