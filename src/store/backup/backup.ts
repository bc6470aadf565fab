/**
 * A backup is a copy of the files that a start would read now, between two batches, each up to its
 * length now: the snapshots of the base generation, and the journals from there on. It goes into an
 * empty directory, or into one tar file, with a manifest (manifest.ts), whose checksums
 * `data:verify` compares later: here nothing is verified.
 *
 * All files are opened before any is copied, so that compactions meanwhile cannot take them away.
 * The server opens them (`openStateFiles`), answers their names and lengths, and closes them. The
 * command `data:backup`, mostly in another process, opens them again by name (`openFiles`), and
 * copies them. Between the two a compaction may remove a file: the command finds no such file, and
 * asks for a new list.
 */
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isCount } from '../../base/fields.ts';
import { makeDurableDirectory, withFile, writeFully } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import {
  BACKUP_PENDING, MANIFEST_NAME, isBackupName, journalName, snapshotName, readInventory,
} from '../disk/inventory.ts';
import { checkFileBytes, encodeManifest, hashChunks } from './manifest.ts';
import type { BackupContents, BackupFile, BackupManifest, FileSum } from './manifest.ts';
import { TAR_BLOCK_BYTES, encodeTarHeader, tarPadding } from './tar.ts';

/** The open files to copy into a backup, or, when restoring, from one. */
export interface BackupSources {
  readonly files: readonly BackupFile[];
  /** The contents for the manifest; null: the backup gets none. */
  readonly contents: BackupContents | null;
  /** Idempotent. */
  close(): void;
}

/** The name of a backup that is made at `nowMs`, in whole seconds, without an end. */
export function formatBackupName(nowMs: number): string {
  const time = new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
  return `hookshelf-${time}`;
}

/**
 * Opens the files that make up the state: the snapshots of generation `base` (0: there are none),
 * and the journals from there to the one in use. A newer journal is empty: a compaction made it and
 * gave up.
 */
export function openStateFiles(
  files: Files, directory: string, base: number,
  inUse: { readonly generation: number; readonly length: number }, contents: BackupContents,
): BackupSources {
  const inventory = readInventory(files, directory);
  const journals = inventory.journals.filter((generation) =>
    generation >= base && generation <= inUse.generation);
  const names = [
    ...(inventory.snapshots.get(base) ?? []).map((name) => snapshotName(name, base)),
    ...journals.map(journalName),
  ];
  // The journal in use is synced up to this length. Bytes behind it may never be acknowledged.
  const currentJournal = journalName(inUse.generation);
  return openFiles(files, directory, names.map((name) =>
    ({ name, bytes: name === currentJournal ? inUse.length : null })), contents);
}

/**
 * Opens files of a directory by name. Each is copied up to `bytes`; null: to its end. Throws
 * `unavailable` for a name that is not one of the store's: the names may come from another process
 * over a control socket, which could name any file.
 */
export function openFiles(
  files: Files, directory: string,
  requested: readonly { readonly name: string; readonly bytes: number | null }[],
  contents: BackupContents | null,
): BackupSources {
  const openedFiles: BackupFile[] = [];
  const close = (): void => {
    for (const { descriptor } of openedFiles.splice(0)) files.closeSync(descriptor);
  };
  try {
    for (const { name, bytes } of requested) {
      if (!isBackupName(name) || (bytes !== null && !isCount(bytes))) {
        throw new AppError('unavailable', `what was to be copied is no file of the store: ${name}`);
      }
      const descriptor = files.openSync(join(directory, name), 'read');
      openedFiles.push({ name, descriptor, offset: 0, bytes: bytes ?? files.sizeSync(descriptor) });
    }
  } catch (error) {
    close();
    throw error;
  }
  return { files: [...openedFiles], contents, close };
}

/** Reads every file of a backup in a directory. Throws `damaged` as `checkFiles` does. */
export async function checkDirectory(
  files: Files, directory: string, manifest: BackupManifest,
): Promise<void> {
  const names = files.listSync(directory).filter(isBackupName);
  const sources = openFiles(files, directory, names.map((name) => ({ name, bytes: null })), null);
  try {
    await checkFileBytes(files, sources.files, manifest);
  } finally {
    sources.close();
  }
}

