/**
 * Stages a request that is answered as accepted. The transaction decides what it is: a new request,
 * a duplicate, or the repetition of an event that has failed, which runs the first request again.
 * Once it is committed, work/queue-worker.ts learns of the deliveries that are to run.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import { findStaged } from '../../../store/find-record.ts';
import type { Transaction } from '../../../store/store-port.ts';
import { readRequestStatus, requestCollection } from '../request-codec.ts';
import { eventIdCollection, findEventId, putEventId } from '../event-ids.ts';
import { createRouteDeliveries, resetForRetry } from '../../deliveries/delivery.ts';
import {
  changeDeliveries, computeStatus, type StoredRequest,
} from '../../incoming/stored-request.ts';
import { changeItem } from '../../work/change-items.ts';
import { addRequest, requestSpec } from '../request-changes.ts';
import type { StoredItem } from '../../work/item-spec.ts';
import {
  buildAcceptedResponse, findSentStatus, type WebhookResponse,
} from '../../incoming/receiving/webhook-response.ts';
import type { AdmittedRequest } from '../../incoming/receiving/admitted-request.ts';
import { hasOtherBody, type DuplicateEvent } from './duplicates.ts';
import type { SenderEvent } from './sender-event.ts';
import { buildAdmittedRequest } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';
import { isHeadWhole } from './stored-head.ts';

/** The inputs that are drawn before the transaction, which may run again. */
type Arrival = {
  readonly request: AdmittedRequest;
  readonly senderEvent: SenderEvent | null;
  readonly id: string;
  readonly nowMs: number;
  /** Names of the routes that match. */
  readonly routes: readonly string[];
};

/** The caller stores a `duplicate`, if it can; null: the request is none. */
export type Acceptance = {
  readonly response: WebhookResponse;
  readonly duplicate: Pick<DuplicateEvent, 'requestId' | 'isIdReused'> | null;
};

/**
 * `reserveRoom` throws when there is no room for a new request. A first request that runs again
 * needs none: the inbox has its bytes already.
 */
export function stageAccepted(
  transaction: Transaction, arrival: Arrival, recentRequests: RecentRequests,
  reserveRoom: () => void,
): Acceptance {
  const { event, originalId } = arrival.senderEvent === null ? NO_EVENT
    : matchEvent(transaction, arrival.senderEvent, arrival.nowMs);
  if (originalId === null) {
    reserveRoom();
    const storedItem = stageNew(transaction, arrival, event);
    if (event !== null) putEventId(transaction, event, arrival.id);
    // This caches the request for its run. The transaction may run again or fail, which does no
    // harm: `RecentRequests` replaces a request of the same id, and one that differs from its
    // record is deleted before it runs (request-runner.ts). With several routes, an action must not
    // see what another action makes of the headers or the bytes in its context.
    if (arrival.routes.length === 1) {
      const { exchange: { request: { headers } }, body: { received: body } } = arrival.request;
      recentRequests.add({
        stored: storedItem, body, headers: isHeadWhole(storedItem.item) ? headers : null,
      });
    }
    const message = arrival.routes.length === 0 ? 'Filtered' : '';
    return { response: buildAcceptedResponse(arrival.id, message), duplicate: null };
  }
  const bytes = transaction.find(requestCollection.name, originalId);
  if (bytes !== undefined && readRequestStatus(bytes, findStaged(transaction)) === 'failed') {
    changeItem(requestSpec, transaction, originalId, (before) =>
      retryFailed(before, arrival.nowMs));
    return { response: buildAcceptedResponse(originalId, ''), duplicate: null };
  }
  return {
    response: buildAcceptedResponse(originalId, 'Duplicate'),
    duplicate: { requestId: originalId, isIdReused: event?.isIdReused ?? false },
  };
}

/** `originalId` is that of the request that had the event first; null: there is none. */
type EventMatch = { readonly event: SenderEvent | null; readonly originalId: string | null };

const NO_EVENT: EventMatch = { event: null, originalId: null };

/** Looks for the event by its id alone, and if that came with another body, by id and body. */
function matchEvent(transaction: Transaction, event: SenderEvent, nowMs: number): EventMatch {
  const find = (identifier: string): Buffer | undefined =>
    transaction.find(eventIdCollection.name, identifier);
  const storedId = findEventId(find, event, nowMs);
  if (storedId === undefined || !hasOtherBody(storedId, event)) {
    return { event, originalId: storedId?.request ?? null };
  }
  const reusedEvent = event.toReused();
  return {
    event: reusedEvent, originalId: findEventId(find, reusedEvent, nowMs)?.request ?? null,
  };
}

function stageNew(
  transaction: Transaction, { request, id, nowMs, routes }: Arrival, event: SenderEvent | null,
): StoredItem<StoredRequest> {
  const at = formatTimestamp(request.receivedAtMs);
  const origin = { id, hook: request.webhook.identifier };
  const deliveries = createRouteDeliveries(origin, routes, at);
  const item = buildAdmittedRequest(request, {
    id, deliveries, status: computeStatus(deliveries),
    answered: {
      status: findSentStatus(request, {
        status: 200, outcome: routes.length === 0 ? 'unmatched' : 'accepted',
      }),
      afterMs: Math.max(0, nowMs - request.receivedAtMs),
    },
    eventIdReused: event?.isIdReused ?? false,
  });
  return addRequest(transaction, item, request.body.received);
}

/** The failed deliveries become due, with the whole retry schedule before them. */
function retryFailed(before: StoredRequest, nowMs: number): StoredRequest {
  return changeDeliveries(before, nowMs, (deliveries, updatedAt) => deliveries.map((delivery) =>
    delivery.status === 'failed' ? resetForRetry(delivery, nowMs, updatedAt) : delivery));
}
