/** The errors of a disk that refuses a write. */
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';

const FULL_CODES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const HINT = 'free some room on the disk and try again';

/** `storage_full` when the disk is full, else `unavailable`: it may pass as well. */
export function diskError(what: string, cause: unknown): AppError {
  const isFull = FULL_CODES.includes(systemCodeOf(cause) ?? '');
  const message = `${what} (${messageOf(cause)})`;
  return isFull ? new AppError('storage_full', `${message}; ${HINT}`, {}, cause)
    : new AppError('unavailable', message, {}, cause);
}

/** Returns the count of bytes that a write took. Throws ENOSPC for 0: the disk found no room. */
export function checkBytesWritten(count: number): number {
  if (count > 0) return count;
  throw Object.assign(new Error('the file system took no bytes'), { code: 'ENOSPC' });
}
