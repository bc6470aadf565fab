/**
 * What a start reads, and when it refuses.
 *
 * Base: the newest generation whose snapshot set is complete and valid. Where there is none,
 * the empty state at sequence 0, if the journal that goes on from it is there. On it, the journals
 * from the base's generation on, each going on exactly where the one before it ended.
 *
 * A bad line (cut short, checksum wrong, not of the format) is a torn end unless a later valid
 * line of its journal shows that it had been on disk: one that names a durable sequence at or past
 * the bad line's, or one that was only ever written after a sync (line.ts, "notes"). In
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
import { damagedAt, missingFile } from './damage.ts';
import type { Files } from '../disk/files.ts';
import type { MemoryLimits } from '../records/memory-limits.ts';
import {
  REPLICA_FOLDER, isReplica, journalName, snapshotName, takeInventory,
} from '../disk/inventory.ts';
import type { Inventory } from '../disk/inventory.ts';
import type { CollectionSpec } from '../store-port.ts';
import { START_BYTES_MAX, readStart } from './journal-start.ts';
import { replayJournal } from './replay.ts';
import type { Replayed } from './replay.ts';
import { loadSnapshot, readHeader } from './snapshot.ts';

export type Source = {
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly limits?: MemoryLimits;
  /** Records of other collections than `specs` are passed over; else they are refused. */
  readonly skipsOthers?: boolean;
};

/** What a directory holds, read into memory; nothing on disk has been touched. */
export type Assessment = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly inventory: Inventory;
  readonly sequence: number;
  /** The generation whose snapshots are the base; 0: none. */
  readonly base: number;
  /** Journals from the base on that are part of the state, with what they hold. */
  readonly journals: readonly JournalPart[];
  /** Journals that were given up before they were used. */
  readonly abandoned: readonly number[];
  /** Snapshots that are there but not valid. */
  readonly damagedSets: readonly Error[];
};

export type JournalPart = {
  readonly generation: number;
  readonly path: string;
  readonly replayed: Replayed;
};

/** Reads a directory. Throws `damaged`, and `misconfigured` for one whose records are elsewhere. */
export async function assess(source: Source): Promise<Assessment> {
  checkNoReplica(source);
  const inventory = takeInventory(source.files, source.directory);
  const base = await findBase(source, inventory);
  try {
    return await replayFrom(source, inventory, base);
  } catch (error) {
    // Going back did not help: what kept us from the newest generation is what has to be mended.
    throw base.damagedSets[0] ?? error;
  }
}

/** What an engine keeps must not be taken for nothing where that engine is not named any more. */
function checkNoReplica({ files, directory }: Source): void {
  if (!isReplica(files, directory)) return;
  throw new AppError('misconfigured', `${directory} is a node's, whose records an engine keeps: `
    + 'name that in store.url, or bring them back with data:move; to begin anew, remove '
    + join(directory, REPLICA_FOLDER));
}

async function replayFrom(source: Source, inventory: Inventory, base: Base): Promise<Assessment> {
  const { collections, damagedSets } = base;
  const parts: JournalPart[] = [];
  let { sequence } = base;
  const abandoned: number[] = [];
  const generations = inventory.journals.filter((journal) => journal >= base.generation);
  for (const generation of generations) {
    const path = join(source.directory, journalName(generation));
    const start = await readStart(source.files, path);
    // Its first line was on disk before anything else was written: no crash leaves more without it.
    if (start.sequence < 0 && start.bytes > START_BYTES_MAX) {
      throw damagedAt({ path, line: 1, offset: 0 }, 'not the start of this journal');
    }
    const next = parts.at(-1)?.replayed.next ?? generation;
    const mayBeAbandoned = next !== generation && !inventory.snapshots.has(generation);
    if (mayBeAbandoned && start.isAlone && (next !== 0 || start.sequence < sequence)) {
      abandoned.push(generation);
      continue;
    }
    checkContinuation(parts.at(-1), generation, start.sequence);
    if (start.sequence < 0 && next === generation && parts.length > 0) {
      throw damagedAt({ path, line: 1, offset: 0 }, 'not the start of this journal');
    }
    const replayed = await replayJournal(
      source.files, path, generation, sequence,
      { collections, skipsOthers: source.skipsOthers === true },
    );
    const part = { generation, path, replayed };
    checkSnapshots(inventory, base.generation, part);
    ({ sequence } = replayed);
    parts.push(part);
  }
  checkContinuation(parts.at(-1), 0, sequence);
  return {
    collections, inventory, sequence, base: base.generation, journals: parts, abandoned,
    damagedSets,
  };
}

