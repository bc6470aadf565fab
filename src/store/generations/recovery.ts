/**
 * Recovery reads the state of a directory at a start, or refuses it. It changes nothing on disk;
 * repair.ts does that afterwards.
 *
 * The base is the newest generation whose snapshot set is complete and valid. Without one it is the
 * empty state at sequence 0, if the journal that continues that is there. The journals from the
 * base's generation on are replayed over it; each must continue exactly where the last one ended.
 *
 * An invalid line (cut short, wrong checksum, not of the format) is a torn end, unless a later
 * valid line of its journal shows that it had been on disk: by a durable mark at or past its
 * sequence, or because it is only written after a sync (journal-line.ts, "note"). In the last
 * journal a torn end is copied to a `.torn` file, cut off and logged. In an earlier journal it is
 * left alone if everything that the next journal continues is there: then only a note was torn.
 *
 * Refused as damage, with file, line and offset: an invalid line that is no torn end, a gap in the
 * sequence, no valid base, a missing journal, and a missing snapshot although its journal notes
 * that the set was complete. A snapshot that is there but invalid is no reason to refuse while the
 * generation before it and its journals are whole.
 *
 * Refused too, though nothing is damaged: a line with a valid checksum and an unknown form. A newer
 * version wrote it, and its whole journal could look like a torn end.
 *
 * Crashes leave these behind, and they are harmless: a set that is not complete, if no journal
 * notes that it was (the set before it is still there); a journal without a valid first line, or
 * with nothing else, if the journal before it was used afterwards or names another one as the next
 * (it was abandoned before use); `.tmp` files.
 *
 * The end of the last journal may be in the page cache only. After a failed sync a second one
 * proves nothing, as pages that could not be written count as clean. So the lines that no later
 * line proves are written again, in place and unchanged, and then synced. If a marker says that a
 * sync failed, everything is copied to a new generation as well. The marker can be missing, as the
 * failing disk had to take it; then the rewrite alone has to suffice.
 */
import { join } from 'node:path';
import { AppError, isError } from '../../base/errors.ts';
import { StoredCollection } from '../records/collection.ts';
import { damageError, missingFileError } from './damage-error.ts';
import type { Files } from '../disk/files.ts';
import type { MemoryLimits } from '../records/memory-limits.ts';
import {
  REPLICA_FOLDER, isReplicaDirectory, journalName, snapshotName, readInventory,
} from '../disk/inventory.ts';
import type { Inventory } from '../disk/inventory.ts';
import type { CollectionSpec } from '../store-port.ts';
import { START_BYTES_MAX, readJournalStart } from './journal-start.ts';
import { replayJournal } from './replay.ts';
import type { ReplayResult } from './replay.ts';
import { loadSnapshot, readHeader } from './snapshot.ts';

export type RecoverySource = {
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly limits?: MemoryLimits;
  /** Whether records of other collections than `specs` are ignored; else they are damage. */
  readonly skipsUnknownCollections?: boolean;
};

/** The state of a directory, read into memory, and what it takes to repair the directory. */
export type Assessment = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly inventory: Inventory;
  readonly sequence: number;
  /** The generation of the base; 0 for the empty state. */
  readonly base: number;
  /** The journals from the base on that are part of the state. */
  readonly journals: readonly ReplayedJournal[];
  /** Journals that were abandoned before use. */
  readonly abandonedGenerations: readonly number[];
  /** The errors of newer snapshot sets that are not valid. */
  readonly snapshotErrors: readonly Error[];
};

export type ReplayedJournal = {
  readonly generation: number;
  readonly path: string;
  readonly replayed: ReplayResult;
};

