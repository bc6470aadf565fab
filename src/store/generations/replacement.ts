/**
 * A replacement puts a whole state in the place of all that a directory holds, such that a crash
 * leaves the old state or the new one, and a start opens either. The state becomes a new
 * generation G, above all that are there, and above the end of the journal that `lock` tells, which
 * says nothing of G then (lock-owner.ts):
 *
 *  1. The mark `journal-G.replacing`, synced: one line of JSON, `{"before":"<folder>"}` where the
 *     old files are kept in that folder of the directory, `{"before":null}` where they are deleted.
 *     While it is there, the files of G count only once its snapshots are all there.
 *  2. The journal of G with its first line, synced. The snapshots as `.tmp` files, each synced.
 *  3. All of them renamed: with the last name the new state counts. The directory synced.
 *  4. A `snapshots` note in the journal: from here on a missing snapshot is damage.
 *  5. Everything older is moved away, or deleted.
 *  6. The mark is removed.
 *
 * A start after a crash goes on with step 5, or removes what came of steps 1 to 3; readers that
 * change nothing, such as data:verify, leave the files of an unfinished G out.
 *
 * A backup from which the state comes is in the folder `replacing.tmp` until it is in memory.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Files } from '../disk/files.ts';
import {
  BACKUP_PENDING, journalName, readInventory, replacingName, snapshotName, temporaryName,
  unsyncedName,
} from '../disk/inventory.ts';
import type { Inventory } from '../disk/inventory.ts';
import { readSmallFile, replaceFile } from '../disk/read-write.ts';
import { createJournalFile } from '../journal/journal-file.ts';
import { JournalLineEncoder } from '../journal/journal-line-encoder.ts';
import { findJournalEnd } from '../lock/directory-lock.ts';
import { createCollections, freezeAll } from '../records/collection.ts';
import type { FrozenCollection, StoredCollection } from '../records/collection.ts';
import { loadSnapshot, readHeader } from './snapshot.ts';
import { writeSnapshots } from './snapshot-writer.ts';

type ReplacementState = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly sequence: number;
};

type ReplacementOptions = {
  /** The folder of the directory for the old files; null: they are deleted. */
  readonly before: string | null;
  readonly isStopping?: () => boolean;
  /** Called with what was written, read back, before it counts; may throw to give it up. */
  readonly confirm?: ((written: ReplacementState['collections']) => Promise<void>) | undefined;
};

const MARK_BYTES_MAX = 1024;
const STAGE_NAME = 'replacing.tmp';

/** The folder for the backup that a state is read from. */
export function stagePath(directory: string): string {
  return join(directory, STAGE_NAME);
}

export function clearStage(files: Files, directory: string): void {
  const stage = stagePath(directory);
  if (!files.existsSync(stage)) return;
  for (const name of files.listSync(stage)) files.unlinkSync(join(stage, name));
  files.removeDirectorySync(stage);
}

/**
 * Writes the state as of the call; it may change meanwhile. The caller holds the directory's lock,
 * and has opened nothing in it. Resolves with the new generation, and the length of its journal.
 */
export async function replaceState(
  files: Files, directory: string, state: ReplacementState, options: ReplacementOptions,
): Promise<{ readonly generation: number; readonly length: number }> {
  const frozen = freezeAll(state.collections);
  try {
    return await replaceBy(files, directory, state, frozen, options);
  } finally {
    for (const collection of state.collections.values()) collection.thaw();
  }
}

async function replaceBy(
  files: Files, directory: string, state: ReplacementState,
  frozen: ReadonlyMap<string, FrozenCollection>, options: ReplacementOptions,
): Promise<{ readonly generation: number; readonly length: number }> {
  await finishReplacements(files, directory);
  const inventory = readInventory(files, directory);
  const generation = Math.max(findJournalEnd(directory, files)?.generation ?? 0,
    ...inventory.journals, ...inventory.snapshots.keys()) + 1;
  const path = join(directory, replacingName(generation));
  try {
    const mark = `${JSON.stringify({ before: options.before })}\n`;
    await replaceFile(files, path, Buffer.from(mark));
    const length = await writeGeneration(files, directory, generation, state, frozen, options);
    return { generation, length };
  } finally {
    if (files.existsSync(temporaryName(path))) files.unlinkSync(temporaryName(path));
    await finishReplacements(files, directory);
  }
}

/**
 * Finishes or takes back what a crash has left, and clears the stage; the caller holds the
 * directory's lock.
 */
export async function finishReplacements(files: Files, directory: string): Promise<void> {
  clearStage(files, directory);
  const inventory = readInventory(files, directory);
  for (const generation of inventory.replacing) {
    if (await isComplete(files, directory, inventory, generation)) {
      // A crash may have come before the names were on disk.
      await files.syncDirectory(directory);
      await moveOlderAway(files, directory, inventory, generation);
    } else {
      for (const name of listGeneration(files, directory, generation)) {
        await files.unlink(join(directory, name));
      }
      await files.syncDirectory(directory);
    }
    files.unlinkSync(join(directory, replacingName(generation)));
    await files.syncDirectory(directory);
  }
}

