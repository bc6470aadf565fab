/**
 * The empty file that marks a directory while a backup is copied into it. A directory whose copy
 * was cut off must never be taken for a whole one, and its files alone do not show it: a journal
 * without its end, or a generation without its newest journal, looks as if it had ended there.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Files } from '../disk/files.ts';
import { BACKUP_PENDING } from '../disk/inventory.ts';

/** Throws `damaged` when a backup into the directory was cut off half way. */
export function checkNotHalfCopied(files: Files, directory: string): void {
  if (!files.existsSync(join(directory, BACKUP_PENDING))) return;
  throw new AppError('damaged', `the backup ${directory} was cut off while it was written; make `
    + 'another one');
}