/** Reads a directory. Throws `damaged`, or `misconfigured` if an engine has its records. */
export async function assessDirectory(source: RecoverySource): Promise<Assessment> {
  assertNoReplica(source);
  const inventory = readInventory(source.files, source.directory);
  const base = await findBase(source, inventory);
  try {
    return await replayFrom(source, inventory, base);
  } catch (error) {
    // The older generation did not help: the damage of the newest one is the one to report.
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
): Promise<Assessment> {
  const { collections, snapshotErrors } = base;
  const journals: ReplayedJournal[] = [];
  let { sequence } = base;
  const abandonedGenerations: number[] = [];
  const generations = inventory.journals.filter((journal) => journal >= base.generation);
  for (const generation of generations) {
    const path = join(source.directory, journalName(generation));
    const start = await readJournalStart(source.files, path);
    // The first line was on disk before anything else was written: no crash destroys it later.
    if (start.sequence < 0 && start.bytes > START_BYTES_MAX) {
      throw damageError({ path, line: 1, offset: 0 }, 'not the start of this journal');
    }
    const next = journals.at(-1)?.replayed.nextGeneration ?? generation;
    const mayBeAbandoned = next !== generation && !inventory.snapshots.has(generation);
    if (mayBeAbandoned && start.isEmpty && (next !== 0 || start.sequence < sequence)) {
      abandonedGenerations.push(generation);
      continue;
    }
    checkContinuation(journals.at(-1), generation, start.sequence);
    if (start.sequence < 0 && next === generation && journals.length > 0) {
      throw damageError({ path, line: 1, offset: 0 }, 'not the start of this journal');
    }
    const replayed = await replayJournal(
      source.files, path, generation, sequence,
      { collections, skipsUnknownCollections: source.skipsUnknownCollections === true },
    );
    const journal = { generation, path, replayed };
    checkSnapshots(inventory, base.generation, journal);
    ({ sequence } = replayed);
    journals.push(journal);
  }
  checkContinuation(journals.at(-1), 0, sequence);
  return {
    collections, inventory, sequence, base: base.generation, journals, abandonedGenerations,
    snapshotErrors,
  };
}

/** Checks that a journal leads to the next one, and holds all that the next one continues. */
function checkContinuation(
  previous: ReplayedJournal | undefined, generation: number, startSequence: number,
): void {
  if (previous === undefined) return;
  const { nextGeneration, tornAt, sequence } = previous.replayed;
  if (nextGeneration !== 0 && nextGeneration !== generation) {
    throw missingFileError(journalName(nextGeneration),
      `but ${journalName(previous.generation)} goes on in it`);
  }
  if (tornAt !== null && sequence < startSequence) {
    throw damageError(tornAt, 'not a valid line, and the next journal goes on from a later one');
  }
}

function checkSnapshots(
  inventory: Inventory, base: number, { generation, path, replayed }: ReplayedJournal,
): void {
  const { completeSnapshots, startSequence } = replayed;
  const present = inventory.snapshots.get(generation) ?? [];
  const missing = completeSnapshots.find((name) => !present.includes(name));
  if (missing !== undefined) {
    throw missingFileError(snapshotName(missing, generation),
      'but its journal says it was complete');
  }
  // The first line was on disk before the snapshots got their names.
  if (startSequence < 0 && generation === base) {
    throw damageError({ path, line: 1, offset: 0 }, 'not the start of this journal');
  }
}

type BaseGeneration = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly generation: number;
  readonly sequence: number;
  readonly snapshotErrors: readonly Error[];
};

async function findBase(source: RecoverySource, inventory: Inventory): Promise<BaseGeneration> {
  const { specs } = source;
  const snapshotErrors: Error[] = [];
  const generations = [...inventory.snapshots.keys()].sort((left, right) => right - left);
  let missing: Error | null = null;
  for (const generation of generations) {
    if (!inventory.journals.includes(generation)) {
      throw snapshotErrors[0]
        ?? missingFileError(journalName(generation), 'but the generation has snapshots');
    }
    const collections = createCollections(source);
    try {
      const result = await loadSnapshotSet(source, inventory, generation, collections);
      if (typeof result === 'number') {
        return { collections, generation, sequence: result, snapshotErrors };
      }
      missing ??= missingFileError(result.missing, 'and no earlier generation is whole');
    } catch (error) {
      if (!isError(error)) throw error;
      snapshotErrors.push(error);
    }
  }
  const [first] = inventory.journals;
  if (first === undefined || first === 1) {
    return { collections: createCollections(source), generation: 0, sequence: 0, snapshotErrors };
  }
  const name = snapshotName(specs[0]?.name ?? '', first);
  throw snapshotErrors[0] ?? missing ?? missingFileError(name, 'and its journal goes on from it');
}

/** Loads a snapshot set. Returns its sequence, or the name of a file that is missing. */
async function loadSnapshotSet(
  { directory, files, skipsUnknownCollections }: RecoverySource, inventory: Inventory,
  generation: number,
  collections: ReadonlyMap<string, StoredCollection>,
): Promise<number | { readonly missing: string }> {
  const present = inventory.snapshots.get(generation) ?? [];
  let sequence = -1;
  const paths = new Map<string, string>();
  for (const name of present) {
    const path = join(directory, snapshotName(name, generation));
    const header = await readHeader(files, path);
    const absent = header.collections.find((other) => !present.includes(other));
    if (absent !== undefined) return { missing: snapshotName(absent, generation) };
    const isOfSet = header.collections.includes(name) && header.collection === name
      && header.generation === generation;
    if (!isOfSet || (sequence >= 0 && header.sequence !== sequence)) {
      throw damageError({ path, line: 1, offset: 0 }, 'does not belong to its generation');
    }
    ({ sequence } = header);
    paths.set(name, path);
  }
  for (const [name, path] of paths) {
    const collection = collections.get(name);
    if (collection === undefined) {
      if (skipsUnknownCollections === true) continue;
      throw damageError({ path, line: 1, offset: 0 }, 'of a collection this version does not know');
    }
    await loadSnapshot(files, path, collection);
  }
  return sequence;
}

function createCollections(source: RecoverySource): Map<string, StoredCollection> {
  const { specs, limits } = source;
  return new Map(specs.map((spec) =>
    [spec.name, new StoredCollection(spec, limits?.cachedRecordsMax)]));
}
