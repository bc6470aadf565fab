/**
 * Logs warnings and errors that strangers can cause in any number: a few each second, and then how
 * many more there were.
 */
import type { Clock, Timer } from './clock.ts';
import type { LogFields, Logger } from './log.ts';

const LINES_A_SECOND = 5;

const SECOND_MS = 1000;

export class RateLimitedLog {
  readonly #clock: Clock;
  readonly #onSuppressed: (count: number) => void;
  #startedMs = -Infinity;
  #lines = 0;
  #suppressedCount = 0;
  #timer: Timer | null = null;

  /** `onSuppressed` is called at the end of a second in which lines were suppressed. */
  constructor(clock: Clock, onSuppressed: (count: number) => void = () => {}) {
    this.#clock = clock;
    this.#onSuppressed = onSuppressed;
  }

  /**
   * Logs the warning, unless `linesMax` were logged in this second. The holder's logger is read
   * only for lines that are logged, as some holders make it anew each time.
   */
  warning(
    holder: { readonly log: Logger }, message: string, fields: LogFields,
    linesMax = LINES_A_SECOND,
  ): void {
    if (this.#takeLine(linesMax)) holder.log.warning(message, fields);
  }

  /** Logs the error as `warning` does a warning. */
  error(holder: { readonly log: Logger }, message: string, fields: LogFields): void {
    if (this.#takeLine(LINES_A_SECOND)) holder.log.error(message, fields);
  }

  /** Whether a line may be logged now; counts it either way. */
  #takeLine(linesMax: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startedMs >= SECOND_MS) {
      this.close();
      this.#startedMs = nowMs;
      this.#lines = 0;
    }
    if (this.#lines < linesMax) {
      this.#lines += 1;
      return true;
    }
    this.#suppressedCount += 1;
    const endMs = this.#startedMs + SECOND_MS;
    this.#timer ??= this.#clock.startTimer(endMs - nowMs, () => this.close());
    return false;
  }

  /** Reports the lines that were suppressed since the last report. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const count = this.#suppressedCount;
    this.#suppressedCount = 0;
    if (count > 0) this.#onSuppressed(count);
  }
}
