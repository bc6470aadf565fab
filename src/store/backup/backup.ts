/**
 * A backup is the files that a start of this moment would read, each up to its length of this
 * moment, between two batches: the base's snapshots and the journals from there. They are opened
 * before anything is copied, so that compactions meanwhile cannot take them away. It goes into an
 * empty directory, or into one tar file.
 */
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { readFully, writeFully } from '../journal/file-lines.ts';
import type { Descriptor, Files } from '../files.ts';
import { isBackedUp, journalName, snapshotName, takeInventory } from '../generations/inventory.ts';
import { BACKUP_PENDING } from './pending.ts';
import { TAR_BLOCK_BYTES, encodeTarHeader, tarPadding } from './tar.ts';

export type BackupFile = {
  readonly name: string;
  readonly bytes: number;
  readonly descriptor: Descriptor;
  /** Where its bytes begin there. */
  readonly at: number;
};

export interface Backup {
  readonly files: readonly BackupFile[];
  /** Idempotent. */
  close(): void;
}

const PIECE_BYTES = 1 << 20;

/**
 * Opens what makes up the state: what stands on `base` (0: the empty one) up to the journal in use.
 * A newer one was made and then given up, and holds nothing.
 */
export function openBackup(
  files: Files, directory: string, base: number,
  inUse: { readonly generation: number; readonly length: number },
): Backup {
  const inventory = takeInventory(files, directory);
  const journals = inventory.journals.filter((generation) =>
    generation >= base && generation <= inUse.generation);
  const names = [
    ...(inventory.snapshots.get(base) ?? []).map((name) => snapshotName(name, base)),
    ...journals.map(journalName),
  ];
  // The journal in use is synced up to there; what may lie behind is no part of it.
  const last = journalName(inUse.generation);
  return openFiles(files, directory, names.map((name) =>
    ({ name, bytes: name === last ? inUse.length : null })));
}

/**
 * Opens files of a directory by name, to be copied up to a length; null stands for all of it.
 * Throws `unavailable` for what is no file of the store's: whoever answers at a control socket may
 * name anything.
 */
export function openFiles(
  files: Files, directory: string,
  wanted: readonly { readonly name: string; readonly bytes: number | null }[],
): Backup {
  const opened: BackupFile[] = [];
  const close = (): void => {
    for (const { descriptor } of opened.splice(0)) files.close(descriptor);
  };
  try {
    for (const { name, bytes } of wanted) {
      if (!isBackedUp(name) || (bytes !== null && !(Number.isSafeInteger(bytes) && bytes >= 0))) {
        throw new AppError('unavailable', `what was to be copied is no file of the store: ${name}`);
      }
      const descriptor = files.open(join(directory, name), 'read');
      opened.push({ name, descriptor, at: 0, bytes: bytes ?? files.sizeOf(descriptor) });
    }
  } catch (error) {
    close();
    throw error;
  }
  return { files: [...opened], close };
}

/** Copies a backup to `target`: one file when that ends in `.tar`, else an empty directory. */
export async function writeBackup(
  files: Files, backup: Backup, target: string, nowMs: number,
): Promise<void> {
  if (target.endsWith('.tar')) {
    await writeTar(files, backup, target, nowMs);
    return;
  }
  const isNew = !files.exists(target);
  if (isNew) files.makeDirectory(target);
  if (files.list(target).length > 0) {
    throw new AppError('conflict', `${target} is not empty; name a new directory`);
  }
  const mark = join(target, BACKUP_PENDING);
  // Of two that take the same directory only one can make it.
  files.close(files.open(mark, 'create'));
  const copies = backup.files.map(({ name }) => join(target, name));
  try {
    await fillDirectory(files, backup, target);
    files.unlink(mark);
    await files.syncDirectoryAsync(target);
    await files.syncDirectoryAsync(dirname(target));
  } catch (error) {
    for (const path of [...copies, mark]) if (files.exists(path)) files.unlink(path);
    if (isNew) files.removeDirectory(target);
    throw error;
  }
}

/** The backup as one tar file, in pieces of about a mebibyte. */
async function* tarOf(files: Files, backup: Backup, nowMs: number): AsyncGenerator<Buffer> {
  for (const file of backup.files) {
    yield encodeTarHeader(file.name, file.bytes, nowMs);
    yield* readPieces(files, file);
    yield Buffer.alloc(tarPadding(file.bytes));
  }
  yield Buffer.alloc(2 * TAR_BLOCK_BYTES);
}

/** What is there is on disk when this resolves; the mark is, before anything else. */
async function fillDirectory(files: Files, backup: Backup, target: string): Promise<void> {
  await files.syncDirectoryAsync(target);
  for (const file of backup.files) {
    await writeCopy(files, join(target, file.name), readPieces(files, file));
  }
  await files.syncDirectoryAsync(target);
}

async function writeCopy(
  files: Files, path: string, pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const copy = files.open(path, 'create');
  try {
    let position = 0;
    for await (const piece of pieces) {
      await writeFully(files, copy, piece, position);
      position += piece.length;
    }
    await files.datasyncAsync(copy);
  } finally {
    files.close(copy);
  }
}

/** Under another name until it is whole. */
async function writeTar(
  files: Files, backup: Backup, target: string, nowMs: number,
): Promise<void> {
  if (files.exists(target)) {
    throw new AppError('conflict', `${target} is already there; name a new file`);
  }
  const part = `${target}.${nowMs}.part`;
  try {
    await writeCopy(files, part, tarOf(files, backup, nowMs));
    files.rename(part, target);
    await files.syncDirectoryAsync(dirname(target));
  } catch (error) {
    if (files.exists(part)) files.unlink(part);
    throw error;
  }
}

async function* readPieces(
  files: Files, { descriptor, at, bytes }: BackupFile,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; done += PIECE_BYTES) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes - done));
    const count = await readFully(files, descriptor, piece, at + done);
    if (count < piece.length) throw new AppError('damaged', 'a file became shorter while copied');
    yield piece;
  }
}
