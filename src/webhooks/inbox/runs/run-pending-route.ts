/** Runs one route of a stored request: the action gets the call that the request came with. */
import { isPromise } from 'node:util/types';
import { formatTimestamp } from '../../../base/clock.ts';
import type { MemoryBudget } from '../../../base/memory-budget.ts';
import type { MaybePromise } from '../../../base/when-done.ts';
import { findCommitted } from '../../../store/find-record.ts';
import { SwitchedOffError, type ConfiguredActions } from '../../actions/run-action.ts';
import type { RunWait } from '../../actions/action-registry.ts';
import { toRunOutcome } from '../intake/build-request.ts';
import type { RecentRequests } from '../intake/recent-requests.ts';
import { joinStoredHeaders } from '../../incoming/join-headers.ts';
import {
  IncomingActionCall, RouteRequest, type PayloadState,
} from '../../incoming/receiving/incoming-action-call.ts';
import { IncomingBody, type LastBody } from '../../incoming/receiving/incoming-body.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../../incoming/receiving/incoming-webhook-index.ts';
import { runRoute, type RouteOutcome } from '../../incoming/run-webhook-routes.ts';
import { parseRequestId, parseRouteIndex } from '../../deliveries/route-delivery-id.ts';
import { getRequestBody } from '../request-body.ts';
import { decodeRequest, listDeliveryRecords, requestCollection } from '../request-codec.ts';
import {
  placeOf, type Delivery, type RunAttempt, type RunOutcome,
} from '../../deliveries/delivery.ts';
import type { StoredRequest } from '../../incoming/stored-request.ts';
import type { StoredItem } from '../../work/item-spec.ts';
import type { AttemptResult, Parking } from '../../work/queue-worker.ts';
import { unlessCutOff, type QueueLease } from '../../work/ownership.ts';
import type { RelayContext } from '../../relay-context.ts';

/** The services of the runs of stored requests. */
export type RouteRunContext = RelayContext & ConfiguredActions & {
  readonly webhooks: IncomingWebhookIndex;
  readonly recentRequests: RecentRequests;
  readonly memoryBudget: MemoryBudget;
  readonly lastBody: LastBody;
};

type PendingRoute = {
  readonly storedItem: StoredItem<StoredRequest>;
  /** The same request with what a run needs of it, if it was received a moment ago. */
  readonly recentRequest: ReturnType<RecentRequests['get']>;
  readonly index: number;
  readonly delivery: Delivery;
  readonly webhook: ReadyIncomingWebhook;
};

/** Given by the worker to an attempt. */
type AttemptTerms = {
  readonly lease: QueueLease;
  /** Aborted when the run is of no use any more. */
  readonly cutOff: AbortSignal;
  readonly parking: Parking;
};

/** A run that has ended. */
export type FinishedRun = {
  /** The request's record before the run. */
  readonly storedItem: StoredItem<StoredRequest>;
  readonly index: number;
  readonly outcome: RunOutcome;
  readonly payloadState: PayloadState;
  readonly lease: QueueLease;
};

type RunEnd = AttemptResult<FinishedRun> | null;

const UNKNOWN_ROUTE_MESSAGE = 'The webhook has no route of that name';

/**
 * Runs the route of a delivery. Returns no promise when the action returns its result at once. An
 * end without a result is no attempt:
 *
 *     result       the action has run, or the webhook has no such route any more
 *     postponedMs  the action is switched off for so long; 0: there is no memory for the run
 *     null         nothing is to run (see `findPendingRoute`), `cutOff` came first, or the run was
 *                  given up while it waited for others
 *     an error     our own state kept the action from running: it is thrown, or the promise rejects
 */
