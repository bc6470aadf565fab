/** What a disk refused to take: where it has no room, with what to do about it. */
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';

const FULL_CODES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const HINT = 'free some room on the disk and try again';

/** `storage_full` where room is lacking; other refusals may pass as well: `unavailable`. */
export function diskError(what: string, cause: unknown): AppError {
  const isFull = FULL_CODES.includes(systemCodeOf(cause) ?? '');
  const message = `${what} (${messageOf(cause)})`;
  return isFull ? new AppError('storage_full', `${message}; ${HINT}`, {}, cause)
    : new AppError('unavailable', message, {}, cause);
}

/** The count of bytes that a write took. One that took none without an error found no room. */
export function checkBytesWritten(count: number): number {
  if (count > 0) return count;
  throw Object.assign(new Error('the file system took no bytes'), { code: 'ENOSPC' });
}
