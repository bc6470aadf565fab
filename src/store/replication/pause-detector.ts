/**
 * The pause detector notices that this process stood still, as after SIGSTOP, or while its machine
 * was paused. Its records are as old as the pause then, and the first readers would get them before
 * the engine is heard. So readers wait until all that was committed meanwhile is applied. Where the
 * engine is away they read the records as they are, as at any other time.
 */
import { endsInTime, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { TICK_MS } from './engine-link.ts';

/** A longer time between two ticks is a pause. A busy machine is late by one tick now and then. */
const PAUSE_MS = 2 * TICK_MS;
/** The longest wait of a reader. */
const WAIT_MS_MAX = 2000;
/** An engine that is not heard for so long counts as away, for /readyz too. */
const SILENT_MS = 5000;
const RETRY_S = 1;

type PauseDetectorDeps = {
  readonly clock: Clock;
  /** Resolves when all that was committed before the call is applied. */
  readonly catchUp: () => Promise<void>;
  /** When the engine last answered. */
  readonly heardMs: () => number;
};

export class PauseDetector {
  readonly #deps: PauseDetectorDeps;
  /** The last time at which this process surely ran, on the monotonic clock. */
  #ranMs: number;
  /** Under way since the last pause; null: it is over, or there was no pause. */
  #catchingUp: Promise<void> | null = null;
  /** When the last pause was noticed. */
  #pauseNoticedMs = 0;

  constructor(deps: PauseDetectorDeps) {
    this.#deps = deps;
    this.#ranMs = deps.clock.monotonicMs();
  }

  /** Called each TICK_MS while this process runs. */
  tick(): void {
    this.#observe(this.#deps.clock.monotonicMs());
  }

  /** Whether this process stood still and has not caught up since. `nowMs` is about now. */
  isBehind(nowMs: number): boolean {
    this.#observe(nowMs);
    return this.#catchingUp !== null;
  }

  /** Resolves when the records may be read. Rejects with `unavailable` after 2 s. */
  async waitUntilCaughtUp(): Promise<void> {
    const catchingUp = this.#catchingUp;
    const { clock, heardMs } = this.#deps;
    if (catchingUp === null || await endsInTime(clock, WAIT_MS_MAX, catchingUp)) return;
    if (clock.monotonicMs() - Math.max(heardMs(), this.#pauseNoticedMs) < SILENT_MS) {
      throw new AppError('unavailable', 'this process stood still and has not caught up yet with '
        + 'what others have written: ask another node, or come again', { retryAfterS: RETRY_S });
    }
    this.#finish(catchingUp);
  }

  #observe(nowMs: number): void {
    const hasRun = nowMs - this.#ranMs <= PAUSE_MS;
    this.#ranMs = Math.max(this.#ranMs, nowMs);
    if (hasRun) return;
    const catchingUp = this.#deps.catchUp().catch(() => {
      // The engine is away.
    });
    this.#catchingUp = catchingUp;
    this.#pauseNoticedMs = nowMs;
    void catchingUp.then(() => this.#finish(catchingUp));
  }

  #finish(catchingUp: Promise<void>): void {
    if (this.#catchingUp === catchingUp) this.#catchingUp = null;
  }
}
