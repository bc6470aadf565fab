/** Runs one route of a stored request: the action gets the call that the request came with. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MemoryBudget } from '../../base/memory-budget.ts';
import { createTraceFields } from '../../base/trace-context.ts';
import { isPromised, type MaybePromise } from '../../base/when-done.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import { ActionResult } from '../actions/action.ts';
import { ChainRefusal, CoalescedResult } from '../actions/run-action.ts';
import { LabelledLog } from '../actions/run-log.ts';
import { SwitchedOffError } from '../actions/switched-off-error.ts';
import {
  StoredActionCall, decodeStoredBody, type StoredRun,
} from '../incoming/intake/stored-action-call.ts';
import type { RunTurn } from '../actions/action-registry.ts';
import { toRunAttempt } from '../incoming/intake/build-request.ts';
import type { RecentRequests } from '../incoming/intake/recent-requests.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../incoming/receiving/incoming-webhook-index.ts';
import {
  DecodedBody, weighPlainBody, weighRun, type LastDecodedBody,
} from '../incoming/receiving/decoded-body.ts';
import {
  runRoute, type RouteOutcome, type RouteDeps,
} from '../incoming/run-webhook-routes.ts';
import type { ReadyWebhookRoute } from '../incoming/webhook-routes.ts';
import { parseRequestId, parseRouteIndex } from '../deliveries/route-delivery-id.ts';
import { getRequestBody } from '../inbox/request-body.ts';
import { decodeRequest, listRouteRecords } from '../inbox/request-codec.ts';
import type { RouteDelivery, RunAttempt } from '../deliveries/route-delivery.ts';
import {
  findRequestTrace, requestBodyCollection, requestCollection, type StoredRequest,
  type UnparsedBody,
} from '../inbox/stored-request.ts';
import type { StoredItem } from '../durable-queue/queue-spec.ts';
import { findRoutePlace } from './route-order.ts';
import type { WaitingRuns } from './waiting-runs.ts';
import { unlessCutOff, type QueueLease } from '../durable-queue/ownership.ts';

export type RunDeps = RouteDeps & {
  readonly store: Store;
  readonly webhooks: Pick<IncomingWebhookIndex, 'find' | 'all'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly recentRequests: RecentRequests;
  readonly memoryBudget: MemoryBudget;
  readonly decodedBody: LastDecodedBody;
  readonly waitingRuns: WaitingRuns;
};

/** What a run needs to know of the attempt that it is. */
type RouteAttempt = {
  readonly lease: QueueLease;
  /** Aborted when the run is of no use any more. */
  readonly cutOff: AbortSignal;
  /** Must be called when the run begins to wait for others, and when it has waited. */
  readonly onWaiting: (isWaiting: boolean) => void;
};

/** A run that has ended, with the request as it was before. */
export type FinishedRun = {
  /** The request's record before the run. */
  readonly storedItem: StoredItem<StoredRequest>;
  /** The index of the route. */
  readonly index: number;
  readonly attempt: RunAttempt;
  readonly isChainRefused: boolean;
  readonly isCoalesced: boolean;
  /**
   * Why no payload could be made of the body; null: it could be parsed; undefined: the action did
   * not read the payload.
   */
  readonly unparsed: UnparsedBody | null | undefined;
  readonly lease: QueueLease;
};

/** A run that did not begin, as its action is switched off: it waits, and that is no attempt. */
type PostponedRun = { readonly postponedMs: number };

/** Says that there is no memory for the payload at present, so that the run must wait. */
export const NO_ROOM = 'no room';

const UNKNOWN_ROUTE_MESSAGE = 'The webhook has no route of that name';

/**
 * Runs the route of a delivery. Returns no promise when the action returns its result at once.
 * Returns null when there is nothing to run (see `findPendingRoute`), `cutOff` came first, or the
 * run was given up while it waited for others. Returns how long the run is to wait while its action
 * is switched off. Throws or rejects when our own state kept the action from running: then there
 * was no attempt.
 */
