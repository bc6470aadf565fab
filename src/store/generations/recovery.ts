/**
 * What a start reads, and when it refuses.
 *
 * Base: the newest generation whose snapshot set is complete and valid. Where there is none,
 * the empty state at sequence 0, if the journal that goes on from it is there. On it, the journals
 * from the base's generation on, each going on exactly where the one before it ended.
 *
 * A bad line (cut short, checksum wrong, not of the format) is a torn end unless a later valid
 * line of its journal shows that it had been on disk: one that names a durable sequence at or past
 * the bad line's, or one that was only ever written after a sync (journal-line.ts, "notes"). In
 * the last journal a torn end is kept aside as `.torn`, cut and logged. In an earlier journal it is
 * left alone when all the next one rests on is there: then only a note can have been torn.
 *
 * Refused as damage, with file, line and offset, and without a change on disk: a bad line that is
 * no torn end, a gap in the sequence, no valid base, a journal that is missing, and a snapshot
 * that is missing although its journal says that the set was complete. A snapshot that is there
 * but not valid is no reason to refuse while the generation before it, and its journals, are whole.
 *
 * Refused too, though nothing is damaged: a line whose checksum is right but whose form is not
 * known here. A newer version wrote it, and what looks like a torn end may be all of its journal.
 *
 * Left over by crashes, and harmless: a set that is not complete, while no journal says that it
 * was (the set before it is still there); a journal without a valid first line, or with nothing
 * but that line, while the journal before it went on or names another one as the next (it was
 * abandoned before use); `.tmp` files.
 *
 * The end of the last journal may be in the page cache only, and after a sync that failed a second
 * one proves nothing: pages that could not be written count as clean. So the lines that no later
 * line proves are written again, in place and unchanged, before they are synced; where a marker
 * says that a sync failed, everything is copied to a new generation too. The marker can be missing,
 * since the disk that failed had to take it; the rewrite alone keeps the promise then.
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
  /** Records of other collections than `specs` are passed over; else they are refused. */
  readonly skipsUnknownCollections?: boolean;
};

/** What a directory holds, read into memory; nothing on disk has been touched. */
export type Assessment = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly inventory: Inventory;
  readonly sequence: number;
  /** The generation whose snapshots are the base; 0: none. */
  readonly base: number;
  /** Journals from the base on that are part of the state, with what they hold. */
  readonly journals: readonly ReplayedJournal[];
  /** Journals that were given up before they were used. */
  readonly abandonedGenerations: readonly number[];
  /** Snapshots that are there but not valid. */
  readonly snapshotErrors: readonly Error[];
};

export type ReplayedJournal = {
  readonly generation: number;
  readonly path: string;
  readonly replayed: ReplayResult;
};

/** Reads a directory. Throws `damaged`, and `misconfigured` for one whose records are elsewhere. */
export async function assessDirectory(source: RecoverySource): Promise<Assessment> {
  assertNoReplica(source);
  const inventory = readInventory(source.files, source.directory);
  const base = await findBase(source, inventory);
  try {
    return await replayFrom(source, inventory, base);
  } catch (error) {
    // Going back did not help: what kept us from the newest generation is what has to be mended.
    throw base.snapshotErrors[0] ?? error;
  }
}

/** What an engine keeps must not be taken for nothing where that engine is not named any more. */
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
    // Its first line was on disk before anything else was written: no crash leaves more without it.
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

/** A journal leads to the next one, and whatever that one rests on is there. */
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
  // The first line was on disk before the set had its name.
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

/** The sequence of a set, once it is loaded, or the name of a file that it lacks. */
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
