/**
 * Notices that this process stood still, as one does that is sent SIGSTOP or whose machine is
 * paused. What it has applied is as old as that then, and the first who read would be told it
 * before the engine is heard. They wait until what was committed meanwhile is applied. Where the
 * engine is away they are told what there is, as at any other time.
 */
import { endsInTime, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { TICK_MS } from './engine-link.ts';

/** Two ticks: a busy machine is late by one now and then. */
const PAUSE_MS = 2 * TICK_MS;
const WAIT_MS_MAX = 2000;
/** As /readyz says it: an engine that is not heard for so long is away. */
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
  /** When this process surely ran. */
  #ranMs: number;
  /** Null: it has caught up since it stood still, or cannot. */
  #catchingUp: Promise<void> | null = null;
  #sinceMs = 0;

  constructor(deps: PauseDetectorDeps) {
    this.#deps = deps;
    this.#ranMs = deps.clock.monotonicMs();
  }

  /** Called each TICK_MS while this process runs. */
  tick(): void {
    this.#observe(this.#deps.clock.monotonicMs());
  }

  /** Whether this process stood still before `nowMs`, which is about now, and is behind since. */
  isBehind(nowMs: number): boolean {
    this.#observe(nowMs);
    return this.#catchingUp !== null;
  }

  /** Resolves when what is applied may be read; rejects with `unavailable` after 2 s. */
  async waitUntilCaughtUp(): Promise<void> {
    const catchingUp = this.#catchingUp;
    const { clock, heardMs } = this.#deps;
    if (catchingUp === null || await endsInTime(clock, WAIT_MS_MAX, catchingUp)) return;
    if (clock.monotonicMs() - Math.max(heardMs(), this.#sinceMs) < SILENT_MS) {
      throw new AppError('unavailable', 'this process stood still and has not caught up yet with '
        + 'what others have written: ask another node, or come again', { retryAfterS: RETRY_S });
    }
    this.#finish(catchingUp);
  }

  #observe(nowMs: number): void {
    const isOn = nowMs - this.#ranMs <= PAUSE_MS;
    this.#ranMs = Math.max(this.#ranMs, nowMs);
    if (isOn) return;
    const catchingUp = this.#deps.catchUp().catch(() => {
      // The engine is away.
    });
    this.#catchingUp = catchingUp;
    this.#sinceMs = nowMs;
    void catchingUp.then(() => this.#finish(catchingUp));
  }

  #finish(catchingUp: Promise<void>): void {
    if (this.#catchingUp === catchingUp) this.#catchingUp = null;
  }
}