/** A journal leads to the next one, and whatever that one rests on is there. */
function checkContinuation(
  part: JournalPart | undefined, generation: number, startSequence: number,
): void {
  if (part === undefined) return;
  const { next, torn, sequence } = part.replayed;
  if (next !== 0 && next !== generation) {
    throw missingFile(journalName(next), `but ${journalName(part.generation)} goes on in it`);
  }
  if (torn !== null && sequence < startSequence) {
    throw damagedAt(torn, 'not a valid line, and the next journal goes on from a later one');
  }
}

function checkSnapshots(
  inventory: Inventory, base: number, { generation, path, replayed }: JournalPart,
): void {
  const { snapshots, startSequence } = replayed;
  const present = inventory.snapshots.get(generation) ?? [];
  const missing = snapshots.find((name) => !present.includes(name));
  if (missing !== undefined) {
    throw missingFile(snapshotName(missing, generation), 'but its journal says it was complete');
  }
  // The first line was on disk before the set had its name.
  if (startSequence < 0 && generation === base) {
    throw damagedAt({ path, line: 1, offset: 0 }, 'not the start of this journal');
  }
}

type Base = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly generation: number;
  readonly sequence: number;
  readonly damagedSets: readonly Error[];
};

async function findBase(source: Source, inventory: Inventory): Promise<Base> {
  const { specs } = source;
  const damagedSets: Error[] = [];
  const generations = [...inventory.snapshots.keys()].sort((left, right) => right - left);
  let missing: Error | null = null;
  for (const generation of generations) {
    if (!inventory.journals.includes(generation)) {
      throw damagedSets[0]
        ?? missingFile(journalName(generation), 'but the generation has snapshots');
    }
    const collections = emptyCollections(source);
    try {
      const result = await loadSet(source, inventory, generation, collections);
      if (typeof result === 'number') {
        return { collections, generation, sequence: result, damagedSets };
      }
      missing ??= missingFile(result.missing, 'and no earlier generation is whole');
    } catch (error) {
      if (!isError(error)) throw error;
      damagedSets.push(error);
    }
  }
  const [first] = inventory.journals;
  if (first === undefined || first === 1) {
    return { collections: emptyCollections(source), generation: 0, sequence: 0, damagedSets };
  }
  const name = snapshotName(specs[0]?.name ?? '', first);
  throw damagedSets[0] ?? missing ?? missingFile(name, 'and its journal goes on from it');
}

/** The sequence of a set, once it is loaded, or the name of a file that it lacks. */
async function loadSet(
  { directory, files, skipsOthers }: Source, inventory: Inventory, generation: number,
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
      throw damagedAt({ path, line: 1, offset: 0 }, 'does not belong to its generation');
    }
    ({ sequence } = header);
    paths.set(name, path);
  }
  for (const [name, path] of paths) {
    const collection = collections.get(name);
    if (collection === undefined) {
      if (skipsOthers === true) continue;
      throw damagedAt({ path, line: 1, offset: 0 }, 'of a collection this version does not know');
    }
    await loadSnapshot(files, path, collection);
  }
  return sequence;
}

function emptyCollections(source: Source): Map<string, StoredCollection> {
  const { specs, limits } = source;
  return new Map(specs.map((spec) =>
    [spec.name, new StoredCollection(spec, limits?.cachedRecordsMax)]));
}
