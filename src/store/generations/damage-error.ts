/** The errors for acknowledged data that cannot be read back, with file, line and offset. */
import { basename } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** `line` counts from 1; `offset` is in bytes from the file's start. */
export type FilePosition = {
  readonly path: string;
  readonly line: number;
  readonly offset: number;
};

const HINT = 'put a backup back with data:restore --replace, or see `hookshelf manual data`';

export function damageError(position: FilePosition, what: string): AppError {
  return new AppError('damaged', `${formatPosition(position)}: ${what}; ${HINT}`);
}

export function missingFileError(name: string, why: string): AppError {
  const message = `${name}, line 1, offset 0: the file is missing, ${why}`;
  return new AppError('damaged', `${message}; ${HINT}`);
}

/** Tells what is damaged, where a start mends it by itself: no backup is needed. */
export function describeMendedDamage({ message }: Error): string {
  return message.replace(`; ${HINT}`, '');
}

/**
 * Whether records are damaged, so that an older snapshot may do. Any other error may pass, such as
 * that of a disk that cannot be read now, or is a mistake of this program.
 */
export function isDamage(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'damaged';
}

const FORMAT_MEMBER = /"format":"(hookshelf-[a-z]+-\d+)"/;

/**
 * The error for a whole file or line of another format than `knownFormat`, the one that is read.
 * `text` may name it.
 */
export function unknownFormatError(
  position: FilePosition, knownFormat: string, text = '',
): AppError {
  const format = FORMAT_MEMBER.exec(text)?.[1];
  const finding = format === undefined || format === knownFormat
    ? 'whole, but of another format' : `the format is ${format}`;
  return new AppError('damaged', `${formatPosition(position)}: ${finding}, and this version reads `
    + `${knownFormat} alone: ${FORMAT_HINT}`);
}

/**
 * The error for records in `place` of collections that this version does not have. Nothing is
 * damaged, and a backup that the same version wrote holds them too: it names no restore.
 */
export function unknownCollectionError(
  place: FilePosition | string, ...collections: readonly string[]
): AppError {
  const where = typeof place === 'string' ? place : formatPosition(place);
  const names = collections.map((name) => `"${name}"`).join(', ');
  return new AppError('damaged', `${where}: records of ${names}, which this version does not know. `
    + `Nothing is damaged, it is data of another version: ${FORMAT_HINT}`);
}

/** Tells how to go on with data of a format that this program does not read. */
export const FORMAT_HINT = 'go on with the hookshelf that wrote it, or begin with an empty place '
  + 'and import there what that one exports';

function formatPosition({ path, line, offset }: FilePosition): string {
  return `${basename(path)}, line ${line}, offset ${offset}`;
}