/**
 * The inventory that a state is read from: without the files of replacements that do not count.
 * Throws `damaged` for a backup that was cut off half way. Its files alone do not show that: a
 * journal without its end, or a generation without its newest journal, looks as if it had ended
 * there.
 */
export async function readStateInventory(files: Files, directory: string): Promise<Inventory> {
  const inventory = readInventory(files, directory);
  if (inventory.backupNotes.includes(BACKUP_PENDING)) {
    throw new AppError('damaged', `the backup ${directory} was cut off while it was written; make `
      + 'another one');
  }
  const unfinishedGenerations: number[] = [];
  for (const generation of inventory.replacing) {
    const isWhole = await isComplete(files, directory, inventory, generation);
    if (!isWhole) unfinishedGenerations.push(generation);
  }
  if (unfinishedGenerations.length === 0) return inventory;
  return {
    ...inventory,
    journals: inventory.journals.filter((generation) =>
      !unfinishedGenerations.includes(generation)),
    snapshots: new Map([...inventory.snapshots].filter(([generation]) =>
      !unfinishedGenerations.includes(generation))),
  };
}

/** Resolves with the length of the journal. */
async function writeGeneration(
  files: Files, directory: string, generation: number, { sequence, collections }: ReplacementState,
  frozen: ReadonlyMap<string, FrozenCollection>,
  { confirm, isStopping = () => false }: ReplacementOptions,
): Promise<number> {
  const journal = await createJournalFile(files, directory, generation, sequence);
  try {
    const set = { directory, generation, sequence, frozen, isStopping };
    await writeSnapshots(files, set, async () => {
      await confirm?.(await readBack(files, directory, generation, collections));
    });
    const encoder = new JournalLineEncoder();
    encoder.addNote(sequence, { snapshots: [...frozen.keys()] });
    const failure = await journal.append(encoder.bytes);
    // The state counts without the note, which the next start writes.
    if (failure?.kind === 'unknown') throw failure.cause;
    return journal.length;
  } finally {
    journal.close();
  }
}

/** Reads the snapshots of a generation that have only their temporary names. */
async function readBack(
  files: Files, directory: string, generation: number,
  collections: ReplacementState['collections'],
): Promise<ReplacementState['collections']> {
  const copies = createCollections([...collections.values()].map(({ spec }) => spec));
  for (const [name, collection] of copies) {
    const path = join(directory, temporaryName(snapshotName(name, generation)));
    await loadSnapshot(files, path, collection);
  }
  return copies;
}

async function isComplete(
  files: Files, directory: string, { journals, snapshots }: Inventory, generation: number,
): Promise<boolean> {
  const present = snapshots.get(generation) ?? [];
  const [first] = present;
  if (first === undefined || !journals.includes(generation)) return false;
  const header = await readHeader(files, join(directory, snapshotName(first, generation)));
  return header.collections.every((name) => present.includes(name));
}

async function moveOlderAway(
  files: Files, directory: string, inventory: Inventory, generation: number,
): Promise<void> {
  const before = await readMark(files, join(directory, replacingName(generation)));
  const names = listOlder(inventory, generation);
  const keptNames = [...inventory.backupNotes, ...names];
  // After a crash that came after the last rename, the folders may not be on disk yet.
  if (before === null) {
    for (const name of names) await files.unlink(join(directory, name));
  } else if (keptNames.length > 0 || files.existsSync(join(directory, before))) {
    const folder = join(directory, before);
    if (!files.existsSync(folder)) files.makeDirectorySync(folder);
    // A crash must not leave files in a folder that has no name yet.
    await files.syncDirectory(directory);
    for (const name of keptNames) files.renameSync(join(directory, name), join(folder, name));
    await files.syncDirectory(folder);
  }
  await files.syncDirectory(directory);
}

/** The folder for the old files; null: they are deleted. */
async function readMark(files: Files, path: string): Promise<string | null> {
  const bytes = await readSmallFile(files, path, MARK_BYTES_MAX);
  const mark: unknown = JSON.parse(bytes?.toString() ?? 'null');
  const before = isJsonObject(mark) ? mark.before : null;
  return typeof before === 'string' ? before : null;
}

/** The files of older generations, the newest journal last: it is what a start needs most. */
function listOlder(
  { journals, snapshots, unsynced, torn }: Inventory, generation: number,
): readonly string[] {
  const isOlder = (other: number): boolean => other < generation;
  return [
    ...[...snapshots].filter(([other]) => isOlder(other)).flatMap(([other, names]) =>
      names.map((name) => snapshotName(name, other))),
    ...torn.filter((file) => isOlder(file.generation)).map(({ name }) => name),
    ...unsynced.filter(isOlder).map(unsyncedName),
    ...journals.filter(isOlder).map(journalName),
  ];
}

/** All files of a generation that does not count, its snapshots first. */
function listGeneration(files: Files, directory: string, generation: number): readonly string[] {
  const { journals, snapshots, temporary } = readInventory(files, directory);
  const names = snapshots.get(generation) ?? [];
  return [
    ...names.map((name) => snapshotName(name, generation)), ...temporary,
    ...journals.includes(generation) ? [journalName(generation)] : [],
  ];
}
