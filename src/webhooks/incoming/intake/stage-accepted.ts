/**
 * Stages a request that is answered as accepted. The transaction decides what it is: a new request,
 * a duplicate, or the repetition of an event that has failed, which runs the first request again.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import { findStaged } from '../../../store/find-record.ts';
import type { Transaction } from '../../../store/store-port.ts';
import { readStatus } from '../../inbox/request-codec.ts';
import { eventIdCollection, findEventId, putEventId } from '../../inbox/event-ids.ts';
import { createPendingRoute, resetRoute } from '../../deliveries/route-delivery.ts';
import {
  requestCollection, computeStatus, withRoutes, type StoredRequest,
} from '../../inbox/stored-request.ts';
import type { RequestUnit } from '../../inbox/request-changes.ts';
import type { StoredItem } from '../../durable-queue/queue-spec.ts';
import { buildAcceptedResponse, type WebhookResponse } from '../receiving/webhook-response.ts';
import type { AdmittedRequest } from '../receiving/admitted-request.ts';
import { hasOtherBody } from './duplicates.ts';
import type { Event } from './event.ts';
import { isHeadWhole } from './stored-action-call.ts';
import { buildAcceptedRequest } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';

/** The inputs that are drawn before the transaction, which may run again. */
type Arrival = {
  readonly request: AdmittedRequest;
  readonly event: Event | null;
  readonly id: string;
  readonly nowMs: number;
  /** Names of the routes that match. */
  readonly routes: readonly string[];
};

/** `checkRoom` throws when there is no room for a new request. */
export function stageAccepted(
  transaction: Transaction, unit: RequestUnit, arrival: Arrival,
  { recentRequests, checkRoom }: {
    readonly recentRequests: RecentRequests; readonly checkRoom: () => void;
  },
): WebhookResponse {
  const match = findEventMatch(transaction, arrival);
  if (match === null || 'isNew' in match) {
    checkRoom();
    const event = match?.event ?? null;
    const stored = stageNew(unit, arrival, event);
    if (event !== null) putEventId(transaction, event, arrival.id);
    // This caches the request for its run; the worker learns of it from the record alone. It may
    // happen in a transaction that runs again or fails: `RecentRequests` replaces a request of the
    // same id, and gives it out only while its bytes are those of the record. With several routes,
    // one must not see what another makes of the shared body.
    if (arrival.routes.length === 1) {
      const { exchange: { request: { headers } }, body } = arrival.request;
      recentRequests.add({
        ...stored, body, headers: isHeadWhole(stored.item) ? headers : null,
      });
    }
    return buildAcceptedResponse(arrival.id, arrival.routes.length === 0 ? 'Filtered' : '');
  }
  const { originalId, event } = match;
  const bytes = transaction.find(requestCollection.name, originalId);
  if (bytes !== undefined && readStatus(bytes, findStaged(transaction)) === 'failed') {
    unit.change(originalId, (before) => markFailedRoutesDue(before, arrival.nowMs));
    return buildAcceptedResponse(originalId, '');
  }
  stageDuplicate(unit, arrival, event, originalId);
  return buildAcceptedResponse(originalId, 'Duplicate');
}

/** `originalId` is that of the request that had the event first. */
type EventMatch = { readonly event: Event; readonly isNew: true }
  | { readonly event: Event; readonly originalId: string };

function findEventMatch(transaction: Transaction, { event, nowMs }: Arrival): EventMatch | null {
  if (event === null) return null;
  const find = (identifier: string): Buffer | undefined =>
    transaction.find(eventIdCollection.name, identifier);
  const first = findEventId(find, event, nowMs);
  if (first === undefined) return { event, isNew: true };
  if (!hasOtherBody(first, event)) return { event, originalId: first.request };
  const reusedEvent = event.reused();
  const second = findEventId(find, reusedEvent, nowMs);
  return second === undefined ? { event: reusedEvent, isNew: true }
    : { event: reusedEvent, originalId: second.request };
}

function stageNew(
  unit: RequestUnit, { request, id, nowMs, routes }: Arrival, event: Event | null,
): StoredItem<StoredRequest> {
  const at = formatTimestamp(request.receivedAtMs);
  const runs = routes.map((name) => createPendingRoute(name, at));
  const item = buildAcceptedRequest(request, {
    id, routes: runs, status: computeStatus(runs), answered: buildAnswered(request, nowMs),
    eventIdReused: event?.hasIdOfOtherBody ?? false,
  });
  return unit.add(item, request.body);
}

function stageDuplicate(
  unit: RequestUnit, { request, id, nowMs }: Arrival, event: Event, originalId: string,
): void {
  const duplicate = buildAcceptedRequest(request, {
    id, routes: [], status: 'duplicate', duplicateOf: originalId,
    answered: buildAnswered(request, nowMs), eventIdReused: event.hasIdOfOtherBody,
  });
  unit.add(duplicate, request.body);
}

/** The failed routes become due, with the whole retry schedule before them. */
function markFailedRoutesDue(before: StoredRequest, nowMs: number): StoredRequest {
  const at = formatTimestamp(nowMs);
  return withRoutes(before, before.routes.map((route) =>
    route.status === 'failed' ? resetRoute(route, at) : route), nowMs);
}

function buildAnswered(
  { receivedAtMs }: AdmittedRequest, nowMs: number,
): StoredRequest['answered'] {
  return { status: 200, afterMs: Math.max(0, nowMs - receivedAtMs) };
}
