/** Repeats a write that must not be given up. */
import { sleep } from '../../base/clock.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import type { RelayContext } from '../relay-context.ts';

const RETRY_MS = 1000;

/**
 * Repeats `write` until the store takes it, also after an error that is not temporary: whoever
 * gives the write up has to do again what its result says was done. Resolves with undefined when
 * `closing` aborts first, and rejects only with a bug.
 */
export async function retryUntilWritten<T>(
  { clock, log }: Pick<RelayContext, 'clock' | 'log'>, closing: AbortSignal, message: string,
  labels: object, write: () => Promise<T>,
): Promise<T | undefined> {
  let loggedCode: ErrorCode | null = null;
  for (;;) {
    try {
      return await write();
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code !== loggedCode) log.error(message, { ...labels, error: thrown });
      loggedCode = thrown.code;
    }
    await sleep(clock, RETRY_MS, closing);
    if (closing.aborted) return undefined;
  }
}
