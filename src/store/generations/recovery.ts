/**
 * Recovery reads the state of a directory into memory at a start, or refuses the start. Three files
 * share the work. This one finds the generation to begin with, and the journals that belong to the
 * state. replay.ts applies the lines of one journal to memory, and tells a torn end from damage.
 * Both leave the disk as it is. repair.ts changes it afterwards: it makes durable what was
 * replayed, cuts off a torn end, and sets aside or removes what was never used.
 *
 * The base is the newest generation whose snapshot set is complete and valid. Without one it is the
 * empty state at sequence 0, if the journal that continues that is there. The journals from the
 * base's generation on are replayed over it; each must continue exactly where the last one ended.
 *
 * An invalid line (cut short, wrong checksum, not of the format) is a torn end, unless a later
 * valid line of its journal shows that it had been on disk. A later line shows this by a durable
 * mark at or past the invalid line's sequence; or by a sequence that leaves no room for it, as it
 * was then a note, and a note is synced before the next line is written (journal-line.ts). A torn
 * end may also be followed by another journal, if it hides nothing that the other one continues.
 *
 * Refused as damage, with file, line and offset: an invalid line that is no torn end, a gap in the
 * sequence, no valid base, and a missing journal. A snapshot that is invalid, or is missing of a
 * set that its journal calls complete, is no reason to refuse while the generation before it and
 * its journals are whole.
 *
 * A journal whose last lines are missing, as an interrupted copy leaves it, is whole by this rule,
 * and a directory whose files are all gone is an empty one. `checkJournalEnd` refuses both, if
 * `lock` tells that the journal went further (lock-owner.ts).
 *
 * Refused too, though nothing is damaged: records of an unknown collection, and a line with a
 * valid checksum and an unknown form. Another version wrote them. A whole journal of such lines
 * could look like a torn end.
 *
 * Crashes leave these behind, and they are harmless: a replacement that does not count yet
 * (replacement.ts); a snapshot set that no journal calls complete
 * (the set before it is still there); a journal that was abandoned before use (`isAbandoned`);
 * `.tmp` files.
 */
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { AppError, isError } from '../../base/errors.ts';
import { createCollections } from '../records/collection.ts';
import type { StoredCollection } from '../records/collection.ts';
import {
  damageError, isDamage, missingFileError, unknownCollectionError,
} from './damage-error.ts';
import type { Files } from '../disk/files.ts';
import type { JournalEnd } from '../lock/directory-lock.ts';
import type { MemoryLimits } from '../records/memory-limits.ts';
import {
  REPLICA_FOLDER, isReplicaDirectory, journalName, snapshotName,
} from '../disk/inventory.ts';
import type { Inventory } from '../disk/inventory.ts';
import type { CollectionSpec } from '../store-port.ts';
import { START_BYTES_MAX, readJournalStart } from './journal-start.ts';
import type { JournalStart } from './journal-start.ts';
import { readStateInventory } from './replacement.ts';
import { replayJournal } from './replay.ts';
import type { ReplayResult } from './replay.ts';
import { isEmptySnapshot, loadSnapshot, readHeader } from './snapshot.ts';

export type RecoverySource = {
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly limits?: MemoryLimits | undefined;
  /** Whether records of other collections than `specs` are ignored; else they are an error. */
  readonly skipsUnknownCollections?: boolean;
};

/** The state of a directory in memory, and what repair.ts needs to know of the directory. */
export type RecoveredState = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly inventory: Inventory;
  readonly sequence: number;
  /** The generation of the base; 0 for the empty state. */
  readonly base: number;
  /** The journals from the base on that are part of the state. */
  readonly journals: readonly ReplayedJournal[];
  /** Journals that were abandoned before use (`isAbandoned`). */
  readonly abandonedGenerations: readonly number[];
  /** The errors of newer snapshot sets that are not valid. */
  readonly snapshotErrors: readonly Error[];
};

export type ReplayedJournal = {
  readonly generation: number;
  readonly path: string;
  readonly replay: ReplayResult;
};

/** Reads a directory. Throws `damaged`, or `misconfigured` if an engine has its records. */
export async function recoverState(source: RecoverySource): Promise<RecoveredState> {
  assertNoReplica(source);
  const { directory, files } = source;
  const inventory = await readStateInventory(files, directory);
  const base = await findBase(source, inventory);
  try {
    return await replayFrom(source, inventory, base);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // The older generation is damaged too: the error of the newest one is the one to report.
    throw base.snapshotErrors[0] ?? error;
  }
}

