/**
 * A restore puts a backup in the place of a directory's data: it copies the backup beside the data,
 * verifies the copy, and replaces the data by its records (replacement.ts); the old data goes to
 * `before-<time>/`. It takes only regular files with the store's own names, and where the backup
 * has a manifest, exactly the files that are listed.
 */
import { basename, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { writeBackup } from './backup.ts';
import type { BackupSources } from './backup.ts';
import {
  checkContents, checkFiles, findManifest, hashChunks, readManifest,
} from './manifest.ts';
import type { BackupManifest, FileSum } from './manifest.ts';
import type { BackupFile } from './backup-file.ts';
import { readFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import {
  MANIFEST_NAME, isBackupName, isStoreName, listStateNames, nameOldState, readInventory,
} from '../disk/inventory.ts';
import { recoverState } from '../generations/recovery.ts';
import type { RecoveredState } from '../generations/recovery.ts';
import {
  clearStage, finishReplacements, leaveOutUnfinished, replaceState, stagePath,
} from '../generations/replacement.ts';
import { checkNotHalfCopied } from './pending-marks.ts';
import type { CollectionSpec } from '../store-port.ts';
import { verifyDirectory } from './verify.ts';
import type { VerifyReport } from './verify.ts';
import { TAR_BLOCK_BYTES, decodeTarHeader, tarPadding } from './tar.ts';

/** A backup to restore; `manifest` is null for a copy of a data directory. */
export type BackupArchive = BackupSources & { readonly manifest: BackupManifest | null };

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

/** Throws `damaged` when the backup is not whole; the data is left as it is then. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { directory, files, specs } = options;
  await prepareReplacement(options);
  const stage = stagePath(directory);
  try {
    const report = await copyArchive(options, stage);
    await options.complete?.(stage);
    const state = await recoverState({ directory: stage, files, specs });
    const { generation, before } = await replaceData(options, state);
    return { ...report, generation, before };
  } finally {
    clearStage(files, directory);
  }
}

/** Copies a backup to an empty or new directory, and verifies the copy. Throws `damaged`. */
export async function copyArchive(
  { archive, files, specs, nowMs }: Pick<RestoreOptions, 'archive' | 'files' | 'specs' | 'nowMs'>,
  directory: string,
): Promise<VerifyReport> {
  const { manifest } = archive;
  const sums = await writeBackup(files, archive, directory, nowMs);
  if (manifest !== null) checkFiles(manifest, sums);
  const report = await verifyDirectory({ directory, files, specs }, true);
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

/** Opens a backup: a directory, or a tar file. Throws `damaged` when it is not whole. */
export async function openArchive(files: Files, from: string): Promise<BackupArchive> {
  const descriptors: Descriptor[] = [];
  const open = (path: string): Descriptor => {
    const descriptor = files.openSync(path, 'read');
    descriptors.push(descriptor);
    return descriptor;
  };
  const close = (): void => {
    for (const descriptor of descriptors.splice(0)) files.closeSync(descriptor);
  };
  const createArchive = (
    backupFiles: readonly BackupFile[], manifest: BackupManifest | null,
  ): BackupArchive => {
    if (backupFiles.length > 0 || manifest !== null) {
      return { files: backupFiles, manifest, contents: null, close };
    }
    throw new AppError('not_found', `${from} holds no backup`);
  };
  try {
    if (!from.endsWith('.tar')) {
      const backupFiles = await listDirectory(files, from, open);
      return createArchive(backupFiles, await findManifest(files, from));
    }
    const entries = await listTar(files, open(from), from);
    const entry = entries.find(({ name }) => name === MANIFEST_NAME);
    const manifest = entry === undefined ? null : await readManifest(files, entry);
    return createArchive(entries.filter(({ name }) => name !== MANIFEST_NAME), manifest);
  } catch (error) {
    close();
    throw error;
  }
}

/** Reads a backup again: throws `damaged` unless its files are exactly those of its manifest. */
export async function verifyTar(files: Files, path: string): Promise<void> {
  const descriptor = files.openSync(path, 'read');
  try {
    const entries = await listTar(files, descriptor, path);
    const manifestEntry = entries.find(({ name }) => name === MANIFEST_NAME);
    if (manifestEntry === undefined) throw new AppError('damaged', `${path} has no manifest`);
    const manifest = await readManifest(files, manifestEntry);
    const sums: FileSum[] = [];
    for (const entry of entries) {
      if (entry === manifestEntry) continue;
      const chunks = hashChunks(files, entry, sums);
      while ((await chunks.next()).done !== true);
    }
    checkFiles(manifest, sums);
  } finally {
    files.closeSync(descriptor);
  }
}

async function listDirectory(
  files: Files, from: string, open: (path: string) => Descriptor,
): Promise<BackupFile[]> {
  checkNotHalfCopied(files, from);
  const inventory = await leaveOutUnfinished(files, from, readInventory(files, from));
  return listStateNames(inventory).sort().map((name) => {
    const descriptor = open(join(from, name));
    return { name, descriptor, offset: 0, bytes: files.sizeSync(descriptor) };
  });
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

/** Whether there are snapshots, journals or what belongs to them. */
function holdsData(files: Files, directory: string): boolean {
  return files.listSync(directory).some(isStoreName)
    || readInventory(files, directory).backupNotes.length > 0;
}
