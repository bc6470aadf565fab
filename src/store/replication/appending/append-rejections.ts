/**
 * Remembers why the engine rejects appends. Each append is still tried; the first one accepted ends
 * the rejection if it is as large as the one that was rejected, because a smaller one may fit where
 * that one does not.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { createUnreachableError } from '../fresh-reads.ts';

/** An accepted append of so many bytes shows that there is room again. */
export const PROBE_BYTES = 256 << 10;

/** Rejections that last until somebody mends the engine: no space left, or a missing right. */
const LASTING_CODES: readonly ErrorCode[] = ['storage_full', 'misconfigured'];
/** Any other rejection counts as lasting once no append was accepted for so long. */
const LASTING_MS = 2000;

type RejectedAppend = {
  readonly error: AppError;
  readonly startedMs: number;
  /** 0 when the append was not sent. */
  readonly bytes: number;
};

export class AppendRejections {
  onLasting: () => void = () => {};
  readonly #clock: Clock;
  #lasting: { readonly error: AppError; readonly bytes: number } | null = null;
  /** Start of the first rejected append since one was accepted. */
  #sinceMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get lasting(): AppError | null { return this.#lasting?.error ?? null; }

  /** Returns the error for the caller of the write. */
  record({ error, startedMs, bytes }: RejectedAppend): AppError {
    const reported = convertForCaller(error);
    if (error.code === 'too_large') return reported;
    this.#sinceMs ??= startedMs;
    const isOld = this.#clock.monotonicMs() - this.#sinceMs >= LASTING_MS;
    if (isOld || LASTING_CODES.includes(error.code)) {
      this.#lasting = { error: reported, bytes: Math.min(bytes, PROBE_BYTES) };
      this.onLasting();
    }
    return reported;
  }

  /** An append of so many bytes was accepted. */
  onAccepted(bytes: number): void {
    this.#sinceMs = null;
    if (this.#lasting !== null && bytes >= this.#lasting.bytes) this.#lasting = null;
  }
}

/** Turns the engine's error into one for callers: nothing was written, and they cannot mend it. */
function convertForCaller(error: AppError): AppError {
  switch (error.code) {
    case 'misconfigured':
      return new AppError('unavailable', error.message, { retryAfterS: 5 }, error);
    case 'damaged': return createUnreachableError(error);
    default: return error;
  }
}
