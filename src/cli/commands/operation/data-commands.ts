/** `data:*`: through the control socket or in this process; never over TCP. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { COLLECTIONS } from '../../../app.ts';
import { checkBackupFolder } from '../../../app/backups.ts';
import { makeDataDirectory } from '../../../app/data-directory.ts';
import { createConfiguredEngine } from '../../../app/shared-log.ts';
import { countWaiting, restoreData } from '../../../app/restore.ts';
import { verifyStart } from '../../../app/verify-start.ts';
import { AppError, systemCodeOf } from '../../../base/errors.ts';
import { formatBackupName, openFiles, writeBackup } from '../../../store/backup/backup.ts';
import type { BackupSources } from '../../../store/backup/backup.ts';
import { parseContents } from '../../../store/backup/manifest.ts';
import { verifyEngine } from '../../../store/moving/engine-contents.ts';
import type { EngineReport } from '../../../store/moving/engine-contents.ts';
import { moveToEngine } from '../../../store/moving/move.ts';
import {
  checkHoldsBackup, copyArchive, openArchive, verifyTar,
} from '../../../store/backup/restore.ts';
import type { BackupArchive } from '../../../store/backup/restore.ts';
import type { VerifyReport } from '../../../store/backup/verify.ts';
import { unknownCollectionError } from '../../../store/generations/damage-error.ts';
import { diskError } from '../../../store/disk/disk-error.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import type { Files } from '../../../store/disk/files.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { recoverState } from '../../../store/generations/recovery.ts';
import { findJournalEnd } from '../../../store/lock/directory-lock.ts';
import { REPLICA_FOLDER, holdsData, isReplicaDirectory } from '../../../store/disk/inventory.ts';
import type { CommandContext } from '../command-context.ts';
import { findOwner } from '../../api-client/local-app.ts';
import { createProcessLogger } from '../../terminal/process-logger.ts';
import { expectObject, fetchObject, formatValue, requestObject } from '../resource-commands.ts';
import { describeRecords, useEngine, withScratch } from './engine-scratch.ts';
import { withDirectoryLock } from './directory-lock.ts';

// A live server may remove a file by a compaction while it is read; all is read again then.
const LIVE_ATTEMPTS_MAX = 3;

/** Files and folders of the user's own that a data directory may hold, and a backup does not. */
const NOT_BACKED_UP = ['settings.json', 'actions'];

/** The ends of the names of archives of other kinds, which we do not write. */
const OTHER_ARCHIVE = /\.(?:zip|tgz|gz|bz2|xz|zst|7z|rar)$/i;

/** Exit code 1 for damage, 0 with a note for a torn end. */
export async function verifyData(context: CommandContext): Promise<void> {
  if (context.args.has('from')) return verifyBackup(context);
  const engine = await createConfiguredEngine(context.loadSettings().settings);
  if (engine !== null) return verifyEngineLog(context, engine);
  return verifyFolder(context, enterData(context));
}

/**
 * Enters the data directory. Throws `not_found` if neither it nor an engine holds data: the disk of
 * the directory may be missing. Of a directory with data no settings are read: they may be broken
 * under a server that runs, and keep nobody from a backup.
 */
function enterData(context: CommandContext): string {
  const directory = context.enterExistingDataAsOwner();
  const files = createNodeFiles();
  if (holdsData(files, directory)) return directory;
  // Errors of their own have a node's directory, and one whose `lock` tells that there was data.
  const hadData = findJournalEnd(directory, files) !== null;
  if (hadData || isReplicaDirectory(files, directory)) return directory;
  if (context.loadSettings().settings.store.url !== null) return directory;
  throw new AppError('not_found', `${directory} holds no data: is --data right?`);
}

async function verifyBackup(context: CommandContext): Promise<void> {
  const from = resolveSource(context);
  if (!from.endsWith('.tar')) {
    checkHoldsBackup(createNodeFiles(), from);
    return verifyFolder(context, from);
  }
  const { files, sequence, records } = await verifyTar(createNodeFiles(), from);
  const unknown = Object.keys(records).filter((name) =>
    records[name] !== 0 && COLLECTIONS.every((collection) => collection.name !== name));
  if (unknown.length > 0) throw unknownCollectionError(from, ...unknown);
  await context.output.result({ sequence, records, isWhole: true },
    `${files.length} files with ${describeRecords(records)}; nothing is damaged`);
}

