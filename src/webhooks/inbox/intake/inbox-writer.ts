/** Stores requests in the inbox: those whose routes have run, and duplicates. */
import { formatTimestamp } from '../../../base/clock.ts';
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import type { InboxCapacity } from '../inbox-capacity.ts';
import type { SystemEvents } from '../../deliveries/system-events.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import { putEventId } from '../event-ids.ts';
import { addRequest } from '../request-changes.ts';
import { afterLastAttempt, createRouteDelivery } from '../../deliveries/delivery.ts';
import { computeStatus, type StoredRequest } from '../../incoming/stored-request.ts';
import type { AdmittedRequest } from '../../incoming/receiving/admitted-request.ts';
import type { RelayContext } from '../../relay-context.ts';
import type { RouteOutcome } from '../../incoming/run-webhook-routes.ts';
import type { DuplicateEvent } from './duplicates.ts';
import type { SenderEvent } from './sender-event.ts';
import { buildAdmittedRequest, estimateRequestBytes, toRunOutcome } from './build-request.ts';

export type InboxServices = {
  readonly capacity: InboxCapacity;
  readonly systemEvents: Pick<SystemEvents, 'requestFailed'>;
  readonly health: HealthMonitor;
};

type RequestEnd = {
  /** The status that it was answered with. */
  readonly status: number;
  /** Drawn before the routes ran, with room reserved for the request; absent or null: not so. */
  readonly reservedId?: string | null;
  /** The event whose id is stored with the request; absent or null: it has none. */
  readonly event?: SenderEvent | null;
};

export class InboxWriter {
  readonly #context: RelayContext;
  readonly #services: InboxServices;
  readonly #failureLog: RateLimitedLog;

  constructor(context: RelayContext, services: InboxServices) {
    this.#context = context;
    this.#services = services;
    this.#failureLog = new RateLimitedLog(context.clock, (leftOut) =>
      context.log.warning('more requests could not be kept', { leftOut }));
  }

  close(): void {
    this.#failureLog.close();
  }

  /** Stores a request for which the caller has reserved room. */
  addFinished(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[], end: RequestEnd,
  ): Promise<void> {
    return this.#write(this.#buildFinished(request, outcomes, end), request, end);
  }

  /**
   * Stores a request whose run failed, and resolves with its id; null: it could not be stored. The
   * sender is told of the failed run in either case, and may send the request again.
   */
  addFailed(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[], end: RequestEnd,
  ): Promise<string | null> {
    return this.#writeIfPossible(this.#buildFinished(request, outcomes, end), request, end);
  }

  /** A duplicate that cannot be stored is answered in the same way. */
  async addDuplicate(
    request: AdmittedRequest,
    { requestId, isIdReused }: Pick<DuplicateEvent, 'requestId' | 'isIdReused'>,
    status: number,
  ): Promise<void> {
    await this.#writeIfPossible(buildAdmittedRequest(request, {
      id: this.#context.makeId(), deliveries: [], status: 'duplicate', duplicateOf: requestId,
      answered: this.#buildAnswered(request, status), eventIdReused: isIdReused,
    }), request, { status });
  }

  async #writeIfPossible(
    storedRequest: StoredRequest, request: AdmittedRequest, end: RequestEnd,
  ): Promise<string | null> {
    try {
      await this.#write(storedRequest, request, end);
      return storedRequest.id;
    } catch (error) {
      this.#failureLog.warning(request.exchange, 'a request could not be kept', {
        ...request.webhook.labels, status: storedRequest.status, error,
      });
      return null;
    }
  }

  #write(
    storedRequest: StoredRequest, request: AdmittedRequest,
    { reservedId = null, event = null }: RequestEnd,
  ): Promise<void> {
    const { store, clock, makeId } = this.#context;
    const { capacity, systemEvents, health } = this.#services;
    const inputs = storedRequest.status === 'failed'
      ? { nowMs: clock.now(), seed: makeId() } : null;
    return store.transact((transaction) => {
      if (reservedId === null) capacity.reserve(transaction, estimateRequestBytes(request));
      addRequest(transaction, storedRequest, request.body.received);
      health.stage(transaction, storedRequest.hook);
      if (inputs !== null) systemEvents.requestFailed(transaction, inputs, storedRequest);
      if (event !== null) putEventId(transaction, event, storedRequest.id);
    });
  }

  #buildFinished(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[],
    { status, reservedId = null, event = null }: RequestEnd,
  ): StoredRequest {
    const { receivedAtMs, webhook } = request;
    const at = formatTimestamp(receivedAtMs);
    const id = reservedId ?? this.#context.makeId();
    const origin = { id, hook: webhook.identifier };
    // A delivery is written once, with its end. A sender that hears of a failed run sends the
    // request again, so that it is not tried again here.
    const deliveries = outcomes.map((outcome, index) =>
      afterLastAttempt(createRouteDelivery(origin, index, outcome.name, at),
        toRunOutcome(outcome), receivedAtMs, at));
    return buildAdmittedRequest(request, {
      id, deliveries, status: computeStatus(deliveries),
      answered: this.#buildAnswered(request, status),
      eventIdReused: event?.isIdReused ?? false,
    });
  }

  #buildAnswered({ receivedAtMs }: AdmittedRequest, status: number): StoredRequest['answered'] {
    return { status, afterMs: Math.max(0, this.#context.clock.now() - receivedAtMs) };
  }
}
