/** Writes that must not be given up because the store takes none at present. */
import { sleep, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

export type WriteParts = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when nothing more is to be waited for. */
  readonly closing: AbortSignal;
};

const RETRY_MS = 1000;

/** Repeats `write` until the store takes it; undefined when we are closed first. */
export async function untilWritten<T>(
  parts: WriteParts, waiting: string, labels: object, write: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await write();
  } catch (thrown) {
    return writeAgain(parts, waiting, labels, write, thrown);
  }
}

/** The same where the first try has failed with `thrown`. */
export async function writeAgain<T>(
  { clock, log, closing }: WriteParts, waiting: string, labels: object, write: () => Promise<T>,
  thrown: unknown,
): Promise<T | undefined> {
  if (!(thrown instanceof AppError)) throw thrown;
  log.error(waiting, { ...labels, error: thrown });
  while (!closing.aborted) {
    await sleep(clock, RETRY_MS);
    try {
      return await write();
    } catch (again) {
      if (!(again instanceof AppError)) throw again;
    }
  }
  return undefined;
}
