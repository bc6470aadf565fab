/**
 * How this node's appends meet those of others. Where several write at once, most appends without
 * the engine's lock are in vain, so that each takes it first, and is told then what it has missed:
 * that need not be read by itself, and the engine need not tell of it either.
 */
import type { Clock, Timer } from '../../../base/clock.ts';

/** One that has missed nothing for so long is alone again. */
const LOCK_FIRST_APPENDS = 8;
// A client that was answered asks again within some milliseconds. Of three busy nodes, each with
// 5 ms here and 10 until it reads while it waits for the lock, read half of all entries twice:
// a request cost all of them together 137 µs, and 125 with 15 ms for both.
const EXPECT_MS = 15;
/** A second of a busy node: so much in a row that the engine need not tell of others' appends. */
const STEADY_APPENDS = 64;

export class Contention {
  /** Told when an append that was expected has not come. */
  onUnexpected: () => void = () => {};
  readonly #clock: Clock;
  /** How many appends take the lock first from now on. */
  #lockFirst = 0;
  #expecting: Timer | null = null;
  /** How many appends were expected one after the other. */
  #inRow = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Others have committed before one of the last few appends, and may before the next one. */
  get isContended(): boolean { return this.#lockFirst > 0; }

  /** The next append is: whoever writes among others does so all the time. */
  get isExpected(): boolean { return this.#expecting !== null; }

  /** Appends follow one another, and each is told what it has missed. */
  get isSteady(): boolean { return this.#inRow >= STEADY_APPENDS; }

  /** An append begins. */
  begin(): void {
    const { isExpected } = this;
    this.#endExpecting();
    this.#inRow = isExpected ? this.#inRow + 1 : 0;
  }

  /** Whether the next attempt takes the lock first; counts it. */
  takesLock(): boolean {
    if (this.#lockFirst === 0) return false;
    this.#lockFirst -= 1;
    return true;
  }

  /** Others were first. */
  meet(): void {
    this.#lockFirst = LOCK_FIRST_APPENDS;
  }

  /** An append is committed. */
  commit(): void {
    this.#endExpecting();
    if (!this.isContended) {
      this.#inRow = 0;
      return;
    }
    this.#expecting = this.#clock.startTimer(EXPECT_MS, () => {
      this.end();
      this.onUnexpected();
    });
  }

  /** Nothing is expected any more. */
  end(): void {
    this.#endExpecting();
    this.#inRow = 0;
  }

  #endExpecting(): void {
    this.#expecting?.cancel();
    this.#expecting = null;
  }
}
