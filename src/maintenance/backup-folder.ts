/**
 * The folder that a server keeps its backups in, and which of the files there are such backups:
 *
 *   hookshelf-20261127T090000Z.tar                      a verified backup, made at that time (UTC)
 *   hookshelf-20261127T090000Z.tar.1795770000000.part   a backup being written, or cut off
 *
 * All other files are somebody else's. A name whose time has not come yet was made while the clock
 * was wrong: it counts for nothing until then, and is never deleted.
 */
import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, systemCodeOf } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { diskError } from '../store/disk/disk-error.ts';
import type { Files } from '../store/disk/files.ts';

type FolderBackup = { readonly name: string; readonly madeMs: number };

const NAME = /^hookshelf-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar$/;
const PART_NAME = /^hookshelf-\d{8}T\d{6}Z\.tar\.\d+\.part$/;
const SECOND_MS = 1000;

/** The backups in the folder that were made until `nowMs`, oldest first. */
export function listBackups(files: Files, folder: string, nowMs: number): readonly FolderBackup[] {
  return files.listSync(folder).map((name) => ({ name, madeMs: parseTime(name) }))
    .filter(({ madeMs }) => madeMs <= nowMs)
    .sort((left, right) => left.madeMs - right.madeMs);
}

/** NaN for a name that is no backup's. */
function parseTime(name: string): number {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Removes backups that were cut off while they were written, and not changed after `untilMs`. */
export function removeParts(files: Files, folder: string, untilMs: number): void {
  for (const name of files.listSync(folder).filter((entry) => PART_NAME.test(entry))) {
    const path = join(folder, name);
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && status.mtimeMs <= untilMs) files.unlinkSync(path);
  }
}

/**
 * Throws `usage` if the folder is the data directory or below it, through any links: the loss of
 * the data would be the loss of the backups. `name` is what names the folder.
 */
export function checkOutsideData(folder: string, data: string, name: string): void {
  const dataStatus = statSync(data, { throwIfNoEntry: false });
  for (let path = findExisting(folder); ; path = dirname(path)) {
    const { dev, ino } = statSync(path);
    if (dataStatus?.dev === dev && dataStatus.ino === ino) {
      throw new AppError('usage', `${name} (${folder}) is within the data directory ${data}, and `
        + 'would be lost with it: name a directory elsewhere, best on another disk');
    }
    if (dirname(path) === path) break;
  }
  // A data directory that is still to be made has no number yet.
  if (dataStatus === undefined && `${folder}/`.startsWith(`${data}/`)) {
    throw new AppError('usage', `${name} (${folder}) is within the data directory ${data}: name `
      + 'a directory elsewhere, best on another disk');
  }
}

/** The real path of the folder, or of the nearest one above it that is there. */
function findExisting(folder: string): string {
  for (let path = folder; ; path = dirname(path)) {
    try {
      return realpathSync(path);
    } catch (thrown) {
      if (dirname(path) === path) throw thrown;
    }
  }
}

/** Makes the folder, but none above it, which would hide that a disk is not mounted. */
export function makeBackupFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST' && statSync(folder).isDirectory()) return;
    throw new AppError('unavailable', `backup.to (${folder}) cannot be made `
      + `(${explainFileError(thrown)}): make it, or mount its disk`, {}, thrown);
  }
}

/** Throws `storage_full` if less is free than the bytes of a backup. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  throw new AppError('storage_full', `${folder} has room for ${bavail * bsize} bytes, and a backup `
    + `takes ${bytes}: remove what you need no more, and lower backup.keep so that it lasts`);
}

/** Why no backup could be made there, with how to mend it. */
export function explainFailure(folder: string, thrown: unknown): string {
  const error = thrown instanceof AppError ? thrown
    : diskError(`no backup can be written to ${folder}`, thrown);
  return error.message;
}

/** The time of a name, which has whole seconds. */
export function toNameTime(nowMs: number): number {
  return Math.floor(nowMs / SECOND_MS) * SECOND_MS;
}