async function verifyFolder({ output }: CommandContext, directory: string): Promise<void> {
  const report = await verifyWithRetries(directory);
  for (const note of report.notes) if (!output.isJson) output.note(note);
  const finding = report.notes.length === 0 ? 'nothing is damaged'
    : 'the next start mends what is damaged';
  await output.result({ ...report, isWhole: true }, `${describe(report)}; ${finding}`);
}

/** Verifies the log of an engine: all of its snapshots, and all entries after them. */
async function verifyEngineLog(context: CommandContext, engine: Engine): Promise<void> {
  const { output } = context;
  const report = await withScratch(context.enterExistingDataAsOwner(), (scratch) =>
    useEngine(engine, { files: createNodeFiles(), scratch, mayCreate: false }, verifyEngine));
  for (const note of report.notes) if (!output.isJson) output.note(note);
  await output.result({ ...report, isWhole: true },
    `${engine.name}: ${describeEngine(report)}; nothing is damaged`);
}

export async function compactData(context: CommandContext): Promise<void> {
  const result = await requestObject(context, { method: 'POST', path: '/control/data/compact' });
  const { generation, sequence, engine } = result;
  const where = engine === null ? `generation ${formatValue(generation)}`
    : `a snapshot at sequence ${formatValue(sequence)} is in ${formatValue(engine)}`;
  await context.output.result(result, `compacted: ${where}`);
}

/** Copies the data and says how much; `data:verify` is what verifies a backup. */
export async function backupData(context: CommandContext): Promise<void> {
  const to = resolveBackupPath(context.args.get('to'), context.io.now());
  const { sources, data, others } = await copyBackup(context, to);
  const bytes = sources.files.reduce((sum, file) => sum + file.bytes, 0);
  const size = `${sources.files.length} files, ${bytes} bytes`;
  await context.output.result({ to, files: sources.files.length, bytes },
    `backed up ${size} to ${to}`);
  if (others.length > 0) context.output.note(`not in a backup: ${others.join(', ')} of ${data}`);
}

/**
 * A path that ends with a slash is a directory of backups: the backup gets a name in it. Throws
 * `usage` for the name of another archive, of which a directory would be made.
 */
function resolveBackupPath(to: string, nowMs: number): string {
  if (OTHER_ARCHIVE.test(to)) {
    throw new AppError('usage',
      `--to ${to}: a backup is a .tar file, or a directory without such an end`);
  }
  return to.endsWith('/') ? resolve(to, formatBackupName(nowMs)) : resolve(to);
}

/** The files that were copied, closed, and what else the data directory holds of the user's. */
type BackupCopy = {
  readonly sources: BackupSources; readonly data: string; readonly others: readonly string[];
};

async function copyBackup(context: CommandContext, to: string): Promise<BackupCopy> {
  const { identity } = context;
  const files = createNodeFiles();
  // We open the files as their owner, who may have replaced one by a link, and write the backup
  // as root, where the owner may not write. Where the owner could replace `to`, we stay
  // the owner, which the opening makes us in any case.
  if (!identity.isOwnersPath(to)) identity.becomeOwnerForNow();
  const sources = await openListedFiles(context, files, to);
  try {
    const data = context.enterDataAsOwner();
    const others = NOT_BACKED_UP.filter((name) => existsSync(join(data, name)));
    // All files to read are open now, and the backup is written elsewhere.
    await context.closeApiClient();
    identity.becomeRootAgain();
    await writeBackup(files, sources, to, context.io.now());
    return { sources, data, others };
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : diskError(`cannot write ${to}`, thrown);
  } finally {
    sources.close();
  }
}

/** Asks the server for the list of files, and opens them all, before any is copied (backup.ts). */
async function openListedFiles(
  context: CommandContext, files: Files, to: string,
): Promise<BackupSources> {
  enterData(context);
  for (let attempt = 1; ; attempt += 1) {
    const contents = await fetchObject(context, '/control/data/backup');
    const { files: fileList, isReplica } = contents;
    const data = context.enterDataAsOwner();
    checkBackupFolder({ to }, data, '--to');
    const entries = Array.isArray(fileList) ? fileList.map(expectObject) : [];
    try {
      return openFiles(files, isReplica === true ? join(data, REPLICA_FOLDER) : data,
        entries.map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) })),
        parseContents(contents));
    } catch (thrown) {
      // A compaction has removed a file since it was listed.
      if (systemCodeOf(thrown) !== 'ENOENT' || attempt === LIVE_ATTEMPTS_MAX) throw thrown;
    }
  }
}

