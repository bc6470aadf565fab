/** Turns of the event loop that a test takes by hand: nothing happens but by the test. */
import { createTurns } from '../../src/base/turns.ts';
import type { Turns } from '../../src/base/turns.ts';
import { ManualClock } from './manual-clock.ts';
import { someTurns } from './turns.ts';

const TURNS_MAX = 1_000_000;

export class ManualTurns {
  readonly clock = new ManualClock();
  readonly turns: Turns;
  longestTurnMs = 0;
  readonly #next: (() => void)[] = [];

  /** Every look at the clock takes `tickMs`: by default each ends a turn. */
  constructor(tickMs = 5) {
    this.clock.tickMs = tickMs;
    this.turns = createTurns(this.clock, (next) => this.#next.push(next));
  }

  get isIdle(): boolean {
    return this.#next.length === 0;
  }

  /** Does up to `count` steps of what goes on in the background. */
  runTurns(count: number): void {
    for (let turn = 0; turn < count; turn += 1) {
      const next = this.#next.shift();
      if (next === undefined) return;
      const startMs = this.clock.now();
      next();
      this.longestTurnMs = Math.max(this.longestTurnMs, this.clock.now() - startMs);
    }
  }

  /** Does all of it. */
  runAllTurns(): void {
    for (let turn = 0; !this.isIdle; turn += 1) {
      if (turn >= TURNS_MAX) throw new Error('it goes on for ever');
      this.runTurns(1);
    }
  }

  /** Does `count` steps, and what each of them leads to at once. */
  async takeTurns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      this.runTurns(1);
      await someTurns(1);
    }
  }

  /** Does as much of it as a result needs; `between` is called before each step. */
  async runUntil<T>(work: Promise<T>, between: () => void = () => {}): Promise<T> {
    let isDone = false;
    const ending = work.finally(() => {
      isDone = true;
    });
    await someTurns(1);
    for (let turn = 0; !isDone; turn += 1) {
      if (turn >= TURNS_MAX) throw new Error('it goes on for ever');
      between();
      await this.takeTurns(1);
    }
    return ending;
  }
}
