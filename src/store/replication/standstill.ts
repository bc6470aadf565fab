/**
 * Notices that this process stood still, as one does that is sent SIGSTOP or whose machine is
 * paused. What it has applied is as old as that then, and the first who read would be told it
 * before the engine is heard. They wait until what was committed meanwhile is applied. Where the
 * engine is not there they are told what there is, as at any other time.
 */
import type { Clock } from '../../base/clock.ts';
import { TICK_MS } from './engine-link.ts';

/** Two ticks: a busy machine is late by one now and then. */
const STILL_MS = 2 * TICK_MS;
const CATCH_UP_MS_MAX = 2000;

export class Standstill {
  readonly #clock: Clock;
  readonly #catchUp: () => Promise<void>;
  /** When this process surely ran. */
  #ranMs: number;
  #waking: Promise<void> | null = null;

  constructor(clock: Clock, catchUp: () => Promise<void>) {
    this.#clock = clock;
    this.#catchUp = catchUp;
    this.#ranMs = clock.monotonicMs();
  }

  /** Called each TICK_MS while this process runs. */
  tick(): void {
    this.#note(this.#clock.monotonicMs());
  }

  /**
   * Null: this process ran until `nowMs`, which is about now. Else it has just gone on, and the
   * promise resolves when what is applied may be read.
   */
  wait(nowMs: number): Promise<void> | null {
    this.#note(nowMs);
    return this.#waking;
  }

  #note(nowMs: number): void {
    const isOn = nowMs - this.#ranMs <= STILL_MS;
    this.#ranMs = Math.max(this.#ranMs, nowMs);
    if (!isOn) this.#wake();
  }

  #wake(): void {
    const waking = new Promise<void>((resolve) => {
      const timer = this.#clock.startTimer(CATCH_UP_MS_MAX, resolve);
      const end = (): void => {
        timer.cancel();
        resolve();
      };
      this.#catchUp().then(end, end);
    }).then(() => {
      if (this.#waking === waking) this.#waking = null;
    });
    this.#waking = waking;
  }
}
