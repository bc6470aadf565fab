/**
 * Moves records into another store, and reads them back there before the move takes effect.
 *
 * An engine must hold no log. The move reserves a log first: its `floor` is one past its head, so
 * no node starts on it, and nobody else can create one. Then it writes a snapshot of the records at
 * the floor, and reads it back. Last it appends an entry without lines at the floor: with that the
 * log begins. A move that was cut off is finished by another move of the same records: the chain of
 * the reserved head is their checksum.
 *
 * Each reply of the engine is awaited through `link.ask`, which fails when the session is lost.
 *
 * A directory gets the records as by a restore.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Files } from '../disk/files.ts';
import type { Engine, LogEntry, LogHead } from '../engines/engine.ts';
import type { StoredCollection } from '../records/collection.ts';
import { computeChain, isSamePosition, LOG_FORMAT, LOG_START } from '../replication/log-entry.ts';
import { sendSnapshot } from '../replication/snapshot-transfer.ts';
import { loadFrom, loadSnapshot } from './engine-contents.ts';
import type { EngineConnection } from './engine-contents.ts';
import { prepareReplacement, replaceData } from '../backup/restore.ts';
import type { RestoreReport } from '../backup/restore.ts';
import { checkSums, computeDigest, sumCollections } from './collection-sums.ts';
import type { CollectionSum } from './collection-sums.ts';

/** Records that nobody changes while they are moved: the caller has stopped all writers. */
export type SourceRecords = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly sequence: number;
};

/** A move runs to its end: nothing asks it to stop. */
const isNeverStopped = (): boolean => false;

type DirectoryTarget = {
  /** The caller holds its lock. */
  readonly directory: string;
  readonly files: Files;
  readonly isReplacing: boolean;
  readonly nowMs: number;
};

/**
 * Called when all records are written and read back, before the move takes effect; throws to give
 * the move up. Where the records come from a log, this closes it: nobody adds to them after that.
 */
type Confirm = () => Promise<void>;

/** Throws `conflict` where the engine holds a log, `damaged` when other records are read back. */
export async function moveToEngine(
  source: SourceRecords, connection: EngineConnection, confirm: Confirm,
): Promise<readonly CollectionSum[]> {
  const { engine, head } = connection;
  checkSize(source, engine);
  const sums = await sumCollections(source.collections);
  // A reserved head is one before the source's sequence, and nothing is before 0. Nor are there
  // records to write and to read back.
  if (source.sequence === 0) return beginEmpty(connection, sums, confirm);
  if (head !== null && hasJustBegun(head, source)) {
    // An earlier move may have been cut off after its last step: the records are equal then.
    const existing = await sumCollections((await loadNewest(connection, head)).collections);
    if (computeDigest(existing) === computeDigest(sums)) {
      await confirm();
      return sums;
    }
  }
  const reservedHead = await reserveLog(connection, source, sums);
  const entry = createFirstEntry(reservedHead);
  await sendRecords(source, connection, reservedHead.log, entry);
  await readBack(connection, reservedHead, entry, sums);
  await confirm();
  const { link, session } = connection;
  if (await link.ask(session, session.append(reservedHead.log, reservedHead, entry))) return sums;
  throw new AppError('conflict', `${engine.name}: another process moves records there too`);
}

/** Throws `conflict` where the directory holds data, unless `isReplacing`. */
export async function moveToDirectory(
  source: SourceRecords, target: DirectoryTarget, confirm: Confirm,
): Promise<Pick<RestoreReport, 'before'> & { readonly sums: readonly CollectionSum[] }> {
  await prepareReplacement(target);
  const sums = await sumCollections(source.collections);
  const { before } = await replaceData(target, source, async (written) => {
    checkSums(sums, await sumCollections(written), target.directory);
    await confirm();
  });
  return { before, sums };
}