/** A node's directory must not count as empty when its engine is not configured any more. */
function assertNoReplica({ files, directory }: RecoverySource): void {
  if (!isReplicaDirectory(files, directory)) return;
  throw new AppError('misconfigured', `${directory} is a node's, whose records an engine keeps: `
    + 'name that in store.url, or bring them back with data:move; to begin anew, remove '
    + join(directory, REPLICA_FOLDER));
}

async function replayFrom(
  source: RecoverySource, inventory: Inventory, base: BaseGeneration,
): Promise<RecoveredState> {
  const { collections } = base;
  const snapshotErrors = [...base.snapshotErrors];
  const journals: ReplayedJournal[] = [];
  const abandonedGenerations: number[] = [];
  let { sequence } = base;
  const generations = inventory.journals.filter((journal) => journal >= base.generation);
  for (const generation of generations) {
    const previous = journals.at(-1);
    const path = join(source.directory, journalName(generation));
    const start = await readJournalStart(source.files, path);
    const isNamedNext = previous?.replay.nextGeneration === generation;
    checkStart(path, start, isNamedNext || generation === base.generation);
    if (isAbandoned(previous, generation, start, inventory)) {
      abandonedGenerations.push(generation);
      continue;
    }
    checkContinuation(previous, generation, start.sequence);
    const replay = await replayJournal(
      source.files, path, generation, sequence,
      { collections, skipsUnknownCollections: source.skipsUnknownCollections === true },
    );
    const journal = { generation, path, replay };
    const missingSnapshot = findMissingSnapshot(inventory, journal);
    if (missingSnapshot !== null) snapshotErrors.push(missingSnapshot);
    ({ sequence } = replay);
    journals.push(journal);
  }
  checkContinuation(journals.at(-1), null, null);
  return {
    collections, inventory, sequence, base: base.generation, journals, abandonedGenerations,
    snapshotErrors,
  };
}

/**
 * Checks that a journal has its first line, unless a crash can have cut that short. `mustBeThere`:
 * the line was on disk before the previous journal named this one, and before the snapshots of the
 * base got their names. It was on disk as well before anything else was written to its journal.
 */
function checkStart(path: string, start: JournalStart, mustBeThere: boolean): void {
  if (start.sequence !== null) return;
  if (!mustBeThere && start.bytes <= START_BYTES_MAX) return;
  throw damageError({ path, line: 1, offset: 0 }, 'not the start of this journal');
}

/**
 * Whether a journal was abandoned before use: a crash or an error came before anything was written
 * to it after its first line. The previous journal shows this: it names another one as the next, or
 * it was written to after this one had been created.
 */
function isAbandoned(
  previous: ReplayedJournal | undefined, generation: number, start: JournalStart,
  { snapshots }: Inventory,
): boolean {
  if (previous === undefined || !start.isUnused || snapshots.has(generation)) return false;
  const { nextGeneration, sequence } = previous.replay;
  if (nextGeneration !== null) return nextGeneration !== generation;
  return start.sequence === null || start.sequence < sequence;
}

/**
 * Checks that a journal leads to the one of `generation`, and holds all that this one continues:
 * the state at `startSequence`, null if its first line is torn. After the last journal both are
 * null.
 */
function checkContinuation(
  previous: ReplayedJournal | undefined, generation: number | null, startSequence: number | null,
): void {
  if (previous === undefined) return;
  const { nextGeneration, tornAt, sequence } = previous.replay;
  if (nextGeneration !== null && nextGeneration !== generation) {
    throw missingFileError(journalName(nextGeneration),
      `but ${journalName(previous.generation)} goes on in it`);
  }
  if (tornAt !== null && startSequence !== null && sequence < startSequence) {
    throw damageError(tornAt, 'not a valid line, and the next journal goes on from a later one');
  }
}

/**
 * Checks that a state reaches `end`, which its journal had, as `lock` tells. Throws `damaged`.
 * A journal of a newer generation is that of other data, which has replaced what ended there.
 */
