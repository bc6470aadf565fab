/**
 * A restore puts a backup in the place of a directory's data: it copies the backup beside the data,
 * verifies the copy, and replaces the data by its records (replacement.ts); the old data goes to
 * `before-<time>/`. It takes only regular files with the store's own names, and where the backup
 * has a manifest, exactly the files that are listed.
 */
import { basename, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { openFiles, writeBackup } from './backup.ts';
import type { BackupSources } from './backup.ts';
import {
  checkFileBytes, checkContents, checkFiles, findManifest, readManifest,
} from './manifest.ts';
import type { BackupFile, BackupManifest } from './manifest.ts';
import { readFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import {
  MANIFEST_NAME, holdsData, isBackupName, listStateNames, nameOldState,
} from '../disk/inventory.ts';
import { recoverState } from '../generations/recovery.ts';
import type { RecoveredState } from '../generations/recovery.ts';
import {
  clearStage, finishReplacements, readStateInventory, replaceState, stagePath,
} from '../generations/replacement.ts';
import { findJournalEnd } from '../lock/directory-lock.ts';
import type { JournalEnd } from '../lock/directory-lock.ts';
import type { CollectionSpec } from '../store-port.ts';
import { verifyDirectory } from './verify.ts';
import type { VerifyReport } from './verify.ts';
import { TAR_BLOCK_BYTES, decodeTarHeader, tarPadding } from './tar.ts';

/** A backup to restore; `manifest` is null for a copy of a data directory. */
export type BackupArchive = BackupSources & {
  readonly manifest: BackupManifest | null;
  /** Where the journal of a copy of a data directory must end; null: not known. */
  readonly journalEnd: JournalEnd | null;
};

export type RestoreOptions = {
  /** The caller holds its lock. */
  readonly directory: string;
  /** Opened with `openArchive`; its owner closes it. */
  readonly archive: BackupArchive;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  /** Whether data that is there is moved aside; else it is a `conflict`. */
  readonly isReplacing: boolean;
  readonly nowMs: number;
  /** Called with the directory of the copy, before that replaces the data; may throw to stop it. */
  readonly complete?: (directory: string) => Promise<void>;
};

export type RestoreReport = VerifyReport & {
  /** The directory that the old data was moved to; null: there was none. */
  readonly before: string | null;
};

/**
 * Resolves also with the records that were restored. Throws `damaged` when the backup is not whole;
 * the data is left as it is then.
 */
export async function restoreBackup(
  options: RestoreOptions,
): Promise<RestoreReport & Pick<RecoveredState, 'collections'>> {
  const { directory, files, specs } = options;
  await prepareReplacement(options);
  const stage = stagePath(directory);
  try {
    const report = await copyArchive(options, stage);
    await options.complete?.(stage);
    const state = await recoverState({ directory: stage, files, specs });
    const { generation, before } = await replaceData(options, state);
    return { ...report, generation, before, collections: state.collections };
  } finally {
    clearStage(files, directory);
  }
}

/** Copies a backup to an empty or new directory, and verifies the copy. Throws `damaged`. */
export async function copyArchive(
  { archive, files, specs, nowMs }: Pick<RestoreOptions, 'archive' | 'files' | 'specs' | 'nowMs'>,
  directory: string,
): Promise<VerifyReport> {
  const { manifest, journalEnd } = archive;
  const sums = await writeBackup(files, archive, directory, nowMs);
  if (manifest !== null) checkFiles(manifest, sums);
  const report = await verifyDirectory(
    { directory, files, specs }, { mustBegin: true, journalEnd });
  if (manifest !== null) checkContents(manifest, report);
  return report;
}

type ReplacedData = Pick<RestoreOptions, 'directory' | 'files' | 'isReplacing' | 'nowMs'>;

/** Ends what was cut off. Throws `conflict` where there is data that may not be replaced. */
export async function prepareReplacement(
  { directory, files, isReplacing }: ReplacedData,
): Promise<void> {
  await finishReplacements(files, directory);
  if (isReplacing || !holdsData(files, directory)) return;
  throw new AppError('conflict', `${directory} holds data already; --replace moves it away`);
}

/** Replaces the data of a directory, and moves the old data aside. */
export async function replaceData(
  { directory, files, nowMs }: ReplacedData,
  state: Pick<RecoveredState, 'collections' | 'sequence'>,
  confirm?: (written: RecoveredState['collections']) => Promise<void>,
): Promise<Pick<RestoreReport, 'generation' | 'before'>> {
  const before = holdsData(files, directory) ? nameOldState(nowMs) : null;
  const { generation } = await replaceState(files, directory, state, { before, confirm });
  return { generation, before: before === null ? null : join(directory, before) };
}

/**
 * Opens a backup: a directory, or a tar file. Throws `damaged` when it is not whole, and
 * `not_found` when it is none.
 */
export async function openArchive(files: Files, from: string): Promise<BackupArchive> {
  const archive = await (from.endsWith('.tar') ? openTar : openDirectory)(files, from);
  try {
    if (archive.manifest !== null) await checkFileBytes(files, archive.files, archive.manifest);
    else if (archive.files.length === 0) {
      throw new AppError('not_found', `${from} holds no backup`);
    }
    return archive;
  } catch (thrown) {
    archive.close();
    throw thrown;
  }
}

/** Reads a backup again: throws `damaged` unless its files are exactly those of its manifest. */
export async function verifyTar(files: Files, path: string): Promise<BackupManifest> {
  const { files: entries, manifest, close } = await openTar(files, path);
  try {
    if (manifest === null) throw new AppError('damaged', `${path} has no manifest`);
    await checkFileBytes(files, entries, manifest);
    return manifest;
  } finally {
    close();
  }
}

/** Throws `not_found` for a directory that is no backup, and names the newest `.tar` in it. */
export function checkHoldsBackup(files: Files, directory: string): void {
  if (holdsData(files, directory)) return;
  // The names that a server gives its backups sort by their time.
  const newest = files.listSync(directory).filter((name) => name.endsWith('.tar')).sort().at(-1);
  throw new AppError('not_found', newest === undefined ? `${directory} holds no backup`
    : `${directory} holds no backup itself, but is a folder of backups: name one, such as `
      + `--from ${join(directory, newest)}`);
}

async function openDirectory(files: Files, from: string): Promise<BackupArchive> {
  checkHoldsBackup(files, from);
  // Before the files: a server that stops meanwhile writes a later end.
  const lockEnd = findJournalEnd(from, files);
  const names = listStateNames(await readStateInventory(files, from)).sort();
  const manifest = await findManifest(files, from);
  const sources = openFiles(files, from, names.map((name) => ({ name, bytes: null })), null);
  return { ...sources, manifest, journalEnd: manifest === null ? lockEnd : null };
}

async function openTar(files: Files, path: string): Promise<BackupArchive> {
  const descriptor = files.openSync(path, 'read');
  let isOpen = true;
  const close = (): void => {
    if (isOpen) files.closeSync(descriptor);
    isOpen = false;
  };
  try {
    const entries = await listTar(files, descriptor, path);
    const entry = entries.find(({ name }) => name === MANIFEST_NAME);
    const manifest = entry === undefined ? null : await readManifest(files, entry);
    const sources = { files: entries.filter((other) => other !== entry), contents: null, close };
    return { ...sources, manifest, journalEnd: null };
  } catch (error) {
    close();
    throw error;
  }
}

async function listTar(files: Files, descriptor: Descriptor, path: string): Promise<BackupFile[]> {
  const entries = new Map<string, BackupFile>();
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  const size = files.sizeSync(descriptor);
  let offset = 0;
  while (true) {
    const count = await readFully(files, descriptor, block, offset);
    const header = decodeTarHeader(block.subarray(0, count));
    if (header === 'end') return [...entries.values()];
    const contentOffset = offset + TAR_BLOCK_BYTES;
    if (header === null || contentOffset + header.bytes > size) {
      throw new AppError('damaged', `${path}, offset ${offset}: not a whole tar file`);
    }
    const name = basename(header.name);
    if (header.isFile && (isBackupName(name) || name === MANIFEST_NAME)) {
      entries.set(name, { name, descriptor, offset: contentOffset, bytes: header.bytes });
    }
    offset = contentOffset + header.bytes + tarPadding(header.bytes);
  }
}
