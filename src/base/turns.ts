/**
 * Does long work in short turns of the event loop. Work that looks at many books (scans, sorts, the
 * search index) is a generator that yields after each small step. All works that are under way
 * share one budget of time for each turn, in equal parts, so that any number of them together hold
 * the loop no longer than one. Work that nobody waits for any more is not resumed: it must hold
 * nothing that needs closing.
 */
import type { Clock } from './clock.ts';

export type Steps<T> = Generator<void, T, void>;

export interface Turns {
  /**
   * Runs `steps` to their end and resolves to their result, or to null once `isWanted`, which is
   * asked before each turn, says that nobody waits for it any more. Begins at once: work that fits
   * into one share is done when this returns.
   */
  run<T>(steps: Steps<T>, isWanted?: () => boolean): Promise<T | null>;
  /** Runs `steps` from a later turn on, for callers that must not be held up. */
  runLater<T>(steps: Steps<T>, isWanted?: () => boolean): Promise<T | null>;
}

// The budget of one turn of the loop. A turn may take 5 ms: the rest is for a step that runs over,
// or meets the garbage collector.
const TURN_MS = 3;
// A shorter share would be spent on changing from one work to the next.
const SHARE_MS_MIN = 0.25;

type StepsRun = {
  /** Runs until `deadlineMs`. Returns whether the work has ended. */
  readonly advance: (deadlineMs: number) => boolean;
};

export function createTurns(
  clock: Pick<Clock, 'monotonicMs'>,
  yieldTurn: (next: () => void) => void = (next) => { setImmediate(next); },
): Turns {
  const runs: StepsRun[] = [];
  let isScheduled = false;
  // Time that this turn has used, including steps that began at once.
  let spentMs = 0;

  const takeTurn = (): void => {
    isScheduled = false;
    spentMs = 0;
    if (runs.length === 0) return;
    const startMs = clock.monotonicMs();
    advanceAll(clock, runs, TURN_MS);
    spentMs = clock.monotonicMs() - startMs;
    schedule();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    yieldTurn(takeTurn);
  };

  const run = <T>(
    steps: Steps<T>, isWanted: () => boolean, isLater: boolean,
  ): Promise<T | null> => new Promise((resolve, reject) => {
    const advance = (deadlineMs: number): boolean =>
      advanceSteps(clock, steps, deadlineMs, isWanted, resolve, reject);
    schedule();
    const startMs = clock.monotonicMs();
    const shareMs = isLater ? 0 : Math.max(0, TURN_MS - spentMs) / (runs.length + 1);
    const isDone = shareMs >= SHARE_MS_MIN && advance(startMs + shareMs);
    spentMs += clock.monotonicMs() - startMs;
    if (!isDone) runs.push({ advance });
  });

  return {
    run: (steps, isWanted = () => true) => run(steps, isWanted, false),
    runLater: (steps, isWanted = () => true) => run(steps, isWanted, true),
  };
}

/** Lets so many tasks run at a time; the others wait in the order they came. */
export interface ConcurrencyLimiter {
  run<T>(task: () => Promise<T>): Promise<T>;
}

export function createConcurrencyLimiter(tasksMax: number): ConcurrencyLimiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run(task) {
      if (running >= tasksMax) await new Promise<void>((resume) => waiting.push(resume));
      else running += 1;
      try {
        return await task();
      } finally {
        // The next waiting task takes over the slot of this task: no other can slip in between.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** Goes round the runs in equal shares until the budget is spent or nothing is left to do. */
function advanceAll(clock: Pick<Clock, 'monotonicMs'>, runs: StepsRun[], budgetMs: number): void {
  let nowMs = clock.monotonicMs();
  const endMs = nowMs + budgetMs;
  const shareMs = Math.max(SHARE_MS_MIN, budgetMs / Math.max(1, runs.length));
  // At least one step of one run is done, or a clock that jumps could stop them all.
  for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
    // The run goes to the back of the queue: the next turn begins with runs that had no share yet.
    if (!run.advance(Math.min(endMs, nowMs + shareMs))) runs.push(run);
    nowMs = clock.monotonicMs();
    if (nowMs >= endMs) return;
  }
}

function advanceSteps<T>(
  clock: Pick<Clock, 'monotonicMs'>, steps: Steps<T>, deadlineMs: number, isWanted: () => boolean,
  resolve: (result: T | null) => void, reject: (reason: unknown) => void,
): boolean {
  try {
    if (!isWanted()) {
      resolve(null);
      return true;
    }
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        resolve(step.value);
        return true;
      }
      if (clock.monotonicMs() >= deadlineMs) return false;
    }
  } catch (error) {
    reject(error);
    return true;
  }
}
