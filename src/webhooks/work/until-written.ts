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
  { clock, log, closing }: WriteParts, waiting: string, labels: object, write: () => Promise<T>,
): Promise<T | undefined> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await write();
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (isFirst) log.error(waiting, { ...labels, error: thrown });
    }
    if (closing.aborted) return undefined;
    await sleep(clock, RETRY_MS);
  }
}
