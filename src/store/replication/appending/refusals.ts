/**
 * Why the engine takes nothing, as long as it does not: each append is tried all the same, and the
 * first that is taken ends it, if it is as large as what was refused. Less may fit where that does
 * not.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { unreachable } from '../fresh-reads.ts';

/** An append of so many bytes shows that there is room again, whatever was refused. */
export const ROOM_BYTES = 256 << 10;

/** Until somebody sees to the engine: its disk or quota is used up, or a right was taken away. */
const LASTING: readonly ErrorCode[] = ['storage_full', 'misconfigured'];
/** Any other refusal counts once nothing was taken for so long. */
const PASSING_MS = 2000;

type Refused = {
  readonly error: AppError;
  readonly startedMs: number;
  /** 0: nothing was sent. */
  readonly bytes: number;
};

export class Refusals {
  onLasting: () => void = () => {};
  readonly #clock: Clock;
  #lasting: { readonly error: AppError; readonly bytes: number } | null = null;
  /** With nothing taken since. */
  #sinceMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get lasting(): AppError | null { return this.#lasting?.error ?? null; }

  /** Returns what who has sent the write is told. */
  note({ error, startedMs, bytes }: Refused): AppError {
    const told = toldOf(error);
    if (error.code === 'too_large') return told;
    this.#sinceMs ??= startedMs;
    if (LASTING.includes(error.code) || this.#clock.monotonicMs() - this.#sinceMs >= PASSING_MS) {
      this.#lasting = { error: told, bytes: Math.min(bytes, ROOM_BYTES) };
      this.onLasting();
    }
    return told;
  }

  /** Of an append that was taken. */
  end(bytes: number): void {
    this.#sinceMs = null;
    if (this.#lasting !== null && bytes >= this.#lasting.bytes) this.#lasting = null;
  }
}

/** Nothing was written, and no other write would mend what is wrong. */
function toldOf(error: AppError): AppError {
  switch (error.code) {
    case 'misconfigured':
      return new AppError('unavailable', error.message, { retryAfterS: 5 }, error);
    case 'damaged': return unreachable(error);
    default: return error;
  }
}
