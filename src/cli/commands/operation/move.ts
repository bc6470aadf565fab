/**
 * `data:move`: brings the records of a store that nobody serves into an engine or a directory.
 * Nothing counts before it is read back: what is there is the same, or nothing is.
 */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { COLLECTIONS } from '../../../app.ts';
import { makeDataDirectory } from '../../../app/data-directory.ts';
import { engineAt, engineOf } from '../../../app/engine.ts';
import { AppError, isAccessRefused } from '../../../base/errors.ts';
import { checkStoreUrl } from '../../../settings/check.ts';
import { moveToDirectory, moveToEngine } from '../../../store/backup/move.ts';
import type { StillRecords } from '../../../store/backup/move.ts';
import { checkNothingPending } from '../../../store/backup/pending.ts';
import type { CollectionSum } from '../../../store/backup/sums.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import type { Files } from '../../../store/disk/files.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { assessDirectory } from '../../../store/generations/recovery.ts';
import type { CommandContext } from '../context.ts';
import { describeRecords, openEngineFor, withScratch } from './engine.ts';
import { holding } from './hold.ts';
import { SourceLog } from './source-log.ts';

type Move = {
  readonly context: CommandContext;
  readonly files: Files;
  /** The data directory. */
  readonly data: string;
  readonly scratch: string;
  /** Of the target; null: a directory. */
  readonly target: Engine | null;
};

type Moved = {
  readonly to: string;
  readonly sequence: number;
  readonly collections: readonly CollectionSum[];
  /** Where what was in the place of the records is now. */
  readonly before: string | null;
};

type Source = { readonly contents: StillRecords; readonly confirm: () => Promise<void> };

const URL_PATTERN = /^[a-z]+:\/\//;

export async function moveData(context: CommandContext): Promise<number> {
  const { settings } = context.loadSettings();
  const source = await engineOf(settings);
  const data = source === null ? context.enterExistingData() : context.enterData();
  makeDataDirectory(data);
  const to = context.given.get('to');
  const passwordFile = context.given.find('password-file');
  const target = !URL_PATTERN.test(to) ? null
    : await engineAt(checkUrl(to), passwordFile === undefined ? null : resolve(passwordFile));
  const files = createNodeFiles();
  return holdingIfWritable(data, files, () => withScratch(data, async (scratch) => {
    const move = { context, files, data, scratch, target };
    const moved = source === null ? await moveFiles(move) : await moveEngine(move, source);
    await report(move, moved, source);
    return 0;
  }));
}

/** Throws `usage`, without the URL, which may hold a password. */
function checkUrl(to: string): string {
  const checked = checkStoreUrl(to);
  if (!('problem' in checked)) return to;
  throw new AppError('usage', `--to must be a directory, or ${checked.problem}`);
}

async function moveFiles(move: Move): Promise<Moved> {
  const { files, data } = move;
  checkNothingPending(files, data);
  const contents = await assessDirectory({ directory: data, files, specs: COLLECTIONS });
  return put(move, { contents, confirm: async () => {} });
}

function moveEngine(move: Move, source: Engine): Promise<Moved> {
  const { context: { given, io, output }, target } = move;
  return openEngineFor(source, { ...move, mayMake: false }, async (opened) => {
    const log = await SourceLog.read({
      opened, to: target === null ? resolve(given.get('to')) : target.name,
      nowMs: () => io.now(), note: (text) => output.note(text),
    });
    try {
      const moved = await put(move, { contents: log.contents, confirm: () => log.close() });
      const { earlierTarget } = log;
      if (earlierTarget !== null && earlierTarget !== moved.to) {
        output.note(`${source.name} was moved to ${earlierTarget} before: what was written there `
          + 'is not among these records');
      }
      return moved;
    } catch (thrown) {
      if (!log.isClosed || !(thrown instanceof AppError)) throw thrown;
      throw new AppError(thrown.code, `${thrown.message}; ${source.name} is closed, and no node `
        + 'starts on it any more: run this again, or name another place', {}, thrown);
    }
  });
}

async function put(move: Move, { contents, confirm }: Source): Promise<Moved> {
  const { context: { given, io }, files, data, scratch, target } = move;
  const { sequence } = contents;
  if (target !== null) {
    return withScratch(scratch, (inner) =>
      openEngineFor(target, { files, scratch: inner, mayMake: true }, async (opened) => {
        const collections = await moveToEngine(contents, opened, confirm);
        return { to: target.name, sequence, collections, before: null };
      }));
  }
  const directory = resolve(given.get('to'));
  makeDataDirectory(directory);
  const options = {
    directory, files, specs: COLLECTIONS, isReplacing: given.has('replace'), nowMs: io.now(),
    scratch,
  };
  const run = () => moveToDirectory(contents, options, confirm);
  const { sums, before } = directory === data
    ? await run() : await holdingIfWritable(directory, files, run);
  return { to: directory, sequence, collections: sums, before };
}

/** Holds a data directory, unless nobody can write there. */
function holdingIfWritable<T>(
  directory: string, files: Files, use: () => Promise<T>,
): Promise<T> {
  return isReadOnly(directory) ? use() : holding(directory, files, use);
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

async function report(move: Move, moved: Moved, source: Engine | null): Promise<void> {
  const { to, sequence, collections, before } = moved;
  const what = describeRecords(Object.fromEntries(collections.map(({ collection, records }) =>
    [collection, records])));
  const kept = before === null ? '' : `; what was there before is in ${before}`;
  const next = nextSteps(move, moved, source);
  const lines = [
    `moved ${what} (sequence ${sequence}) to ${to}`,
    `read back, the checksum of each of ${collections.length} collections is the same${kept}`,
    ...next,
  ];
  await move.context.output.result({ ...moved, next }, ...lines);
}

/** What to change in the settings. */
function nextSteps(
  { context, target }: Move, { to }: Moved, source: Engine | null,
): readonly string[] {
  const origin = context.loadSettings().origins.get('store.url');
  if (target !== null) {
    const instead = source === null ? '' : `, in place of ${source.name} (from ${origin})`;
    const left = source === null ? `the files in ${context.enterData()} stay as they are, and are `
      + 'not used while store.url is set' : closedNote(source);
    return [`now set store.url to the URL of ${to}${instead}, for every node`, left];
  }
  return source === null ? [`now start with --data ${to}`]
    : [`now remove store.url (from ${origin}), and start with --data ${to}`,
      closedNote(source)];
}

function closedNote({ name }: Engine): string {
  return `${name} is closed: it keeps what it has, and nodes there take no write and say where the `
    + 'records are';
}
