/**
 * Loads all records of a node anew when the log does not continue what it has applied: the newest
 * snapshot takes their place, and then the log is followed behind a barrier. Until that has come to
 * its end, through as many sessions as it takes, `refusal` stands: the snapshot is older than what
 * was read here before.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EngineSession } from '../engines/engine.ts';
import type { SnapshotKeeper } from './snapshot-keeper.ts';
import { reconcile } from './reconcile.ts';
import type { ReplicatedImage } from './replicated-image.ts';

type ReloadDeps = {
  readonly image: ReplicatedImage;
  readonly snapshots: SnapshotKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Reload {
  /** What everyone is told meanwhile. */
  rejection: AppError | null = null;
  readonly #deps: ReloadDeps;
  readonly #listeners = new Set<(isOver: boolean) => void>();

  constructor(deps: ReloadDeps) {
    this.#deps = deps;
  }

  /** Calls `listener` when it begins, and when it is over. */
  listen(listener: (isOver: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  begin(): AppError {
    const { image, logger } = this.#deps;
    logger.error('the log does not continue what this node has applied; loading everything anew',
      { reason: image.divergence });
    if (this.rejection !== null) return this.rejection;
    this.rejection = new AppError('unavailable', 'the records of this node are loaded anew, as '
      + 'the log does not continue them', { retryAfterS: 5 });
    for (const listener of this.#listeners) listener(false);
    return this.rejection;
  }

  async load(session: EngineSession): Promise<void> {
    const { image, snapshots, clock, logger } = this.#deps;
    const startedMs = clock.monotonicMs();
    const newest = await snapshots.load(session);
    await reconcile(image.collections, newest.collections,
      (error) => image.writers?.onListenerError(error));
    image.reset(newest.log, newest.position);
    logger.info('everything is loaded anew', {
      sequence: newest.position.sequence, tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
  }

  /** `goOn` lets appends in again before anybody hears of it. */
  end(goOn: () => void): void {
    this.rejection = null;
    goOn();
    for (const listener of this.#listeners) listener(true);
  }
}
