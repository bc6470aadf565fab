/** The error for acknowledged data that cannot be read back: always with file, line and offset. */
import { basename } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** `line` counts from 1; `offset` is in bytes from the file's start. */
export type FilePlace = { readonly path: string; readonly line: number; readonly offset: number };

export function damagedAt({ path, line, offset }: FilePlace, what: string): AppError {
  const place = `${basename(path)}, line ${line}, offset ${offset}`;
  return new AppError('damaged', `${place}: ${what}; the data directory is left as it is`);
}

export function missingFile(name: string, why: string): AppError {
  const message = `${name}, line 1, offset 0: the file is missing, ${why}`;
  return new AppError('damaged', `${message}; the data directory is left as it is`);
}

/** For a file, or a line, that is whole but of a format that this version does not know. */
export function foreignLine(place: FilePlace): AppError {
  return damagedAt(place, 'whole, but of a format that this version does not know: start the '
    + 'newer hookshelf that wrote it');
}
