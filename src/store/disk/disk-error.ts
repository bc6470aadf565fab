/** The errors of a disk that refuses a write. */
import { AppError, systemCodeOf } from '../../base/errors.ts';
import { describeFileError } from '../../base/file-error.ts';

const FULL_CODES: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** `storage_full` when the disk is full, else `unavailable`: it may pass as well. */
export function diskError(what: string, error: unknown): AppError {
  const isFull = FULL_CODES.includes(systemCodeOf(error) ?? '');
  const { cause, remedy } = describeFileError(error);
  const hint = remedy === null ? '' : `; ${remedy}`;
  const message = `${what} (${cause})${hint}`;
  return new AppError(isFull ? 'storage_full' : 'unavailable', message, {}, error);
}
