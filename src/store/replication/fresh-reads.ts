/**
 * Those who wait for what is applied here to be no older than their call: they have read something
 * that they are to be refused for, or have nothing to write. What proves it begins after the call:
 * a barrier, and all that is in the log up to it, or an append of this node's, which is committed
 * only directly after what is applied.
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

  /** Resolves when all that was committed before the call is applied; rejects with a refusal. */
  catchUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#onAwaited();
    });
  }

  /** Runs what proves it to those who wait now: they go on waiting unless it returns true. */
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

/** It is there, and somebody has to see to it; after a failover that may be under way. */
export function isUnreadable(cause: unknown): boolean {
  return cause instanceof AppError
    && ['damaged', 'misconfigured', 'not_found'].includes(cause.code);
}
