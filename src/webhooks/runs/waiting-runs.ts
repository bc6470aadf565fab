/**
 * The runs of stored requests that wait for other runs, such as hook commands for a slot. A wait
 * may take long, so it is given up when the run must not begin any more: its route is not pending
 * now, its webhook was switched off or removed, or this process stops. No attempt was made then.
 */
import type { RunTurn } from '../actions/action-registry.ts';

/** A run of a stored request, which may come to wait. */
type StoredRouteRun = Pick<RunTurn, 'place' | 'onWaiting'> & {
  /** The id of the delivery to the route. */
  readonly id: string;
  readonly webhookId: string;
  /** Aborted when the run is of no use any more. */
  readonly cutOff: AbortSignal;
};

type WaitingRun = { readonly webhookId: string; readonly giveUp: () => void };

export class WaitingRuns {
  /** By the id of the delivery. */
  readonly #runs = new Map<string, WaitingRun>();
  #isClosed = false;

  /** The turn that an action gets with the run, and tells of its waiting. */
  createTurn({ id, webhookId, place, cutOff, onWaiting }: StoredRouteRun): RunTurn {
    const controller = new AbortController();
    const giveUp = (): void => controller.abort();
    if (this.#isClosed || cutOff.aborted) giveUp();
    return {
      place, cutOff: controller.signal,
      onWaiting: (isWaiting) => {
        if (isWaiting) {
          this.#runs.set(id, { webhookId, giveUp });
          cutOff.addEventListener('abort', giveUp);
        } else {
          this.#runs.delete(id);
          cutOff.removeEventListener('abort', giveUp);
        }
        onWaiting(isWaiting);
      },
    };
  }

  /** Gives up the run of a delivery, if it waits. One that has begun goes on. */
  giveUp(id: string): void {
    this.#runs.get(id)?.giveUp();
  }

  /** Gives up all runs of a webhook that wait. */
  giveUpAll(webhookId: string): void {
    for (const run of [...this.#runs.values()]) if (run.webhookId === webhookId) run.giveUp();
  }

  /** Gives up all runs, and those that would wait from now on. */
  close(): void {
    this.#isClosed = true;
    for (const { giveUp } of [...this.#runs.values()]) giveUp();
  }
}
