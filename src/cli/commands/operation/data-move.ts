/**
 * `data:move`: copies the records of a store that nobody serves into an engine or a directory. The
 * copy takes effect only once it was read back and found to be the same.
 */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { COLLECTIONS } from '../../../app.ts';
import { makeDataDirectory } from '../../../app/data-directory.ts';
import { createEngine, createConfiguredEngine } from '../../../app/shared-log.ts';
import { AppError, isAccessRefused } from '../../../base/errors.ts';
import { checkStoreUrl } from '../../../settings/setting-checks.ts';
import { moveToDirectory, moveToEngine } from '../../../store/moving/move.ts';
import type { SourceRecords } from '../../../store/moving/move.ts';
import type { CollectionSum } from '../../../store/moving/collection-sums.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import type { Files } from '../../../store/disk/files.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { checkJournalEnd, recoverState } from '../../../store/generations/recovery.ts';
import { findJournalEnd } from '../../../store/lock/directory-lock.ts';
import type { JournalEnd } from '../../../store/lock/directory-lock.ts';
import type { CommandContext } from '../command-context.ts';
import { describeRecords, useEngine, withScratch } from './engine-scratch.ts';
import { withDirectoryLock } from './directory-lock.ts';
import { SourceLog } from './source-log.ts';

type MoveDeps = {
  readonly context: CommandContext;
  readonly files: Files;
  /** The data directory. */
  readonly data: string;
  readonly scratch: string;
  /** null: the records go into a directory. */
  readonly target: Engine | null;
};

type MoveResult = {
  readonly to: string;
  readonly sequence: number;
  readonly collections: readonly CollectionSum[];
  /** The folder that earlier data of the target directory was moved to; null: there was none. */
  readonly before: string | null;
};

type MoveSource = {
  readonly contents: SourceRecords;
  /** Called once the copy was read back: throws when the source has changed since it was read. */
  readonly confirm: () => Promise<void>;
};

const URL_PATTERN = /^[a-z]+:\/\//;

export async function moveData(context: CommandContext): Promise<number> {
  const { settings } = context.loadSettings();
  const source = await createConfiguredEngine(settings);
  const data = source === null ? context.enterExistingDataAsOwner() : context.enterDataAsOwner();
  makeDataDirectory(data);
  const to = context.args.get('to');
  const passwordFile = context.args.find('password-file');
  const target = !URL_PATTERN.test(to) ? null
    : await createEngine(checkUrl(to), passwordFile === undefined ? null : resolve(passwordFile));
  const files = createNodeFiles();
  return withLockIfWritable(data, files, (journalEnd) => withScratch(data, async (scratch) => {
    const deps = { context, files, data, scratch, target };
    const result = source === null ? await moveFromFiles(deps, journalEnd)
      : await moveFromEngine(deps, source);
    await printMove(deps, result, source);
    return 0;
  }));
}

/** Throws `usage`, without the URL, which may hold a password. */
function checkUrl(to: string): string {
  const result = checkStoreUrl(to);
  if (!('expected' in result)) return to;
  throw new AppError('usage', `--to must be a directory, or ${result.expected}`);
}

async function moveFromFiles(deps: MoveDeps, journalEnd: JournalEnd | null): Promise<MoveResult> {
  const { files, data } = deps;
  const contents = await recoverState({ directory: data, files, specs: COLLECTIONS });
  checkJournalEnd(contents, journalEnd);
  return writeToTarget(deps, { contents, confirm: async () => {} });
}

function moveFromEngine(deps: MoveDeps, source: Engine): Promise<MoveResult> {
  const { context: { args, io, output }, target } = deps;
  return useEngine(source, { ...deps, mayCreate: false }, async (opened) => {
    const log = await SourceLog.read({
      opened, to: target === null ? resolve(args.get('to')) : target.name,
      nowMs: () => io.now(), note: (text) => output.note(text),
    });
    try {
      const moveSource = { contents: log.contents, confirm: () => log.close() };
      const result = await writeToTarget(deps, moveSource);
      const { earlierTarget } = log;
      if (earlierTarget !== null && earlierTarget !== result.to) {
        output.note(`${source.name} was moved to ${earlierTarget} before: what was written there `
          + 'is not among these records');
      }
      return result;
    } catch (thrown) {
      if (!log.isClosed || !(thrown instanceof AppError)) throw thrown;
      throw new AppError(thrown.code, `${thrown.message}; ${source.name} is closed, and no node `
        + 'starts on it any more: run this again, or name another place', {}, thrown);
    }
  });
}

async function writeToTarget(
  deps: MoveDeps, { contents, confirm }: MoveSource,
): Promise<MoveResult> {
  const { context: { args, io }, files, data, scratch, target } = deps;
  const { sequence } = contents;
  if (target !== null) {
    return withScratch(scratch, (inner) =>
      useEngine(target, { files, scratch: inner, mayCreate: true }, async (opened) => {
        const collections = await moveToEngine(contents, opened, confirm);
        return { to: target.name, sequence, collections, before: null };
      }));
  }
  const directory = resolve(args.get('to'));
  makeDataDirectory(directory, '--to');
  const options = {
    directory, files, isReplacing: args.has('replace'), nowMs: io.now(),
  };
  const run = () => moveToDirectory(contents, options, confirm);
  const { sums, before } = directory === data
    ? await run() : await withLockIfWritable(directory, files, run);
  return { to: directory, sequence, collections: sums, before };
}

/** Locks the data directory, unless it is read-only: nobody can write there then. */
function withLockIfWritable<T>(
  directory: string, files: Files, use: (journalEnd: JournalEnd | null) => Promise<T>,
): Promise<T> {
  return isReadOnly(directory) ? use(findJournalEnd(directory, files))
    : withDirectoryLock(directory, files, use);
}

function isReadOnly(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return false;
  } catch (thrown) {
    if (isAccessRefused(thrown)) return true;
    throw thrown;
  }
}

async function printMove(deps: MoveDeps, result: MoveResult, source: Engine | null): Promise<void> {
  const { to, sequence, collections, before } = result;
  const records = describeRecords(Object.fromEntries(collections.map(({ collection, records }) =>
    [collection, records])));
  const previous = before === null ? '' : `; what was there before is in ${before}`;
  const next = describeNextSteps(deps, result, source);
  const lines = [
    `moved ${records} (sequence ${sequence}) to ${to}`,
    `read back, the checksum of each of ${collections.length} collections is the same${previous}`,
    ...next,
  ];
  await deps.context.output.result({ ...result, next }, ...lines);
}

/** Says what to change in the settings. */
function describeNextSteps(
  { context, target }: MoveDeps, { to }: MoveResult, source: Engine | null,
): readonly string[] {
  const origin = context.loadSettings().origins.get('store.url');
  if (target !== null) {
    const instead = source === null ? '' : `, in place of ${source.name} (from ${origin})`;
    const sourceNote = source === null ? describeUnusedFiles(context.enterDataAsOwner())
      : describeClosedLog(source);
    return [`now set store.url to the URL of ${to}${instead}, for every node`, sourceNote];
  }
  return source === null ? [`now start with --data ${to}`]
    : [`now remove store.url (from ${origin}), and start with --data ${to}`,
      describeClosedLog(source)];
}

function describeUnusedFiles(directory: string): string {
  return `the files in ${directory} stay as they are, and are not used while store.url is set`;
}

function describeClosedLog({ name }: Engine): string {
  return `${name} is closed: it keeps what it has, and nodes there take no write and say where the `
    + 'records are';
}
