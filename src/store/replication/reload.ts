/**
 * Loads all records of a node anew when the log does not continue what the node has applied: the
 * newest snapshot takes their place, and then the log is followed up to a barrier. Until that is
 * done, through as many sessions as it takes, `error` is set: the snapshot is older than what was
 * read here before, so nobody may read it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EngineSession } from '../engines/engine.ts';
import type { StoredCollection } from '../records/collection.ts';
import { walkRecords } from '../find-record.ts';
import type { Operation, ReloadPhase } from '../store-port.ts';
import type { SnapshotKeeper } from './snapshot-keeper.ts';
import type { ReplicatedRecords } from './replicated-records.ts';

type ReloadDeps = {
  readonly records: ReplicatedRecords;
  readonly snapshots: SnapshotKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Reload {
  /** The error for all readers and writers during a reload; null: there is none. */
  error: AppError | null = null;
  readonly #deps: ReloadDeps;
  readonly #listeners = new Set<(phase: ReloadPhase) => void>();

  constructor(deps: ReloadDeps) {
    this.#deps = deps;
  }

  /** Calls `listener` when a reload begins, and when it ends. Returns what removes it. */
  listen(listener: (phase: ReloadPhase) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Sets `error`, and returns it. A reload may begin again before it is over. */
  begin(): AppError {
    const { records, logger } = this.#deps;
    logger.error('the log does not continue what this node has applied; loading everything anew',
      { reason: records.divergence });
    if (this.error !== null) return this.error;
    this.error = new AppError('unavailable', 'the records of this node are loaded anew, as '
      + 'the log does not continue them', { retryAfterS: 5 });
    for (const listener of this.#listeners) listener('begin');
    return this.error;
  }

  /** Brings the records to the state of the newest snapshot and the log after it. */
  async load(session: EngineSession): Promise<void> {
    const { records, snapshots, clock, logger } = this.#deps;
    const startedMs = clock.monotonicMs();
    const newest = await snapshots.load(session);
    await reconcile(records.collections, newest.collections,
      (error) => records.commit?.feed.onError(error));
    records.reset(newest.logId, newest.position);
    logger.info('everything is loaded anew', {
      sequence: newest.position.sequence, tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
  }

  /** Clears `error`. `onOver` is called before the listeners: they may append at once. */
  end(onOver: () => void): void {
    this.error = null;
    onOver();
    for (const listener of this.#listeners) listener('end');
  }
}

const RECORDS_A_TURN = 500;

type Collections = ReadonlyMap<string, StoredCollection>;

/**
 * Makes the live records of a node, which others hold references to, equal to newly loaded ones.
 * Projections learn only of records that differ. It runs in short turns of the event loop; between
 * them the records are a mixture of old and new, so nobody may read them.
 */
async function reconcile(
  live: Collections, target: Collections, onListenerError: (error: unknown) => void,
): Promise<void> {
  for (const [name, collection] of live) {
    const targetCollection = target.get(name);
    if (targetCollection === undefined) continue;
    const change = (operation: Operation): void => {
      try {
        collection.apply(operation);
      } catch (error) {
        onListenerError(error);
      }
    };
    // Deletions come first: a unique value may have gone from one record to another.
    const isUnique = collection.unique.isUsed;
    await visitRecords(collection, (id, bytes) => {
      const other = targetCollection.findBytes(id);
      const isGone = other === undefined || (isUnique && !other.equals(bytes));
      if (isGone) change({ collection: name, id, bytes: null });
    });
    await visitRecords(targetCollection, (id, bytes) => {
      if (collection.findBytes(id)?.equals(bytes) === true) return;
      change({ collection: name, id, bytes });
    });
  }
}

async function visitRecords(
  collection: StoredCollection, visit: (id: string, bytes: Buffer) => void,
): Promise<void> {
  let count = 0;
  for (const { id, bytes } of walkRecords(collection)) {
    visit(id, bytes);
    count += 1;
    if (count % RECORDS_A_TURN === 0) await nextTurn();
  }
}
