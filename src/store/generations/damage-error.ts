/** The errors for acknowledged data that cannot be read back, with file, line and offset. */
import { basename } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** `line` counts from 1; `offset` is in bytes from the file's start. */
export type FilePosition = {
  readonly path: string;
  readonly line: number;
  readonly offset: number;
};

const HINT = 'put a backup back with data:restore --replace';

export function damageError(position: FilePosition, what: string): AppError {
  return new AppError('damaged', `${formatPosition(position)}: ${what}; ${HINT}`);
}

export function missingFileError(name: string, why: string): AppError {
  const message = `${name}, line 1, offset 0: the file is missing, ${why}`;
  return new AppError('damaged', `${message}; ${HINT}`);
}

/**
 * Whether records are damaged, so that an older snapshot may do. Any other error may pass, such as
 * that of a disk that cannot be read now, or is a mistake of this program.
 */
export function isDamage(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'damaged';
}

/** The error for a whole file or line of a format that this version does not know. */
export function unknownFormatError(position: FilePosition): AppError {
  return new AppError('damaged', `${formatPosition(position)}: whole, but of a format that this `
    + 'version does not know: start the newer hookshelf that wrote it');
}

function formatPosition({ path, line, offset }: FilePosition): string {
  return `${basename(path)}, line ${line}, offset ${offset}`;
}