export function runPendingRoute(
  deps: RunDeps, deliveryId: string, { lease, cutOff, onWaiting }: RouteAttempt,
): typeof NO_ROOM | MaybePromise<FinishedRun | PostponedRun | null> {
  const pendingRoute = findPendingRoute(deps, deliveryId);
  if (pendingRoute === null) return null;
  const { storedItem, recentRequest, index, route, webhook } = pendingRoute;
  let unparsedBody: UnparsedBody | null | undefined;
  let turn: RunTurn | null = null;
  const toFinishedRun = (outcome: RouteOutcome | null): FinishedRun | PostponedRun | null => {
    if (outcome === null) return null;
    const { refusal } = outcome;
    if (refusal instanceof SwitchedOffError) return { postponedMs: refusal.remainingMs };
    if (refusal !== null && turn?.cutOff?.aborted === true) return null;
    if (refusal !== null) throw refusal;
    const isChainRefused = outcome.result instanceof ChainRefusal;
    const isCoalesced = outcome.result instanceof CoalescedResult;
    const attempt = toRunAttempt(outcome);
    return {
      storedItem, index, attempt, isChainRefused, isCoalesced, unparsed: unparsedBody, lease,
    };
  };
  const webhookRoute = webhook.routes.find(({ name }) => name === route.name);
  if (webhookRoute === undefined) {
    return toFinishedRun(createUnknownRouteOutcome(route.name, deps.clock));
  }
  const body = recentRequest?.body ?? findBody(deps, storedItem.item);
  const { memoryBudget } = deps;
  const { bodyReading } = webhook;
  const decoded = webhook.hasRoutes
    ? deps.decodedBody.share(storedItem.item.id, bodyReading) : new DecodedBody();
  const plainBody = decoded.readPlainBody(() =>
    decodeStoredBody(storedItem.item, body, bodyReading));
  const runBytes = weighRun(body, plainBody, 1);
  // A run that waits parses nothing.
  const waitingBytes = body.length + weighPlainBody(body, plainBody);
  if (!memoryBudget.beginRun(runBytes)) return NO_ROOM;
  const releaseBytes = (): void => memoryBudget.endRun(runBytes);
  const createTurn = (): RunTurn => {
    turn = deps.waitingRuns.createTurn({
      id: deliveryId, webhookId: webhook.identifier, cutOff,
      place: findRoutePlace(deliveryId, route) ?? deliveryId,
      onWaiting(isWaiting) {
        if (isWaiting) memoryBudget.endRun(runBytes - waitingBytes);
        else memoryBudget.resumeRun(runBytes - waitingBytes);
        onWaiting(isWaiting);
      },
    });
    return turn;
  };
  // `runRoute` never throws, so the bytes are released in any case.
  const running = runStoredRoute(deps, webhookRoute, {
    request: storedItem.item, body, headers: recentRequest?.headers ?? null, bodyReading, decoded,
    timeoutMs: webhook.actionTimeoutMs, attemptNumber: route.attemptCount + 1,
    holder: createHolder(deps, webhook, storedItem.item, route.name), createTurn,
    onRead(unparsed) {
      unparsedBody = unparsed;
    },
  });
  if (!isPromised(running)) {
    releaseBytes();
    return toFinishedRun(running);
  }
  // A run that is cut off still holds its payload, until it ends.
  running.then(releaseBytes, releaseBytes);
  return unlessCutOff(running, cutOff).then(toFinishedRun);
}

type PendingRoute = {
  readonly storedItem: StoredItem<StoredRequest>;
  /** The same request with what a run needs of it, if it was received a moment ago. */
  readonly recentRequest: ReturnType<RecentRequests['get']>;
  readonly index: number;
  readonly route: RouteDelivery;
  readonly webhook: ReadyIncomingWebhook;
};

/** null: the request is gone, the route is not pending, or the webhook is gone or disabled. */
function findPendingRoute(deps: RunDeps, deliveryId: string): PendingRoute | null {
  const id = parseRequestId(deliveryId);
  // A request in `recentRequests` is pending and is not looked up: the worker follows the records,
  // and removes from `recentRequests` each of which a record has changed.
  const recentRequest = deps.recentRequests.get(id);
  const storedItem = recentRequest?.stored ?? findStoredRequest(deps, id);
  if (storedItem === null) return null;
  const index = parseRouteIndex(deliveryId);
  const route = storedItem.item.routes[index];
  const webhook = deps.webhooks.find(storedItem.item.hook);
  if (route?.status !== 'pending' || webhook === undefined || !webhook.enabled) return null;
  return { storedItem, recentRequest, index, route, webhook };
}

function findStoredRequest({ store }: RunDeps, id: string): StoredItem<StoredRequest> | null {
  const bytes = store.collection(requestCollection.name).findBytes(id);
  if (bytes === undefined) return null;
  const find = findCommitted(store);
  return { bytes, item: decodeRequest(bytes, find), partBytes: listRouteRecords(id, find) };
}

function findBody({ store }: RunDeps, request: StoredRequest): Buffer {
  const bodies = store.collection(requestBodyCollection.name);
  return getRequestBody(request, () => bodies.findBytes(request.id));
}

/** Makes the outcome for a route that the webhook, which was changed meanwhile, no longer has. */
function createUnknownRouteOutcome(name: string, clock: Clock): RouteOutcome {
  return {
    name, result: ActionResult.fail(UNKNOWN_ROUTE_MESSAGE), dataJson: '{}', refusal: null,
    startedAtMs: clock.now(), durationMs: 0,
  };
}

function createHolder(
  deps: RunDeps, { labels }: ReadyIncomingWebhook, request: StoredRequest, route: string,
): LabelledLog {
  return new LabelledLog(deps, () => ({
    request: request.id, ...createTraceFields(findRequestTrace(request)), ...labels, route,
  }));
}

/** Runs the route with the call that the stored request came with. */
function runStoredRoute(
  deps: RunDeps, route: ReadyWebhookRoute, run: StoredRun,
): MaybePromise<RouteOutcome> {
  return runRoute(deps, route, {
    holder: run.holder,
    makeCall: (configuration) => new StoredActionCall(run, configuration),
  }, deps.clock);
}