export function runPendingRoute(
  context: RouteRunContext, deliveryId: string, terms: AttemptTerms,
): MaybePromise<RunEnd> {
  const pendingRoute = findPendingRoute(context, deliveryId);
  if (pendingRoute === null) return null;
  const { storedItem: { item: request }, recentRequest, delivery, webhook } = pendingRoute;
  const webhookRoute = webhook.routes.find(({ name }) => name === delivery.route);
  if (webhookRoute === undefined) return finishUnknownRoute(context, pendingRoute, terms);
  const headers = recentRequest?.headers ?? joinStoredHeaders(request);
  const createBody = (): IncomingBody => {
    const bytes = recentRequest?.body ?? getRequestBody(request, findCommitted(context.store));
    return new IncomingBody(bytes, headers, webhook.bodyReading);
  };
  const body = webhook.hasRoutes
    ? context.lastBody.share(request.id, webhook.bodyReading, createBody) : createBody();
  const runBytes = body.weighRun(1);
  const { memoryBudget } = context;
  if (!memoryBudget.beginRun(runBytes)) return { postponedMs: 0 };
  const routeRequest = new RouteRequest(
    webhook, request, headers, body, { route: webhookRoute.name, log: context.log });
  const call = new IncomingActionCall(routeRequest,
    () => createWait(context, pendingRoute, terms, runBytes - body.heldBytes),
    request.id, delivery.attemptCount + 1);
  const finish = (outcome: RouteOutcome): RunEnd =>
    finishRun(pendingRoute, terms, outcome, call.isGivenUp, routeRequest.payloadState);
  // `runRoute` never throws, so the bytes are released in any case.
  const running = runRoute(context, webhookRoute, call);
  if (!isPromise(running)) {
    memoryBudget.endRun(runBytes);
    return finish(running);
  }
  // A run that is cut off still holds its payload, until it ends.
  const releaseBytes = (): void => memoryBudget.endRun(runBytes);
  running.then(releaseBytes, releaseBytes);
  return unlessCutOff(running, terms.cutOff).then((outcome) =>
    outcome === null ? null : finish(outcome));
}

/**
 * For a run that may come to wait for others, such as a hook command for a slot. While it waits it
 * holds nothing parsed, so `parsedBytes` are given back.
 */
function createWait(
  { memoryBudget }: RouteRunContext, { delivery }: PendingRoute,
  { cutOff, parking }: AttemptTerms, parsedBytes: number,
): RunWait {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort();
  if (cutOff.aborted) giveUp();
  return {
    place: placeOf(delivery),
    cutOff: controller.signal,
    onWaiting(isWaiting) {
      if (isWaiting) {
        cutOff.addEventListener('abort', giveUp);
        memoryBudget.endRun(parsedBytes);
        parking.park(giveUp);
      } else {
        cutOff.removeEventListener('abort', giveUp);
        memoryBudget.resumeRun(parsedBytes);
        parking.resume();
      }
    },
  };
}

/** `isGivenUp`: while the run waited for others. Throws what kept the action from running. */
function finishRun(
  { storedItem, index }: PendingRoute, { lease }: AttemptTerms, outcome: RouteOutcome,
  isGivenUp: boolean, payloadState: PayloadState,
): RunEnd {
  const { refusal } = outcome;
  if (refusal instanceof SwitchedOffError) return { postponedMs: refusal.remainingMs };
  if (refusal !== null && isGivenUp) return null;
  if (refusal !== null) throw refusal;
  return { result: { storedItem, index, outcome: toRunOutcome(outcome), lease, payloadState } };
}

/** The run of a route that the webhook, which was changed meanwhile, no longer has. */
function finishUnknownRoute(
  { clock }: RouteRunContext, { storedItem, index }: PendingRoute, { lease }: AttemptTerms,
): AttemptResult<FinishedRun> {
  const attempt: RunAttempt = {
    at: formatTimestamp(clock.now()), durationMs: 0, success: false,
    message: UNKNOWN_ROUTE_MESSAGE, data: {},
  };
  const outcome: RunOutcome = { end: 'failed', attempt };
  return { result: { storedItem, index, outcome, lease, payloadState: 'unread' } };
}

/** null: the request is gone, the route is not pending, or the webhook is gone or disabled. */
function findPendingRoute(context: RouteRunContext, deliveryId: string): PendingRoute | null {
  const id = parseRequestId(deliveryId);
  // A request in `recentRequests` is pending and is not looked up: it is dropped from there as soon
  // as one of its records changes.
  const recentRequest = context.recentRequests.get(id);
  const storedItem = recentRequest?.stored ?? findStoredRequest(context, id);
  if (storedItem === null) return null;
  const index = parseRouteIndex(deliveryId);
  const delivery = storedItem.item.deliveries[index];
  const webhook = context.webhooks.find(storedItem.item.hook);
  if (delivery?.status !== 'pending' || webhook === undefined || !webhook.enabled) return null;
  return { storedItem, recentRequest, index, delivery, webhook };
}

function findStoredRequest(
  { store }: RouteRunContext, id: string,
): StoredItem<StoredRequest> | null {
  const find = findCommitted(store);
  const bytes = find(requestCollection.name, id);
  return bytes === undefined ? null
    : { bytes, item: decodeRequest(bytes, find), partBytes: listDeliveryRecords(id, find) };
}