export function checkJournalEnd(
  { journals, sequence }: RecoveredState, end: JournalEnd | null,
): void {
  if (end === null || sequence >= end.sequence) return;
  const last = journals.at(-1);
  if (last === undefined) {
    throw missingFileError(journalName(end.generation),
      `but it went to sequence ${end.sequence}, as \`lock\` tells. To begin anew, empty the file `
      + '`lock`; else copy the directory anew');
  }
  if (last.generation > end.generation) return;
  const { tornAt, validEnd, lineCount } = last.replay;
  throw damageError(tornAt ?? { path: last.path, line: lineCount + 1, offset: validEnd },
    `the end is missing: it goes to sequence ${sequence}, and went to ${end.sequence}, as `
    + '`lock` tells. To go on with what is left, empty the file `lock`; else copy the directory '
    + 'anew');
}

/** The error for a snapshot that is missing of a set that its journal calls complete, or null. */
function findMissingSnapshot(
  inventory: Inventory, { generation, replay }: ReplayedJournal,
): Error | null {
  const present = inventory.snapshots.get(generation) ?? [];
  const missing = replay.completeSnapshots.find((name) => !present.includes(name));
  return missing === undefined ? null : missingFileError(snapshotName(missing, generation),
    'but its journal says it was complete');
}

/** The state to begin with. `generation` and `sequence` are 0 for the empty state. */
type BaseGeneration = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly generation: number;
  readonly sequence: number;
  readonly snapshotErrors: readonly Error[];
};

async function findBase(source: RecoverySource, inventory: Inventory): Promise<BaseGeneration> {
  const { specs, limits } = source;
  const snapshotErrors: Error[] = [];
  const generations = [...inventory.snapshots.keys()].sort((left, right) => right - left);
  let missingError: Error | null = null;
  for (const generation of generations) {
    if (!inventory.journals.includes(generation)) {
      throw snapshotErrors[0]
        ?? missingFileError(journalName(generation), 'but the generation has snapshots');
    }
    const collections = createCollections(specs, limits);
    try {
      const result = await loadSnapshotSet(source, inventory, generation, collections);
      if (typeof result === 'number') {
        return { collections, generation, sequence: result, snapshotErrors };
      }
      missingError ??= missingFileError(result.missingFile, 'and no earlier generation is whole');
    } catch (error) {
      if (!isError(error)) throw error;
      snapshotErrors.push(error);
    }
  }
  const [first] = inventory.journals;
  if (first === undefined || await continuesEmptyState(source, first)) {
    const collections = createCollections(specs, limits);
    return { collections, generation: 0, sequence: 0, snapshotErrors };
  }
  const name = snapshotName(specs[0]?.name ?? '', first);
  throw snapshotErrors[0] ?? missingError
    ?? missingFileError(name, 'and its journal goes on from it');
}

/** Only the journal of generation 1 does, unless a replacement has written it. */
async function continuesEmptyState(
  { directory, files }: RecoverySource, generation: number,
): Promise<boolean> {
  if (generation !== 1) return false;
  const { sequence } = await readJournalStart(files, join(directory, journalName(generation)));
  return sequence === null || sequence === 0;
}

/** Loads a snapshot set. Returns its sequence, or the name of a file that is missing. */
async function loadSnapshotSet(
  { directory, files, skipsUnknownCollections }: RecoverySource, inventory: Inventory,
  generation: number,
  collections: ReadonlyMap<string, StoredCollection>,
): Promise<number | { readonly missingFile: string }> {
  const present = inventory.snapshots.get(generation) ?? [];
  let sequence: number | null = null;
  const paths = new Map<string, string>();
  for (const name of present) {
    const path = join(directory, snapshotName(name, generation));
    const header = await readHeader(files, path);
    const absent = header.collections.find((other) => !present.includes(other));
    if (absent !== undefined) return { missingFile: snapshotName(absent, generation) };
    const isOfSet = header.collections.includes(name) && header.collection === name
      && header.generation === generation;
    if (!isOfSet || (sequence !== null && header.sequence !== sequence)) {
      throw damageError({ path, line: 1, offset: 0 }, 'does not belong to its generation');
    }
    ({ sequence } = header);
    paths.set(name, path);
  }
  for (const [name, path] of paths) {
    const collection = collections.get(name);
    if (collection === undefined) {
      // Nodes of a newer release, beside which we may run, have collections still without records.
      if (skipsUnknownCollections === true || await isEmptySnapshot(files, path)) continue;
      throw unknownCollectionError({ path, line: 1, offset: 0 }, name);
    }
    await loadSnapshot(files, path, collection);
  }
  assert(sequence !== null, 'a generation with snapshots has a file');
  return sequence;
}
