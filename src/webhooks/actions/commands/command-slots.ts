/**
 * The slots of hook commands: how many run at once in all, and of one action configuration. Other
 * runs wait, and begin in the order in which they came; one whose configuration is at its own limit
 * is passed over, so that it holds back no other configuration.
 *
 * Runs that coalesce are about the newest payload alone. Of each configuration at most one of them
 * waits: when another comes, the newer of the two has the turn of the one that waited, and the
 * older one is coalesced, which means that it never begins. A retry that is older than a run that
 * has begun meanwhile is coalesced too, so that what was newest is not undone by what came before.
 * Which has begun is not remembered through a restart. This file does no I/O and reads no clock.
 */
import { AppError } from '../../../base/errors.ts';

export type SlotRequest = {
  readonly configuration: string;
  /** Most runs of the configuration at once; null: as many as slots. */
  readonly max: number | null;
  /** Sorts runs by age, as `RunWait.place` does; null: the run does not coalesce. */
  readonly order: string | null;
  readonly isRetry?: boolean;
  /** Aborted when the run must not begin any more: it ceases to wait. */
  readonly signal?: AbortSignal | null;
  /** Called with true when the run begins to wait, and with false after that. */
  readonly onWaiting?: (isWaiting: boolean) => void;
};

/** Gives the slot back; may be called again. */
export type ReleaseSlot = () => void;

/** A newer run counts for this one, which must not begin. */
export const COALESCED = 'coalesced';

/** A turn in the line. A newer run that coalesces takes over the turn. */
type Turn = { request: SlotRequest; end: (outcome: SlotOutcome) => void };
type SlotOutcome = ReleaseSlot | typeof COALESCED | AppError;

type ConfigurationRuns = {
  runningCount: number;
  coalescingTurn: Turn | null;
  /** The order of the newest coalescing run that has begun; '': none has. */
  newestOrder: string;
};

export class CommandSlots {
  readonly #max: number;
  readonly #runsByConfiguration = new Map<string, ConfigurationRuns>();
  readonly #turns = new Set<Turn>();
  #runningCount = 0;
  #isClosed = false;

  constructor({ max }: { readonly max: number }) {
    this.#max = max;
  }

  get waitingCount(): number {
    return this.#turns.size;
  }

  /**
   * Resolves with the function that gives the slot back when the run may begin, or with `COALESCED`
   * when it never will. Rejects with `unavailable` when `signal` aborts, or the slots are closed.
   * Whether the run waits, and behind which, is settled before this returns: callers need no
   * `await` to keep their order.
   */
  async take(request: SlotRequest): Promise<ReleaseSlot | typeof COALESCED> {
    if (this.#isClosed || request.signal?.aborted === true) throw createEndError();
    const runs = this.#getRuns(request.configuration);
    const { order, isRetry = false } = request;
    if (order !== null && isRetry && order < runs.newestOrder) return COALESCED;
    const waitingTurn = order === null ? null : runs.coalescingTurn;
    // A waiting turn could not begin, so the run that takes it over cannot begin either.
    if (waitingTurn === null && this.#mayBegin(request)) return this.#begin(request);
    if (waitingTurn !== null && isOlder(request, waitingTurn.request)) return COALESCED;
    const waiting = this.#wait(request, waitingTurn);
    // It may be given up at once.
    request.onWaiting?.(true);
    try {
      const outcome = await waiting;
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    } finally {
      request.onWaiting?.(false);
    }
  }

  /** Ends all waiting with `unavailable`. Runs that have begun go on. */
  close(): void {
    this.#isClosed = true;
    for (const turn of this.#turns) this.#leave(turn, createEndError());
  }

  /** Waits for an own turn, or takes over that of an older run, which is coalesced. */
  #wait(request: SlotRequest, olderTurn: Turn | null): Promise<SlotOutcome> {
    return new Promise((resolve) => {
      const { signal = null, order, configuration } = request;
      const onAbort = (): void => this.#leave(turn, createEndError());
      const end = (outcome: SlotOutcome): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      const turn = olderTurn ?? { request, end };
      if (olderTurn !== null) {
        olderTurn.end(COALESCED);
        olderTurn.request = request;
        olderTurn.end = end;
      }
      signal?.addEventListener('abort', onAbort);
      this.#turns.add(turn);
      if (order !== null) this.#getRuns(configuration).coalescingTurn = turn;
    });
  }

  #leave(turn: Turn, outcome: SlotOutcome): void {
    const { request: { configuration }, end } = turn;
    this.#turns.delete(turn);
    const runs = this.#getRuns(configuration);
    if (runs.coalescingTurn === turn) runs.coalescingTurn = null;
    end(outcome);
  }

  #mayBegin({ configuration, max }: SlotRequest): boolean {
    return this.#runningCount < this.#max
      && (max === null || this.#getRuns(configuration).runningCount < max);
  }

  #begin({ configuration, order }: SlotRequest): ReleaseSlot {
    const runs = this.#getRuns(configuration);
    runs.runningCount += 1;
    this.#runningCount += 1;
    if (order !== null && order > runs.newestOrder) runs.newestOrder = order;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      runs.runningCount -= 1;
      this.#runningCount -= 1;
      this.#beginWaiting();
    };
  }

  #beginWaiting(): void {
    for (const turn of this.#turns) {
      if (this.#runningCount >= this.#max) return;
      if (this.#mayBegin(turn.request)) this.#leave(turn, this.#begin(turn.request));
    }
  }

  #getRuns(configuration: string): ConfigurationRuns {
    const existing = this.#runsByConfiguration.get(configuration);
    if (existing !== undefined) return existing;
    const runs = { runningCount: 0, coalescingTurn: null, newestOrder: '' };
    this.#runsByConfiguration.set(configuration, runs);
    return runs;
  }
}

function isOlder({ order }: SlotRequest, waiting: SlotRequest): boolean {
  return order !== null && waiting.order !== null && order < waiting.order;
}

function createEndError(): AppError {
  return new AppError('unavailable', 'the command did not begin before the service stopped, or its '
    + 'webhook was switched off or removed');
}
