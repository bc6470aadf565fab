/**
 * Fresh reads: callers that wait until the records are no older than their call. Such a caller is
 * about to be refused because of a record it has read, or has only read. A proof that the records
 * are fresh must begin after the call. It is a barrier, once all entries up to it are applied; or a
 * committed append of this node, since it is committed only directly after what is applied here.
 */
import { AppError, messageOf } from '../../base/errors.ts';

type FreshReader = {
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
};

export class FreshReads {
  readonly #onAwaited: () => void;
  #waiting: FreshReader[] = [];

  constructor(onAwaited: () => void) {
    this.#onAwaited = onAwaited;
  }

  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when all that was committed before the call is applied. Rejects with an AppError. */
  catchUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#onAwaited();
    });
  }

  /**
   * Runs a proof for the callers that wait now. They resolve if it returns true, else they go on
   * waiting: the proof has failed, and nothing is known. Callers who come meanwhile need another
   * proof.
   */
  async prove(run: () => Promise<boolean>): Promise<boolean> {
    const readers = this.#waiting;
    this.#waiting = [];
    let isProven = false;
    try {
      isProven = await run();
    } finally {
      if (!isProven) this.#waiting = [...readers, ...this.#waiting];
    }
    if (isProven) for (const { resolve } of readers) resolve();
    return isProven;
  }

  failAll(error: AppError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

export function createUnreachableError(cause: unknown): AppError {
  const what = isUnreadable(cause) ? 'the log cannot be followed'
    : 'the engine that keeps the log cannot be reached';
  return new AppError('unavailable', `${what}: ${messageOf(cause)}`, { retryAfterS: 5 }, cause);
}

/** Whether the engine replies, but has no log that can be followed: somebody has to mend it. */
export function isUnreadable(cause: unknown): boolean {
  return cause instanceof AppError
    && ['damaged', 'misconfigured', 'not_found'].includes(cause.code);
}
