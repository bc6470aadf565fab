/**
 * How this node's appends meet those of others. Where several write at once, most appends without
 * the engine's lock are in vain, so that each takes it first, and is told then what it has missed:
 * that need not be read by itself, and the engine need not tell of it either.
 */
import type { Clock, Timer } from '../../../base/clock.ts';

/** One that has missed nothing for so long is alone again. */
const LOCK_FIRST_APPENDS = 8;
// Clients that were answered ask again within some milliseconds: where three nodes kept two cores
// busy, half of the appends came within 6 and nine tenths within 25. With 5 here, the others were
// preceded by a read that the lock makes needless: a request cost all nodes and the engine 137 µs,
// with 15 it cost 125. With 15 here and for the lock, p99 until others saw it was 16 and 20 ms.
const EXPECT_MS = 12;
/** Appends follow one another if none is longer after the one before. */
const PAUSE_MS_MAX = 100;
/** So many in a row, a second of a busy node, and the engine need not tell of others' appends. */
const STEADY_APPENDS = 64;

export class Contention {
  /** Told when an append that was expected has not come, and while it is steady again and again. */
  onUnexpected: () => void = () => {};
  /** The next append is: whoever writes among others does so all the time. */
  isExpected = false;
  readonly #clock: Clock;
  /** How many appends take the lock first from now on. */
  #lockFirstAppends = 0;
  #timer: Timer | null = null;
  #committedMs = -Infinity;
  /** How many appends have followed one another. */
  #consecutiveAppends = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Others have committed before one of the last few appends, and may before the next one. */
  get isContended(): boolean { return this.#lockFirstAppends > 0; }

  /** Appends follow one another, and each is told what it has missed. */
  get isSteady(): boolean { return this.#consecutiveAppends >= STEADY_APPENDS; }

  /** An append begins. */
  begin(): void {
    this.#clearExpectation();
    this.#consecutiveAppends = this.#isPaused() ? 0 : this.#consecutiveAppends + 1;
  }

  /** Whether the next attempt takes the lock first; counts it. */
  takeLockFirst(): boolean {
    if (this.#lockFirstAppends === 0) return false;
    this.#lockFirstAppends -= 1;
    return true;
  }

  /** Others were first. */
  onConflict(): void {
    this.#lockFirstAppends = LOCK_FIRST_APPENDS;
  }

  /** An append is committed. */
  commit(): void {
    this.#committedMs = this.#clock.monotonicMs();
    if (!this.isContended) return this.end();
    this.#clearExpectation();
    this.isExpected = true;
    this.#scheduleCheck();
  }

  /** Nothing is expected any more. */
  end(): void {
    this.#clearExpectation();
    this.#consecutiveAppends = 0;
  }

  #clearExpectation(): void {
    this.isExpected = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #scheduleCheck(): void {
    this.#timer = this.#clock.startTimer(EXPECT_MS, () => {
      this.#clearExpectation();
      if (this.#isPaused()) this.#consecutiveAppends = 0;
      else if (this.isSteady) this.#scheduleCheck();
      this.onUnexpected();
    });
  }

  #isPaused(): boolean {
    return this.#clock.monotonicMs() - this.#committedMs > PAUSE_MS_MAX;
  }
}
