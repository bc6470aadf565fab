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
import type { ImageKeeper } from './image-keeper.ts';
import { reconcile } from './reconcile.ts';
import type { ReplicatedImage } from './replicated-image.ts';

type ReloadParts = {
  readonly image: ReplicatedImage;
  readonly snapshots: ImageKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Reload {
  /** What everyone is told meanwhile. */
  refusal: AppError | null = null;
  readonly #parts: ReloadParts;
  readonly #listeners = new Set<(isOver: boolean) => void>();

  constructor(parts: ReloadParts) {
    this.#parts = parts;
  }

  /** Calls `listener` when it begins, and when it is over. */
  listen(listener: (isOver: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  begin(): AppError {
    const { image, logger } = this.#parts;
    logger.error('the log does not continue what this node has applied; loading everything anew',
      { reason: image.divergence });
    if (this.refusal !== null) return this.refusal;
    this.refusal = new AppError('unavailable', 'the records of this node are loaded anew, as '
      + 'the log does not continue them', { retryAfterS: 5 });
    for (const listener of this.#listeners) listener(false);
    return this.refusal;
  }

  async load(session: EngineSession): Promise<void> {
    const { image, snapshots, clock, logger } = this.#parts;
    const startedMs = clock.monotonicMs();
    const loaded = await snapshots.load(session);
    await reconcile(image.collections, loaded.collections,
      (error) => image.writers?.onListenerError(error));
    image.reset(loaded.log, loaded.position);
    logger.info('everything is loaded anew', {
      sequence: loaded.position.sequence, tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
  }

  /** `goOn` lets appends in again before anybody hears of it. */
  end(goOn: () => void): void {
    this.refusal = null;
    goOn();
    for (const listener of this.#listeners) listener(true);
  }
}
