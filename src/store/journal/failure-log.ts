/**
 * Reports to the log, and to listeners, when writing stops, with the reason, and when it resumes.
 * Near the edge of a full disk both can happen many times a second. At most one report a second is
 * made, and the last report is true. A permanent failure is reported at once.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

const PERIOD_MS = 1000;

/** Receives the reason when writing stops, and null when it resumes. */
type FailureListener = (reason: string | null) => void;

export class FailureLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #storageName: string;
  readonly #listeners = new Set<FailureListener>();
  #failure: AppError | null = null;
  #reportedFailure: AppError | null = null;
  /** When writing stopped, according to the reports. */
  #stoppedMs = 0;
  #timer: Timer | null = null;

  /** `storageName`: the storage that must take writes again before writing resumes. */
  constructor(clock: Clock, logger: Logger, storageName: 'the disk' | 'the engine') {
    this.#clock = clock;
    this.#logger = logger;
    this.#storageName = storageName;
  }

  /** Returns a function that ends the reports. */
  onReport(listener: FailureListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Called with each failure, and with null when writing works. */
  setFailure(failure: AppError | null): void {
    this.#failure = failure;
    if (failure?.code === 'unknown_outcome') this.#report();
    else if (this.#timer === null) this.#reportWhenNew();
  }

  /** Makes the report that is still due. */
  close(): void {
    this.#timer?.cancel();
    if (this.#isUnreported()) this.#report();
  }

  #isUnreported(): boolean {
    return this.#failure?.code !== this.#reportedFailure?.code;
  }

  #reportWhenNew(): void {
    this.#timer = null;
    if (!this.#isUnreported()) return;
    this.#report();
    this.#timer = this.#clock.startTimer(PERIOD_MS, () => this.#reportWhenNew());
  }

  #report(): void {
    const failure = this.#failure;
    const nowMs = this.#clock.monotonicMs();
    if (failure === null) {
      this.#logger.info('writing goes on', { stoppedMs: Math.round(nowMs - this.#stoppedMs) });
    } else if (failure.code === 'unknown_outcome') {
      this.#logger.error('writing stopped for good', { reason: failure.message });
    } else {
      this.#logger.error(`writing stopped until ${this.#storageName} takes it again`,
        { reason: failure.message });
    }
    if (this.#reportedFailure === null) this.#stoppedMs = nowMs;
    this.#reportedFailure = failure;
    for (const listener of this.#listeners) listener(failure?.message ?? null);
  }
}
