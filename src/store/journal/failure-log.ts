/**
 * Says in the log, and to whoever listens, when writing stops, with the reason, and when it goes
 * on. Near the edge of a full disk both can happen many times a second: what is said of it is at
 * most one line a second, the last of which is true. What is for good is said at once.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

const PERIOD_MS = 1000;

/** Called with why writing stopped, and with null when it goes on. */
type Listener = (reason: string | null) => void;

export class FailureLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #takenBy: string;
  readonly #listeners = new Set<Listener>();
  #current: AppError | null = null;
  #said: AppError | null = null;
  /** When writing stopped, as was said. */
  #stoppedMs = 0;
  #timer: Timer | null = null;

  /** `takenBy`: what has to take writes again before they go on. */
  constructor(clock: Clock, logger: Logger, takenBy: 'the disk' | 'the engine') {
    this.#clock = clock;
    this.#logger = logger;
    this.#takenBy = takenBy;
  }

  /** Returns what ends it. */
  onSaid(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Told of each failure, and with null that writing works. */
  note(failure: AppError | null): void {
    this.#current = failure;
    if (failure?.code === 'unknown_outcome') this.#say();
    else if (this.#timer === null) this.#sayWhenNew();
  }

  /** Says what is still to be said. */
  close(): void {
    this.#timer?.cancel();
    if (this.#isNew()) this.#say();
  }

  #isNew(): boolean {
    return this.#current?.code !== this.#said?.code;
  }

  #sayWhenNew(): void {
    this.#timer = null;
    if (!this.#isNew()) return;
    this.#say();
    this.#timer = this.#clock.startTimer(PERIOD_MS, () => this.#sayWhenNew());
  }

  #say(): void {
    const failure = this.#current;
    const nowMs = this.#clock.monotonicMs();
    if (failure === null) {
      this.#logger.info('writing goes on', { stoppedMs: Math.round(nowMs - this.#stoppedMs) });
    } else if (failure.code === 'unknown_outcome') {
      this.#logger.error('writing stopped for good', { reason: failure.message });
    } else {
      this.#logger.error(`writing stopped until ${this.#takenBy} takes it again`,
        { reason: failure.message });
    }
    if (this.#said === null) this.#stoppedMs = nowMs;
    this.#said = failure;
    for (const listener of this.#listeners) listener(failure?.message ?? null);
  }
}
