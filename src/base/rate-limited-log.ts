/**
 * For warnings that strangers can cause in any number: a few of them a second are logged, then how
 * many were left out.
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

  /** `onLeftOut` is told at the end of a second in which lines were left out. */
  constructor(clock: Clock, onSuppressed: (count: number) => void) {
    this.#clock = clock;
    this.#onSuppressed = onSuppressed;
  }

  /** The holder is asked for its logger only for what is written, `linesMax` lines a second. */
  warning(
    holder: { readonly log: Logger }, message: string, fields: LogFields,
    linesMax = LINES_A_SECOND,
  ): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startedMs >= SECOND_MS) {
      this.close();
      this.#startedMs = nowMs;
      this.#lines = 0;
    }
    if (this.#lines < linesMax) {
      this.#lines += 1;
      holder.log.warning(message, fields);
      return;
    }
    this.#suppressedCount += 1;
    const endMs = this.#startedMs + SECOND_MS;
    this.#timer ??= this.#clock.startTimer(endMs - nowMs, () => this.close());
  }

  /** Reports the lines that were left out since the last report. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const count = this.#suppressedCount;
    this.#suppressedCount = 0;
    if (count > 0) this.#onSuppressed(count);
  }
}
