/** The error for acknowledged data that cannot be read back: always with file, line and offset. */
import { basename } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** `line` counts from 1; `offset` is in bytes from the file's start. */
export type FilePlace = { readonly path: string; readonly line: number; readonly offset: number };

const MEND = 'put a backup back with data:restore --replace';

export function damagedAt(place: FilePlace, what: string): AppError {
  return new AppError('damaged', `${describe(place)}: ${what}; ${MEND}`);
}

export function missingFile(name: string, why: string): AppError {
  const message = `${name}, line 1, offset 0: the file is missing, ${why}`;
  return new AppError('damaged', `${message}; ${MEND}`);
}

/** For a file, or a line, that is whole but of a format that this version does not know. */
export function foreignLine(place: FilePlace): AppError {
  return new AppError('damaged', `${describe(place)}: whole, but of a format that this version `
    + 'does not know: start the newer hookshelf that wrote it');
}

function describe({ path, line, offset }: FilePlace): string {
  return `${basename(path)}, line ${line}, offset ${offset}`;
}
