/**
 * Notices that this process stood still, as one does that is sent SIGSTOP or whose machine is
 * paused. What it has applied is as old as that then, and the first who read would be told it
 * before the engine is heard. They wait until what was committed meanwhile is applied. Where the
 * engine is away they are told what there is, as at any other time.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { TICK_MS } from './engine-link.ts';

/** Two ticks: a busy machine is late by one now and then. */
const STILL_MS = 2 * TICK_MS;
const WAIT_MS_MAX = 2000;
/** While there is something to catch up with, the engine is heard within milliseconds. */
const SILENT_MS = 1000;
const RETRY_S = 1;

type StandstillParts = {
  readonly clock: Clock;
  /** Resolves when all that was committed before the call is applied. */
  readonly catchUp: () => Promise<void>;
  /** When the engine last answered. */
  readonly heardMs: () => number;
};

export class Standstill {
  readonly #parts: StandstillParts;
  /** When this process surely ran. */
  #ranMs: number;
  /** Null: it has caught up since it stood still, or cannot. */
  #catchingUp: Promise<void> | null = null;

  constructor(parts: StandstillParts) {
    this.#parts = parts;
    this.#ranMs = parts.clock.monotonicMs();
  }

  /** Called each TICK_MS while this process runs. */
  tick(): void {
    this.#note(this.#parts.clock.monotonicMs());
  }

  /**
   * Null: what is applied may be read. Else this process stood still before `nowMs`, which is about
   * now, and it may be read once the promise resolves; it rejects with `unavailable` after 2 s.
   */
  wait(nowMs: number): Promise<void> | null {
    this.#note(nowMs);
    return this.#catchingUp === null ? null : this.#wait(this.#catchingUp);
  }

  #note(nowMs: number): void {
    const isOn = nowMs - this.#ranMs <= STILL_MS;
    this.#ranMs = Math.max(this.#ranMs, nowMs);
    if (isOn) return;
    const catchingUp = this.#parts.catchUp().catch(() => {
      // The engine is away.
    });
    this.#catchingUp = catchingUp;
    void catchingUp.then(() => this.#end(catchingUp));
  }

  async #wait(catchingUp: Promise<void>): Promise<void> {
    const { clock, heardMs } = this.#parts;
    const isOver = await new Promise<boolean>((resolve) => {
      const timer = clock.startTimer(WAIT_MS_MAX, () => resolve(false));
      void catchingUp.then(() => {
        timer.cancel();
        resolve(true);
      });
    });
    if (isOver) return;
    if (clock.monotonicMs() - heardMs() < SILENT_MS) {
      throw new AppError('unavailable', 'this process stood still and has not caught up yet with '
        + 'what others have written: ask another node, or come again', { retryAfterS: RETRY_S });
    }
    this.#end(catchingUp);
  }

  #end(catchingUp: Promise<void>): void {
    if (this.#catchingUp === catchingUp) this.#catchingUp = null;
  }
}
