/**
 * Contention: the appends of several nodes meet. Where several nodes write at once, most appends
 * without the engine's lock would conflict, so each takes the lock first. With the lock it gets the
 * entries that this node has missed: the node need not read those itself, and once its appends
 * follow one another steadily, the engine need not notify it either.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import type { EngineSession } from '../../engines/engine.ts';

/** A node that has missed nothing in this many appends counts as alone again. */
const LOCK_FIRST_APPENDS = 8;
// A client that got its response sends the next request within some milliseconds: where three nodes
// kept two cores busy, half of the appends came within 6 ms and nine tenths within 25. The others
// are preceded by a read that the lock makes needless: with 5 ms here a request cost all nodes and
// the engine 137 µs, with 15 ms 125. With 15 ms here and in appender.ts, p99 until others saw a
// write was 16 and 20 ms.
const EXPECT_MS = 12;
/** Appends follow one another if each begins within this time after the append before. */
const PAUSE_MS_MAX = 100;
/** After this many in a row, a second of a busy node, the engine need not notify the node. */
const STEADY_APPENDS = 64;

export class Contention {
  /** Called when an expected append has not come; while appends are steady, each EXPECT_MS. */
  onUnexpected: () => void = () => {};
  /** The next append will probably come soon: a node that writes among others goes on writing. */
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

  /** Whether another node has committed before one of the last few appends, and may again. */
  get isContended(): boolean { return this.#lockFirstAppends > 0; }

  /** Whether appends follow one another, each of which brings the missed entries. */
  get isSteady(): boolean { return this.#consecutiveAppends >= STEADY_APPENDS; }

  /** Called when an append begins. */
  onBegin(): void {
    this.#clearExpectation();
    this.#consecutiveAppends = this.#isPaused() ? 0 : this.#consecutiveAppends + 1;
  }

  /** Whether the next attempt takes the lock first; counts it. */
  takeLockFirst(): boolean {
    if (this.#lockFirstAppends === 0) return false;
    this.#lockFirstAppends -= 1;
    return true;
  }

  /** Called when another node was first. */
  onConflict(): void {
    this.#lockFirstAppends = LOCK_FIRST_APPENDS;
  }

  /** Called when an append is committed. */
  onCommit(): void {
    this.#committedMs = this.#clock.monotonicMs();
    if (!this.isContended) return this.reset();
    this.#clearExpectation();
    this.isExpected = true;
    this.#scheduleCheck();
  }

  /** Called when no append is expected any more. */
  reset(): void {
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

/**
 * Has the engine notify this node when others append, while that is needed. It is not needed while
 * this node appends all the time: each append brings the entries that the node has missed, and
 * notifications cost three busy nodes and PostgreSQL 4 % of a request.
 *
 * The function that is returned begins or ends the watch of a session, as needed. Null: there is no
 * session.
 */
export function createAppendWatch(
  wake: () => void,
): (session: EngineSession | null, isNeeded: boolean) => void {
  let watchedSession: EngineSession | null = null;
  /** Ends the watch; null: this session watches nothing. */
  let endWatch: (() => void) | null = null;
  return (session, isNeeded) => {
    // The watch of an earlier session has ended with that session.
    if (session !== watchedSession) endWatch = null;
    watchedSession = session;
    if (!isNeeded) {
      endWatch?.();
      endWatch = null;
    } else if (endWatch === null && session !== null) {
      endWatch = session.watch(wake);
      // The engine tells nothing of appends before this.
      wake();
    }
  };
}
