/** Puts requests into the inbox whose routes have run, or that are duplicates. */
import { formatTimestamp, type Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { Store } from '../../../store/store-port.ts';
import type { InboxCapacity } from '../../inbox/inbox-capacity.ts';
import type { SystemEvents } from '../../deliveries/system-events.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import type { OnRun } from '../../outcome-listeners.ts';
import { putEventId } from '../../inbox/event-ids.ts';
import {
  addAttempt, createPendingRoute, computeStatus, type StoredRequest,
} from '../../inbox/stored-request.ts';
import type { AdmittedRequest } from '../receiving/admitted-request.ts';
import type { RouteOutcome, RouteDeps } from '../receiving/run-webhook-routes.ts';
import type { Event } from './event.ts';
import { Arrivals } from './arrivals.ts';
import { acceptedRequest, attemptOf, estimatedBytes } from './build-request.ts';

export type IntakeParts = RouteDeps & {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly capacity: InboxCapacity;
  readonly systemEvents: Pick<SystemEvents, 'requestFailed'>;
  readonly log: Logger;
  readonly onRun: OnRun;
  readonly health: HealthMonitor;
};

/** What a request was answered, its id where it has one, and its event. */
type Kept = {
  readonly status: number; readonly id?: string | null; readonly event?: Event | null;
};

export class Keeper {
  readonly #parts: IntakeParts;
  readonly #lost: RateLimitedLog;
  readonly #arrivals: Arrivals<void>;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#arrivals = new Arrivals(parts.store);
    this.#lost = new RateLimitedLog(parts.clock, (leftOut) =>
      parts.log.warning('more requests could not be kept', { leftOut }));
  }

  close(): void {
    this.#lost.close();
  }

  /** Its room is reserved. */
  keep(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[], kept: Kept,
  ): Promise<void> {
    return this.#commit(this.#finished(exchange, received, outcomes, kept), received, kept);
  }

  /**
   * The id under which it is kept. The sender hears of the failure whether or not it could be, and
   * may try again; null: it could not.
   */
  keepFailed(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[], kept: Kept,
  ): Promise<string | null> {
    return this.#keepIfPossible(exchange, received, kept,
      this.#finished(exchange, received, outcomes, kept));
  }

  /** What it was is answered whether or not it could be kept. */
  async keepDuplicate(
    exchange: Exchange, received: AdmittedRequest,
    { of, status, isReused }: {
      readonly of: string | null; readonly status: number; readonly isReused: boolean;
    },
  ): Promise<void> {
    await this.#keepIfPossible(exchange, received, { status }, acceptedRequest(exchange, received, {
      id: this.#parts.makeId(), routes: [], status: 'duplicate', duplicateOf: of,
      answered: this.#answered(received, status), eventIdReused: isReused,
    }));
  }

  async #keepIfPossible(
    exchange: Exchange, received: AdmittedRequest, kept: Kept, request: StoredRequest,
  ): Promise<string | null> {
    try {
      await this.#parts.capacity.reserveWhile(estimatedBytes(exchange, received.body), () =>
        this.#commit(request, received, kept));
      return request.id;
    } catch (error) {
      this.#lost.warning(exchange, 'a request could not be kept', {
        ...received.webhook.labels, status: request.status, error,
      });
      return null;
    }
  }

  #commit(
    request: StoredRequest, { body }: AdmittedRequest, { event = null }: Kept,
  ): Promise<void> {
    const { systemEvents, clock, makeId, health } = this.#parts;
    const drawn = request.status === 'failed' ? { nowMs: clock.now(), seed: makeId() } : null;
    return this.#arrivals.write(request.bodyBytes, (transaction, unit) => {
      unit.add(request, body);
      health.stage(transaction, request.hook);
      if (drawn !== null) systemEvents.requestFailed(transaction, drawn, request);
      if (event !== null) putEventId(transaction, event, request.id);
    });
  }

  #finished(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[],
    { status, id = null, event = null }: Kept,
  ): StoredRequest {
    const at = formatTimestamp(received.receivedAtMs);
    const routes = outcomes.map((outcome) =>
      addAttempt(createPendingRoute(outcome.name, at), attemptOf(outcome)));
    return acceptedRequest(exchange, received, {
      id: id ?? this.#parts.makeId(), routes, status: computeStatus(routes),
      answered: this.#answered(received, status), eventIdReused: event?.isReused ?? false,
    });
  }

  #answered({ receivedAtMs }: AdmittedRequest, status: number): StoredRequest['answered'] {
    return { status, afterMs: Math.max(0, this.#parts.clock.now() - receivedAtMs) };
  }
}