/** An estimate, before anything is written; `sendSnapshot` counts the bytes of the files. */
function checkSize({ collections }: SourceRecords, { name, maxSnapshotBytes }: Engine): void {
  const bytes = [...collections.values()].reduce((sum, { bytesTotal }) => sum + bytesTotal, 0);
  if (bytes <= maxSnapshotBytes) return;
  throw new AppError('storage_full', `${name} takes ${maxSnapshotBytes} bytes, and the records `
    + `together have ${bytes}: move to PostgreSQL, or delete some`);
}

async function beginEmpty(
  { engine, link, session, head }: EngineConnection, sums: readonly CollectionSum[],
  confirm: Confirm,
): Promise<readonly CollectionSum[]> {
  if (head !== null && !isSamePosition(head, LOG_START)) throw createTakenError(engine.name);
  await confirm();
  // A log at its start is as empty as the source.
  if (head !== null) return sums;
  const log = { log: randomUUID(), format: LOG_FORMAT, floor: 0, ...LOG_START };
  if (await link.ask(session, session.create(log))) return sums;
  throw createTakenError(engine.name);
}

/** A log that a move reserved, and that has not begun. */
function isReserved({ sequence, floor }: LogHead): boolean {
  return sequence + 1 === floor;
}

/** A log that a move of as many transactions began, and that nobody has appended to since. */
function hasJustBegun({ sequence, floor }: LogHead, source: SourceRecords): boolean {
  return sequence === source.sequence && floor === sequence;
}

/** Creates a log that has not begun, or takes up that of an earlier move. Throws `conflict`. */
async function reserveLog(
  { engine, link, session, head }: EngineConnection, { sequence }: SourceRecords,
  sums: readonly CollectionSum[],
): Promise<LogHead> {
  const chain = computeDigest(sums);
  const expectedHead = { sequence: sequence - 1, chain, floor: sequence, format: LOG_FORMAT };
  if (head === null) {
    const newHead = { ...expectedHead, log: randomUUID() };
    if (await link.ask(session, session.create(newHead))) return newHead;
    throw createTakenError(engine.name);
  }
  if (!isReserved(head)) throw createTakenError(engine.name);
  if (isSamePosition(head, expectedHead)) return head;
  throw new AppError('conflict', `${engine.name}: a data:move of other records was cut off there: `
    + 'name an empty place, or remove what is there');
}

async function sendRecords(
  { collections }: SourceRecords, { engine, link, session, local }: EngineConnection, log: string,
  entry: LogEntry,
): Promise<void> {
  const { sequence, chain } = entry;
  const snapshot = await local.write({ log, sequence, chain }, collections, isNeverStopped);
  // An attempt that was cut off may have left a snapshot.
  await link.ask(session, session.snapshots.remove(entry));
  await sendSnapshot(link, session, local, snapshot, engine.maxSnapshotBytes, isNeverStopped);
  await local.clear();
}

async function readBack(
  connection: EngineConnection, { log }: LogHead, entry: LogEntry, sums: readonly CollectionSum[],
): Promise<void> {
  const { engine, link, session } = connection;
  const snapshots = await link.ask(session, session.snapshots.list());
  const snapshot = snapshots.find((other) => isSamePosition(other, entry));
  if (snapshot === undefined) {
    throw new AppError('damaged', `${engine.name}: what was written there is not there`);
  }
  const { collections } = await loadSnapshot(connection, { log }, snapshot);
  checkSums(sums, await sumCollections(collections), engine.name);
}

async function loadNewest(
  connection: EngineConnection, head: LogHead,
): Promise<Pick<SourceRecords, 'collections'>> {
  const { link, session } = connection;
  const [newest] = await link.ask(session, session.snapshots.list());
  return loadFrom(connection, head, newest ?? null);
}

/** The entry at the snapshot's position: each snapshot must have one. Nobody applies it. */
function createFirstEntry({ sequence, chain }: LogHead): LogEntry {
  const [batchId, lines] = [randomUUID(), Buffer.alloc(0)];
  return {
    first: sequence + 1, sequence: sequence + 1, batchId, lines,
    chain: computeChain(chain, batchId, lines),
  };
}

function createTakenError(name: string): AppError {
  return new AppError('conflict', `${name} holds a log already: name an empty place`);
}
