/**
 * Brings records into another store, and reads them back there before anything counts.
 *
 * Into an engine, whose place must hold no log: first a log is made whose `floor` lies one past its
 * head, which no node starts on and nobody else can make any more; then a snapshot of the records
 * at the floor is written, and read back; at last an entry without lines is appended there, and
 * with it the log begins. Where that was cut off, the same records go on from what is there: the
 * chain of that head is their checksum. Into a directory: as a restore, from a backup of them.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Files } from '../disk/files.ts';
import { journalName, snapshotName } from '../disk/inventory.ts';
import type { Engine, LogEntry, LogHead } from '../engines/engine.ts';
import { recoverState } from '../generations/recovery.ts';
import type { CollectionSpec } from '../store-port.ts';
import type { StoredCollection } from '../records/collection.ts';
import { LOG_START, computeChain, isSamePosition } from '../replication/log-chain.ts';
import { sendSnapshot } from '../replication/snapshot-transfer.ts';
import { LocalSnapshot } from '../replication/local-snapshot.ts';
import { LOG_FORMAT } from '../replication/log-entry.ts';
import { openFiles } from './backup.ts';
import { loadFrom, loadSnapshot } from './engine-contents.ts';
import type { EngineConnection } from './engine-contents.ts';
import { restoreBackup } from './restore.ts';
import type { RestoreReport } from './restore.ts';
import { checkSums, computeDigest, sumCollections } from './collection-sums.ts';
import type { CollectionSum } from './collection-sums.ts';

/** Records that nobody changes meanwhile. */
export type FrozenRecords = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly sequence: number;
};

type DirectoryTarget = {
  /** Whose lock the caller holds. */
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly isReplacing: boolean;
  readonly nowMs: number;
  readonly scratch: string;
};

/**
 * Called when all is there and read back, before it counts; throws to have none of it. Where the
 * records come from a log, that is closed by it: from then on nobody adds to them there.
 */
type Confirm = () => Promise<void>;

/** Throws `conflict` where the engine holds another log, `damaged` where it reads back another. */
export async function moveToEngine(
  source: FrozenRecords, connection: EngineConnection, confirm: Confirm,
): Promise<readonly CollectionSum[]> {
  const { engine, head } = connection;
  checkSize(source, engine);
  const sums = await sumCollections(source.collections);
  if (source.sequence === 0) return beginEmpty(connection, sums, confirm);
  if (head !== null && head.sequence === source.sequence && head.floor === head.sequence) {
    // Cut off when all was done, if it is the same.
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

/** Throws `conflict` where there is data already that is not to be replaced. */
export async function moveToDirectory(
  source: FrozenRecords, target: DirectoryTarget, confirm: Confirm,
): Promise<RestoreReport & { readonly sums: readonly CollectionSum[] }> {
  const { files, specs, scratch } = target;
  const sums = await sumCollections(source.collections);
  const local = new LocalSnapshot(files, scratch);
  const position = { sequence: source.sequence, chain: '' };
  const { generation } = await writeLocalSnapshot(local, '', position, source.collections);
  const names = [...source.collections.keys()].map((name) => snapshotName(name, generation));
  const backup = openFiles(files, local.directory,
    [...names, journalName(generation)].map((name) => ({ name, bytes: null })), null);
  try {
    const report = await restoreBackup({
      ...target, archive: { ...backup, manifest: null },
      complete: async (directory) => {
        const { collections } = await recoverState({ directory, files, specs });
        checkSums(sums, await sumCollections(collections), target.directory);
        await confirm();
      },
    });
    return { ...report, sums };
  } finally {
    backup.close();
  }
}

/** Roughly, before anything is written; `sendSnapshot` counts exactly. */
function checkSize({ collections }: FrozenRecords, { name, maxSnapshotBytes }: Engine): void {
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
  const log = { log: randomUUID(), format: LOG_FORMAT, floor: 0, ...LOG_START };
  const isNew = head === null ? await link.ask(session, session.create(log))
    : isSamePosition(head, LOG_START);
  if (isNew) return sums;
  throw createTakenError(engine.name);
}

/** A log that has not begun. Throws `conflict`. */
async function reserveLog(
  { engine, link, session, head }: EngineConnection, { sequence }: FrozenRecords,
  sums: readonly CollectionSum[],
): Promise<LogHead> {
  const chain = computeDigest(sums);
  const expected = { sequence: sequence - 1, chain, floor: sequence, format: LOG_FORMAT };
  if (head === null) {
    const newHead = { ...expected, log: randomUUID() };
    if (await link.ask(session, session.create(newHead))) return newHead;
    throw createTakenError(engine.name);
  }
  if (head.sequence + 1 !== head.floor) throw createTakenError(engine.name);
  if (isSamePosition(head, expected)) return head;
  throw new AppError('conflict', `${engine.name}: a data:move of other records was cut off there: `
    + 'name an empty place, or remove what is there');
}

async function sendRecords(
  { collections }: FrozenRecords, { engine, link, session, local }: EngineConnection, log: string,
  entry: LogEntry,
): Promise<void> {
  const manifest = await writeLocalSnapshot(local, log, entry, collections);
  // Of an attempt that was cut off.
  await link.ask(session, session.snapshots.remove(entry));
  await sendSnapshot(link, session, local, manifest, engine.maxSnapshotBytes, () => false);
  await local.clear();
}

async function readBack(
  connection: EngineConnection, { log }: LogHead, entry: LogEntry, sums: readonly CollectionSum[],
): Promise<void> {
  const { engine, link, session } = connection;
  const snapshots = await link.ask(session, session.snapshots.list());
  const snapshot = snapshots.find((snapshot) => isSamePosition(snapshot, entry));
  if (snapshot === undefined) {
    throw new AppError('damaged', `${engine.name}: what was written there is not there`);
  }
  const { collections } = await loadSnapshot(connection, { log }, snapshot);
  checkSums(sums, await sumCollections(collections), engine.name);
}

async function loadNewest(
  connection: EngineConnection, head: LogHead,
): Promise<Pick<FrozenRecords, 'collections'>> {
  const { link, session } = connection;
  const [newest] = await link.ask(session, session.snapshots.list());
  return loadFrom(connection, head, newest ?? null);
}

async function writeLocalSnapshot(
  local: LocalSnapshot, log: string, { sequence, chain }: Pick<LogEntry, 'sequence' | 'chain'>,
  collections: FrozenRecords['collections'],
) {
  const frozen = new Map([...collections].map(([name, collection]) =>
    [name, collection.freeze()]));
  try {
    return await local.write(log, { sequence, chain }, frozen, () => false);
  } finally {
    for (const collection of collections.values()) collection.thaw();
  }
}

/** Stands where the snapshot does, as an entry does at each. Nobody applies it. */
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