/**
 * Copies a backup to `target`: one file when that ends in `.tar`, else an empty directory. Resolves
 * with what was copied. `verify` gets the path of the tar file before that has its name: where it
 * throws, there is no backup.
 */
export async function writeBackup(
  files: Files, sources: BackupSources, target: string, nowMs: number,
  verify: (path: string) => Promise<unknown> = async () => {},
): Promise<readonly FileSum[]> {
  if (target.endsWith('.tar')) return writeTar(files, sources, target, { nowMs, verify });
  const isNew = !files.existsSync(target);
  makeDurableDirectory(files, target);
  // By path, the owner of the parent folder could swap in another directory while we write.
  const directory = files.openDirectorySync(target);
  try {
    return await fillEmptyDirectory(files, sources, directory.path, target);
  } catch (error) {
    if (isNew) files.removeDirectorySync(target);
    throw error;
  } finally {
    directory.close();
  }
}

async function fillEmptyDirectory(
  files: Files, sources: BackupSources, directory: string, target: string,
): Promise<readonly FileSum[]> {
  if (!files.isEmptySync(directory)) {
    throw new AppError('conflict', `${target} is not empty: name a new directory, or `
      + `${target}/ to have one made in it`);
  }
  const mark = join(directory, BACKUP_PENDING);
  // Two backups may choose the same directory: only one of them can create the mark.
  files.closeSync(files.openSync(mark, 'create'));
  const createdPaths = [mark];
  try {
    const sums = await fillDirectory(files, sources, directory, (path) => createdPaths.push(path));
    files.unlinkSync(mark);
    await files.syncDirectory(directory);
    return sums;
  } catch (error) {
    for (const path of createdPaths) if (files.existsSync(path)) files.unlinkSync(path);
    throw error;
  }
}

export async function* encodeTar(
  files: Files, sources: BackupSources, nowMs: number, sums: FileSum[],
): AsyncGenerator<Buffer> {
  for (const file of sources.files) {
    yield encodeTarHeader(file.name, file.bytes, nowMs);
    yield* hashChunks(files, file, sums);
    yield Buffer.alloc(tarPadding(file.bytes));
  }
  if (sources.contents !== null) {
    const manifest = encodeManifest(sources.contents, sums);
    yield encodeTarHeader(MANIFEST_NAME, manifest.length, nowMs);
    yield manifest;
    yield Buffer.alloc(tarPadding(manifest.length));
  }
  yield Buffer.alloc(2 * TAR_BLOCK_BYTES);
}

/** Syncs the directory first, so that the mark is on disk before any file. */
async function fillDirectory(
  files: Files, sources: BackupSources, target: string, onCreated: (path: string) => void,
): Promise<readonly FileSum[]> {
  const sums: FileSum[] = [];
  await files.syncDirectory(target);
  for (const file of sources.files) {
    await writeCopy(files, join(target, file.name), hashChunks(files, file, sums), onCreated);
  }
  if (sources.contents !== null) {
    const manifest = encodeManifest(sources.contents, sums);
    await writeCopy(files, join(target, MANIFEST_NAME), [manifest], onCreated);
  }
  await files.syncDirectory(target);
  return sums;
}

async function writeCopy(
  files: Files, path: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  onCreated: (path: string) => void,
): Promise<void> {
  await withFile(files, path, 'create', async (copy) => {
    onCreated(path);
    let position = 0;
    for await (const chunk of chunks) {
      await writeFully(files, copy, chunk, position);
      position += chunk.length;
    }
    await files.datasync(copy);
  });
}

/** Writes under a temporary name, and renames the file once all its bytes are on disk. */
async function writeTar(
  files: Files, sources: BackupSources, target: string,
  { nowMs, verify }: {
    readonly nowMs: number; readonly verify: (path: string) => Promise<unknown>;
  },
): Promise<readonly FileSum[]> {
  if (files.existsSync(target)) {
    throw new AppError('conflict', `${target} is already there; name a new file`);
  }
  const part = `${target}.${nowMs}.part`;
  let isMade = false;
  try {
    const sums: FileSum[] = [];
    await writeCopy(files, part, encodeTar(files, sources, nowMs, sums), () => isMade = true);
    await verify(part);
    files.renameSync(part, target);
    await files.syncDirectory(dirname(target));
    return sums;
  } catch (error) {
    if (isMade && files.existsSync(part)) files.unlinkSync(part);
    throw error;
  }
}
