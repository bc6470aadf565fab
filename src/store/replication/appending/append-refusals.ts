/**
 * Remembers why the engine refuses appends. A refusal that lasts is a state of the journal, which
 * the log, /readyz and callers hear of. Each append is still tried. The first accepted append ends
 * the state, but only if it is as large as the refused append: a smaller append may fit where that
 * one does not.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { createUnreachableError } from '../fresh-reads.ts';

/** An accepted append of this size always shows that there is room again. */
export const PROBE_BYTES = 256 << 10;

/** Errors that last until somebody mends the engine: no space is left, or a right is missing. */
const LASTING_CODES: readonly ErrorCode[] = ['storage_full', 'misconfigured'];
/** Any other refusal counts as lasting once no append was accepted for this long. */
const LASTING_MS = 2000;

type RefusedAppend = {
  readonly error: AppError;
  readonly startedMs: number;
  /** 0 when the append was not sent. */
  readonly bytes: number;
};

export class AppendRefusals {
  /** Called with each refusal that lasts. */
  onLasting: () => void = () => {};
  readonly #clock: Clock;
  #lasting: { readonly error: AppError; readonly bytes: number } | null = null;
  /** Start of the first refused append since the last accepted one; null: none was refused. */
  #sinceMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null: the engine takes appends, as far as is known. */
  get lasting(): AppError | null { return this.#lasting?.error ?? null; }

  record({ error, startedMs, bytes }: RefusedAppend): AppError {
    const callerError = convertForCaller(error);
    // The engine refuses this append alone.
    if (error.code === 'too_large') return callerError;
    this.#sinceMs ??= startedMs;
    const isOld = this.#clock.monotonicMs() - this.#sinceMs >= LASTING_MS;
    if (isOld || LASTING_CODES.includes(error.code)) {
      this.#lasting = { error: callerError, bytes: Math.min(bytes, PROBE_BYTES) };
      this.onLasting();
    }
    return callerError;
  }

  /** Called when the engine has committed an append of so many bytes. */
  onAccepted(bytes: number): void {
    this.#sinceMs = null;
    if (this.#lasting !== null && bytes >= this.#lasting.bytes) this.#lasting = null;
  }
}

/** Makes the error for callers: nothing was written, and they cannot mend the engine. */
function convertForCaller(error: AppError): AppError {
  switch (error.code) {
    case 'misconfigured':
      return new AppError('unavailable', error.message, { retryAfterS: 5 }, error);
    case 'damaged': return createUnreachableError(error);
    default: return error;
  }
}
