/**
 * A request that is answered as accepted, in the transaction that makes it so: it is new, or a
 * duplicate, or its event has failed and runs again on the first request.
 */
import { formatTimestamp } from '../../../base/clock.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { Transaction } from '../../../store/store-port.ts';
import { readStatus } from '../../inbox/request-codec.ts';
import { eventIdCollection, findEventId, putEventId } from '../../inbox/event-ids.ts';
import {
  createPendingRoute, requestCollection, computeStatus, withRoutes, type StoredRequest,
} from '../../inbox/stored-request.ts';
import type { RequestUnit } from '../../inbox/request-changes.ts';
import type { StoredItem } from '../../durable-queue/queue-spec.ts';
import { buildAcceptedResponse, type WebhookResponse } from '../receiving/webhook-response.ts';
import type { AdmittedRequest } from '../receiving/admitted-request.ts';
import { isOther } from './duplicates.ts';
import type { Event } from './event.ts';
import { isHeadWhole } from './stored-action-call.ts';
import { acceptedRequest } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';

/** What is drawn before the transaction, which may run again. */
type Arrival = {
  readonly exchange: Exchange;
  readonly received: AdmittedRequest;
  readonly event: Event | null;
  readonly id: string;
  readonly nowMs: number;
  /** Names of the routes that match. */
  readonly routes: readonly string[];
};

/** `checkRoom` throws when there is no room for a new request. */
export function stageAccepted(
  transaction: Transaction, unit: RequestUnit, arrival: Arrival,
  { recent, checkRoom }: { readonly recent: RecentRequests; readonly checkRoom: () => void },
): WebhookResponse {
  const met = meetStaged(transaction, arrival);
  if (met === null || 'isNew' in met) {
    checkRoom();
    const event = met?.event ?? null;
    const known = stageNew(unit, arrival, event);
    if (event !== null) putEventId(transaction, event, arrival.id);
    // Routes must not see what one of them makes of the body.
    if (arrival.routes.length === 1) {
      const { bytes, item } = known;
      const { exchange: { request }, received: { body } } = arrival;
      recent.add({ bytes, item, body, headers: isHeadWhole(item) ? request.headers : null });
    }
    return buildAcceptedResponse(arrival.id, arrival.routes.length === 0 ? 'Filtered' : '');
  }
  const { of, event } = met;
  const bytes = transaction.find(requestCollection.name, of);
  if (bytes !== undefined && readStatus(bytes) === 'failed') {
    unit.change(of, (before) => dueAgain(before, arrival.nowMs));
    return buildAcceptedResponse(of, '');
  }
  stageDuplicate(unit, arrival, event, of);
  return buildAcceptedResponse(of, 'Duplicate');
}

type Met = { readonly event: Event; readonly isNew: true }
  | { readonly event: Event; readonly of: string };

function meetStaged(transaction: Transaction, { event, nowMs }: Arrival): Met | null {
  if (event === null) return null;
  const find = (identifier: string): Buffer | undefined =>
    transaction.find(eventIdCollection.name, identifier);
  const known = findEventId(find, event, nowMs);
  if (known === undefined) return { event, isNew: true };
  if (!isOther(known, event)) return { event, of: known.request };
  const own = event.reused();
  const again = findEventId(find, own, nowMs);
  return again === undefined ? { event: own, isNew: true } : { event: own, of: again.request };
}

function stageNew(
  unit: RequestUnit, { exchange, received, id, nowMs, routes }: Arrival, event: Event | null,
): StoredItem<StoredRequest> {
  const at = formatTimestamp(received.receivedAtMs);
  const runs = routes.map((name) => createPendingRoute(name, at));
  const request = acceptedRequest(exchange, received, {
    id, routes: runs, status: computeStatus(runs), answered: answeredAt(received, nowMs),
    eventIdReused: event?.isReused ?? false,
  });
  return { item: request, bytes: unit.add(request, received.body) };
}

function stageDuplicate(
  unit: RequestUnit, { exchange, received, id, nowMs }: Arrival, event: Event, of: string,
): void {
  const request = acceptedRequest(exchange, received, {
    id, routes: [], status: 'duplicate', duplicateOf: of, answered: answeredAt(received, nowMs),
    eventIdReused: event.isReused,
  });
  unit.add(request, received.body);
}

/** Its failed routes are due, with the whole schedule before them. */
function dueAgain(before: StoredRequest, nowMs: number): StoredRequest {
  const at = formatTimestamp(nowMs);
  return withRoutes(before, before.routes.map((route) => route.status !== 'failed' ? route
    : { ...route, status: 'pending', nextAttemptAt: at, failures: 0 }), nowMs);
}

function answeredAt({ receivedAtMs }: AdmittedRequest, nowMs: number): StoredRequest['answered'] {
  return { status: 200, afterMs: Math.max(0, nowMs - receivedAtMs) };
}
