/**
 * Reads the records of an engine's log as a node would, without being a node: for data:move and
 * data:verify. It writes nothing to the engine but the row of its barrier. Snapshots are received
 * into a scratch folder, and removed from there once they are read.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Files } from '../disk/files.ts';
import type {
  Engine, EngineSession, EngineSnapshot, LogEntry, LogHead,
} from '../engines/engine.ts';
import type { CollectionSpec } from '../store-port.ts';
import { checkFormat, isSamePosition } from '../replication/log-entry.ts';
import { createClosedError } from '../replication/log-closing.ts';
import { isDamage } from '../generations/damage-error.ts';
import { EngineLink } from '../replication/engine-link.ts';
import { receiveSnapshot } from '../replication/snapshot-transfer.ts';
import { LocalSnapshot } from '../replication/local-snapshot.ts';
import { createEmptyRecords } from '../replication/replicated-records.ts';
import type { ReplicatedRecords } from '../replication/replicated-records.ts';
import { checkSums, sumCollections } from './collection-sums.ts';
import type { CollectionSum } from './collection-sums.ts';

type EngineAccess = {
  readonly engine: Engine;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly clock: Clock;
  /** An existing, empty folder. The caller removes it. */
  readonly scratch: string;
  /** False: an engine without tables for a log is `not_found`. */
  readonly mayCreate: boolean;
};

export type EngineConnection = Pick<EngineAccess, 'engine' | 'specs'> & {
  readonly link: EngineLink;
  readonly session: EngineSession;
  readonly local: LocalSnapshot;
  /** The head as of the session's barrier; null: there is no log. */
  readonly head: LogHead | null;
};

export type EngineReport = {
  readonly log: string;
  readonly sequence: number;
  readonly records: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
};

/** The node id of all commands, which share one barrier row. */
const READER_NODE = '00000000-0000-4000-8000-000000000000';
const ENTRIES_MAX = 64;

export async function withEngine<T>(
  access: EngineAccess, use: (connection: EngineConnection) => Promise<T>,
): Promise<T> {
  const { engine, files, specs, clock, scratch, mayCreate } = access;
  const link = new EngineLink(engine, READER_NODE, clock);
  try {
    const head = await link.connectFirst(mayCreate);
    if (head !== null) checkFormat(head);
    const { session } = link;
    if (session === null) throw new AppError('unavailable', 'the engine closed the connection');
    const local = new LocalSnapshot({ directory: scratch, files, specs });
    return await use({ engine, specs, link, session, local, head });
  } finally {
    link.close();
  }
}

/**
 * Loads all records up to the head, from the newest snapshot that can be read. Throws `not_found`
 * where there is no log, and `damaged` where nothing can be read.
 */
export async function loadContents(connection: EngineConnection): Promise<ReplicatedRecords> {
  const head = getHead(connection);
  let firstError: unknown = null;
  for (const start of await listStarts(connection, head)) {
    try {
      return await loadFrom(connection, head, start);
    } catch (error) {
      if (!isDamage(error)) throw error;
      firstError ??= error;
    }
  }
  throw firstError ?? createUnfinishedError(connection, head);
}

/**
 * Reads every snapshot, and every entry of the log after it. Throws `damaged` when a start would be
 * refused, and when two snapshots lead to different records. An unreadable snapshot beside a
 * readable one is a note.
 */
export async function verifyEngine(connection: EngineConnection): Promise<EngineReport> {
  const head = getHead(connection);
  const notes: string[] = [];
  const starts = await listStarts(connection, head);
  let sums: readonly CollectionSum[] | null = null;
  for (const start of starts) {
    try {
      const { collections, closing } = await loadFrom(connection, head, start);
      const currentSums = await sumCollections(collections);
      if (sums === null && closing !== null) notes.push(createClosedError(closing).message);
      if (sums === null) sums = currentSums;
      else checkSums(sums, currentSums, `read from sequence ${start?.sequence ?? 0} on`);
    } catch (error) {
      if (!isDamage(error) || sums !== null || start === starts.at(-1)) throw error;
      notes.push(`${messageOf(error)} (a start reads what is before it)`);
    }
  }
  if (sums === null) throw createUnfinishedError(connection, head);
  const records = Object.fromEntries(sums.map(({ collection, records: count }) =>
    [collection, count]));
  return { log: head.log, sequence: head.sequence, records, notes };
}

/**
 * The records as of the head, or before the entry that closes the log, from a snapshot on, or from
 * the start of the log.
 */
export async function loadFrom(
  connection: EngineConnection, head: LogHead, snapshot: EngineSnapshot | null,
): Promise<ReplicatedRecords> {
  const { link, session } = connection;
  const records = snapshot === null ? createEmptyRecords(connection, head.log)
    : await loadSnapshot(connection, head, snapshot);
  while (records.position.sequence < head.sequence) {
    const { sequence } = records.position;
    const entries = await link.ask(session, session.readAfter(sequence, ENTRIES_MAX));
    const applicable = entries.filter((entry) => entry.sequence <= head.sequence);
    if (applicable.length > 0 && acceptToEnd(records, applicable)) continue;
    if (records.closing !== null) return records;
    throw createDamagedError(connection, `its log cannot be read behind sequence ${sequence}: `
      + (records.divergence ?? 'it ends there'));
  }
  if (isSamePosition(records.position, head)) return records;
  throw createDamagedError(connection, 'its head does not continue its last entry');
}

/** Applies entries. Returns false when they do not continue the records, or close the log. */
function acceptToEnd(records: ReplicatedRecords, entries: readonly LogEntry[]): boolean {
  try {
    return records.accept(entries);
  } catch (error) {
    if (records.closing === null) throw error;
    return false;
  }
}

/** The records of a snapshot alone. Throws `damaged`. */
export async function loadSnapshot(
  connection: EngineConnection, { log }: { readonly log: string }, snapshot: EngineSnapshot,
): Promise<ReplicatedRecords> {
  const { link, session, local } = connection;
  const records = await receiveSnapshot(link, session, local, log, snapshot);
  await local.clear();
  return records;
}

function getHead({ engine, head }: EngineConnection): LogHead {
  if (head !== null) return head;
  throw new AppError('not_found', `${engine.name} holds no log`);
}

/** Lists the snapshots to start from, newest first; null stands for the start of the log. */
async function listStarts(
  { link, session }: EngineConnection, head: LogHead,
): Promise<readonly (EngineSnapshot | null)[]> {
  const snapshots = await link.ask(session, session.snapshots.list());
  const usable = snapshots.filter(({ sequence }) =>
    sequence >= head.floor && sequence <= head.sequence);
  return head.floor === 0 ? [...usable, null] : usable;
}

function createUnfinishedError(
  connection: EngineConnection, { floor, sequence }: LogHead,
): AppError {
  return createDamagedError(connection, sequence < floor
    ? 'a data:move into it was cut off; run it again'
    : `its log begins at sequence ${floor}, and no snapshot is there`);
}

function createDamagedError({ engine }: EngineConnection, why: string): AppError {
  return new AppError('damaged', `${engine.name}: ${why}`);
}
