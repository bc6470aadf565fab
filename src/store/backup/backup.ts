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
import { journalName, snapshotName, takeInventory } from '../generations/inventory.ts';
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

/** Opens what makes up the state; `base` 0 is the empty one. */
export function openBackup(
  files: Files, directory: string, base: number, journalLength: number,
): Backup {
  const inventory = takeInventory(files, directory);
  const journals = inventory.journals.filter((generation) => generation >= base);
  const names = [
    ...(inventory.snapshots.get(base) ?? []).map((name) => snapshotName(name, base)),
    ...journals.map(journalName),
  ];
  const opened: BackupFile[] = [];
  const close = (): void => {
    for (const { descriptor } of opened.splice(0)) files.close(descriptor);
  };
  try {
    for (const name of names) {
      const descriptor = files.open(join(directory, name), 'read');
      opened.push({ name, descriptor, at: 0, bytes: files.sizeOf(descriptor) });
    }
  } catch (error) {
    close();
    throw error;
  }
  // The journal in use is synced up to there; what may lie behind is no part of it.
  const last = opened.pop();
  if (last !== undefined) opened.push({ ...last, bytes: journalLength });
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
  if (!files.exists(target)) files.makeDirectory(target);
  if (files.list(target).length > 0) {
    throw new AppError('conflict', `${target} is not empty; name a new directory`);
  }
  for (const file of backup.files) {
    const copy = files.open(join(target, file.name), 'create');
    try {
      let position = 0;
      for await (const piece of readPieces(files, file)) {
        await writeFully(files, copy, piece, position);
        position += piece.length;
      }
      await files.datasyncAsync(copy);
    } finally {
      files.close(copy);
    }
  }
  await files.syncDirectoryAsync(target);
  await files.syncDirectoryAsync(dirname(target));
}

/** The backup as one tar file, in pieces of about a mebibyte. */
export async function* tarOf(files: Files, backup: Backup, nowMs: number): AsyncGenerator<Buffer> {
  for (const file of backup.files) {
    yield encodeTarHeader(file.name, file.bytes, nowMs);
    yield* readPieces(files, file);
    yield Buffer.alloc(tarPadding(file.bytes));
  }
  yield Buffer.alloc(2 * TAR_BLOCK_BYTES);
}

async function writeTar(
  files: Files, backup: Backup, target: string, nowMs: number,
): Promise<void> {
  if (files.exists(target)) {
    throw new AppError('conflict', `${target} is already there; name a new file`);
  }
  const descriptor = files.open(target, 'create');
  try {
    let position = 0;
    for await (const piece of tarOf(files, backup, nowMs)) {
      await writeFully(files, descriptor, piece, position);
      position += piece.length;
    }
    await files.datasyncAsync(descriptor);
    await files.syncDirectoryAsync(dirname(target));
  } catch (error) {
    files.unlink(target);
    throw error;
  } finally {
    files.close(descriptor);
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
