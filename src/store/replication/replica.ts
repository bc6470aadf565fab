/**
 * Opens the store of a node: loads the records from a snapshot and the log of an engine, which the
 * journal then follows. The data directory holds the node's own snapshot, and no data that is not
 * in the engine too.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Files } from '../disk/files.ts';
import { readInventory } from '../disk/inventory.ts';
import type { Engine } from '../engines/engine.ts';
import type { MemoryLimits } from '../records/memory-limits.ts';
import type { CollectionSpec } from '../store-port.ts';
import { LOG_FORMAT, LOG_START } from './log-entry.ts';
import { EngineJournal } from './engine-journal.ts';
import { EngineLink } from './engine-link.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { LocalSnapshot } from './local-snapshot.ts';

type ReplicaOptions = {
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits?: MemoryLimits | undefined;
  readonly engine: Engine;
  /** UUID of this node; it never changes. */
  readonly node: string;
  readonly snapshotEveryBytes?: number | undefined;
  readonly mayCreate?: boolean | undefined;
};

/** Throws `misconfigured` or `unavailable` when the engine cannot be used, and `damaged`. */
export async function openReplica(options: ReplicaOptions): Promise<EngineJournal> {
  const { engine, node, clock, files, directory, logger, mayCreate = true } = options;
  const local = new LocalSnapshot(options);
  const link = new EngineLink(engine, node, clock);
  try {
    const head = await link.connectFirst(mayCreate);
    if (head === null) {
      if (!mayCreate) {
        throw new AppError('not_found', `${engine.name} holds no log: name the right database, or `
          + 'start hookshelf serve to begin one');
      }
      // A user who names an engine for the first time expects to find the old records there.
      checkDirectory(files, directory);
      await createLog(link, local);
    }
    const snapshots = new SnapshotKeeper({
      ...options, local, link, maxSnapshotBytes: engine.maxSnapshotBytes,
    });
    const { session } = link;
    if (session === null) throw new AppError('unavailable', 'the engine closed the connection');
    const records = await snapshots.load(session);
    await local.recordLog(records.logId);
    snapshots.follow(records);
    const { durability } = session;
    return new EngineJournal({ records, link, snapshots, engine, durability, clock, logger });
  } catch (error) {
    link.close();
    throw error;
  }
}

function checkDirectory(files: Files, directory: string): void {
  const { journals } = readInventory(files, directory);
  if (journals.length === 0) return;
  throw new AppError('misconfigured', `the engine holds no log, and ${directory} holds the records `
    + 'of a store without an engine: bring them there with data:move, or name another directory');
}

/** Creates the log, unless another node is first. */
async function createLog(link: EngineLink, local: LocalSnapshot): Promise<void> {
  const { session } = link;
  const previous = await local.find();
  if (previous !== null) {
    throw new AppError('misconfigured', 'the engine holds no log, but this node has followed the '
      + `log ${previous.log}: name the right database, or put its backup back; to begin anew, `
      + `remove ${local.directory}`);
  }
  const head = { log: randomUUID(), format: LOG_FORMAT, floor: 0, ...LOG_START };
  if (session !== null) await link.ask(session, session.create(head));
}
