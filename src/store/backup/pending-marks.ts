/**
 * Empty files that mark a directory while files are copied or moved into it. A directory whose copy
 * was cut off must never be taken for a whole one, and its files alone do not show it: a journal
 * without its end, or a generation without its newest journal, looks as if it had ended there.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Files } from '../disk/files.ts';

/** There while a restore moves the old data away and the new data in. */
export const RESTORE_PENDING = 'restore.pending';
/** There while a backup is copied into a directory. */
export const BACKUP_PENDING = 'backup.pending';

/** Throws `damaged` when a restore into the directory, or a backup, was cut off half way. */
export function checkNotHalfCopied(files: Files, directory: string): void {
  if (files.existsSync(join(directory, RESTORE_PENDING))) {
    throw new AppError('damaged', `a restore into ${directory} was cut off; run data:restore `
      + '--replace again (what was there before is in its before-… directories)');
  }
  if (files.existsSync(join(directory, BACKUP_PENDING))) {
    throw new AppError('damaged', `the backup ${directory} was cut off while it was written; make `
      + 'another one');
  }
}