export async function restoreDataCommand(context: CommandContext): Promise<number> {
  const files = createNodeFiles();
  const archive = await openArchive(files, resolveSource(context));
  try {
    return await restoreArchive(context, files, archive);
  } finally {
    archive.close();
  }
}

/** The path of `--from`, which may be read from now on. */
function resolveSource({ identity, args }: CommandContext): string {
  const from = resolve(args.get('from'));
  identity.prepareToRead(from);
  const status = statSync(from, { throwIfNoEntry: false });
  if (status === undefined) throw new AppError('not_found', `there is no backup ${from}`);
  if (!status.isDirectory() && !from.endsWith('.tar')) {
    throw new AppError('conflict', `${from} is neither a directory nor a .tar file`);
  }
  return from;
}

async function restoreArchive(
  context: CommandContext, files: Files, archive: BackupArchive,
): Promise<number> {
  const { args, output, io } = context;
  const directory = context.enterDataAsOwner();
  makeDataDirectory(directory);
  const engine = await createConfiguredEngine(context.loadSettings().settings);
  if (engine !== null) return restoreIntoEngine(context, files, archive, engine);
  return withDirectoryLock(directory, files, async (journalEnd) => {
    const report = await restoreData({
      directory, archive, files, specs: COLLECTIONS, journalEnd, isReplacing: args.has('replace'),
      nowMs: io.now(), logger: createProcessLogger(context.loadSettings().settings, io, 'warning'),
    });
    for (const note of report.notes) if (!output.isJson) output.note(note);
    const previous = report.before === null ? '' : `; what was there before is in ${report.before}`;
    await output.result(report, `restored: ${describe(report)}${previous}`,
      ...describeWaiting(report.waiting));
    return 0;
  });
}

/** Restores into an engine without a log: running nodes must not see their log go back. */
async function restoreIntoEngine(
  context: CommandContext, files: Files, archive: BackupArchive, engine: Engine,
): Promise<number> {
  const { io, output } = context;
  const report = await withScratch(context.enterDataAsOwner(), (scratch) =>
    useEngine(engine, { files, scratch, mayCreate: true }, async (opened) => {
      const source = { directory: join(scratch, 'backup'), files, specs: COLLECTIONS };
      const verifyReport = await copyArchive(
        { ...source, archive, nowMs: io.now() }, source.directory);
      const state = await recoverState(source);
      await moveToEngine(state, opened, async () => {});
      return { ...verifyReport, before: null, waiting: countWaiting(state.collections) };
    }));
  for (const note of report.notes) if (!output.isJson) output.note(note);
  await output.result(report, `restored into ${engine.name}: ${describeEngine(report)}`,
    ...describeWaiting(report.waiting));
  return 0;
}

/** Makes a line, or none where nothing waits. */
function describeWaiting(
  { deliveries, delayedEvents, requests }: ReturnType<typeof countWaiting>,
): readonly string[] {
  const counts = { deliveries, 'delayed events': delayedEvents, 'kept requests': requests };
  if (deliveries + delayedEvents + requests === 0) return [];
  return [`waiting, and sent or run at the next start: ${describeRecords(counts)}; with serve `
    + '--paused they wait on, to be looked at'];
}

async function verifyWithRetries(directory: string): Promise<VerifyReport> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await verifyStart(directory);
    } catch (thrown) {
      const isLive = findOwner(directory) !== null;
      if (!isLive || attempt === LIVE_ATTEMPTS_MAX) throw thrown;
    }
  }
}

function describe({ generation, records }: VerifyReport): string {
  return `generation ${generation} with ${describeRecords(records)}`;
}

function describeEngine(
  { sequence, records }: Pick<EngineReport, 'sequence' | 'records'>,
): string {
  return `sequence ${sequence} with ${describeRecords(records)}`;
}
