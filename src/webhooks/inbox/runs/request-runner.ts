/**
 * Runs the actions of the pending requests of the inbox. Each route of a request is a task of its
 * own, in the queue of the webhook. A route that is done is never run again, whatever the other
 * routes do.
 *
 * After a failure a route is attempted again, as often as the schedule says. The last attempt is
 * that after which `afterAttempt` finds no next time: then the route has failed.
 */
import { encodeJson } from '../../../base/json/encode.ts';
import { createTraceFields } from '../../../base/trace-context.ts';
import { formatTimestamp, parseTimestamp } from '../../../base/clock.ts';
import type { MaybePromise } from '../../../base/when-done.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { Change } from '../../../store/store-port.ts';
import { logRun } from '../../actions/run-action.ts';
import { createTaskRecords } from '../../deliveries/delivery-codec.ts';
import {
  afterAttempt, afterLastAttempt, placeOf, type Delivery, type StoredDelivery,
} from '../../deliveries/delivery.ts';
import { isRouteDeliveryId, parseRequestId } from '../../deliveries/route-delivery-id.ts';
import type { SystemEvents } from '../../deliveries/system-events.ts';
import { LastBody } from '../../incoming/receiving/incoming-body.ts';
import { incomingCollection } from '../../incoming/incoming-webhook.ts';
import type { ReadyIncomingWebhook } from '../../incoming/receiving/incoming-webhook-index.ts';
import { createStoredFacts } from '../intake/stored-facts.ts';
import { getRequestBody } from '../request-body.ts';
import { findRequest, requestCollection } from '../request-codec.ts';
import {
  changeDeliveries, findRequestTrace, shownStatusOf, type StoredRequest,
} from '../../incoming/stored-request.ts';
import { requestSpec } from '../request-changes.ts';
import type { Scheduler } from '../../work/scheduler.ts';
import type { LaneName, QueueSettings, Responsiveness, TaskOrder } from '../../work/task.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import type { OnRun } from '../../outcome-listeners.ts';
import type { QueueLease } from '../../work/ownership.ts';
import { changeItem, hasFailed, writeAttempt } from '../../work/change-items.ts';
import { retryUntilWritten } from '../../work/write-retry.ts';
import type {
  Attempter, AttemptResult, AttemptWorker, Parking, TaskRecords, WebhookQueues,
} from '../../work/queue-worker.ts';
import type { RelayContext } from '../../relay-context.ts';
import { runPendingRoute, type FinishedRun, type RouteRunContext } from './run-pending-route.ts';

type RunServices = Omit<RouteRunContext, keyof RelayContext | 'lastBody'> & {
  /** Seconds between attempts, unless the webhook says others. */
  readonly schedule: readonly number[];
  readonly onRun: OnRun;
  readonly health: HealthMonitor;
  readonly systemEvents: Pick<SystemEvents, 'requestFailed'>;
};

/** Most runs at once. */
export const RUNS_MAX = 64;
const REMOVED_MESSAGE = 'The webhook was removed';

export class RequestRunner implements Attempter<Delivery, FinishedRun> {
  readonly noun = 'a run of a request';
  readonly records: TaskRecords<Delivery>;
  readonly webhookQueues: WebhookQueues<Delivery>;
  readonly #context: RouteRunContext & RunServices;

  constructor(context: RelayContext, scheduler: Scheduler, services: RunServices) {
    const { store } = context;
    const { webhooks, memoryBudget } = services;
    this.records = createTaskRecords(store, isRouteDeliveryId);
    this.#context = { ...context, ...services, lastBody: new LastBody() };
    this.webhookQueues = {
      collection: incomingCollection.name,
      ending: {
        collection: requestCollection.name,
        // Tasks are deliveries to routes; what ends is their request, once for all of them.
        itemIdOf: parseRequestId,
        isOrphaned: (key) => webhooks.find(key) === undefined,
        stageEnd(transaction, id, nowMs) {
          changeItem(
            requestSpec, transaction, id, (before) => failForRemovedWebhook(before, nowMs));
        },
        message: 'requests of a removed webhook wait to be failed',
      },
      describeOrder: (key) => describeOrders(webhooks.find(key)),
      findLane: ({ item }) => findRouteLane(this.#context, item, webhooks.find(item.hook ?? '')),
    };
    memoryBudget.onFree(() => scheduler.requestRun());
    store.collection(requestCollection.name).onChange((change) =>
      this.#forgetOutdatedRequest(change));
  }

  /** A run that waits for memory for its payload stays due, and all others wait behind it. */
  mayBegin(): boolean {
    return !this.#context.memoryBudget.isRunWaiting;
  }

  runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal, parking: Parking,
  ): MaybePromise<AttemptResult<FinishedRun> | null> {
    return runPendingRoute(this.#context, id, { lease, cutOff, parking });
  }

  countAndAssess({ storedItem, outcome: { end, attempt } }: FinishedRun): Responsiveness | null {
    const { success, message, at } = attempt;
    const isCoalesced = end === 'coalesced';
    this.#context.onRun(storedItem.item.hook,
      { success, message, isCoalesced, isCallersFault: false }, parseTimestamp(at));
    return end === 'delivered' ? 'answered' : null;
  }

  async writeResult(
    run: FinishedRun, { closing }: AttemptWorker,
  ): Promise<StoredRequest | undefined> {
    const after = await retryUntilWritten(this.#context, closing,
      'the result of a run waits to be written', { request: run.storedItem.item.id },
      () => this.#write(run));
    this.#log(run, after);
    return after;
  }

  logLabels(id: string): object {
    return { request: parseRequestId(id) };
  }

  onChange({ id, before }: Change): void {
    if (before !== null) this.#context.recentRequests.delete(parseRequestId(id));
  }

  placeTask(stored: StoredDelivery): { readonly key: string; readonly order: TaskOrder } {
    const { item } = stored;
    const lane = this.webhookQueues.findLane(stored);
    return { key: item.hook ?? '', order: { lane, place: placeOf(item) } };
  }

  /** The webhook is both the queue and the target: its actions run here, at no other host. */
  describeQueue(key: string): QueueSettings {
    const { enabled = false, maxInFlight } = this.#context.webhooks.find(key) ?? {};
    return { key, target: key, mayStart: enabled, runningMax: maxInFlight };
  }

  /** Drops the cached request unless this change adds exactly the record it was staged with. */
  #forgetOutdatedRequest({ id, before, after }: Change): void {
    const { recentRequests } = this.#context;
    if (before !== null || after === null || recentRequests.find(id, after) === undefined) {
      recentRequests.delete(id);
    }
  }

  async #write(
    { storedItem, index, outcome, payloadState, lease }: FinishedRun,
  ): Promise<StoredRequest | undefined> {
    const { clock, webhooks, random, makeId, systemEvents, health } = this.#context;
    const { hook: webhookId, deliveries: { length: count } } = storedItem.item;
    const schedule = webhooks.find(webhookId)?.retrySchedule ?? this.#context.schedule;
    const nowMs = clock.now();
    const inputs = { nowMs, seed: makeId() };
    const randomness = random();
    const change = (before: StoredRequest): StoredRequest => {
      const after = changeDeliveries(before, nowMs, (deliveries, updatedAt) =>
        deliveries.map((delivery, position) => position !== index ? delivery
          : afterAttempt(delivery, outcome, { schedule }, nowMs, randomness, updatedAt)));
      if (payloadState === 'unread') return after;
      const unparsed = payloadState === 'parsed' ? null : payloadState;
      return unparsed === after.unparsed ? after : { ...after, unparsed };
    };
    // The request cannot fail here, and nothing of its webhook's health is left to be written.
    const { success, at } = outcome.attempt;
    const writesResultAlone = success && count === 1 && health.isStateCommitted(webhookId);
    const writtenChange = await writeAttempt(this.#context.store, requestSpec, {
      storedItem, lease, change,
      stageMore: writesResultAlone ? null : (transaction, requestChange) => {
        const isFailed = hasFailed(requestChange);
        if (isFailed) health.recordFinalFailure(webhookId, parseTimestamp(at));
        health.stage(transaction, webhookId);
        if (isFailed) systemEvents.requestFailed(transaction, inputs, requestChange.after);
      },
    });
    // Counted here, as several routes may find at once that the body is unparsed.
    const isNewlyUnparsed = writtenChange?.before.unparsed === null
      && writtenChange.after.unparsed !== null;
    const webhook = isNewlyUnparsed ? webhooks.find(webhookId) : undefined;
    if (webhook !== undefined) webhook.traffic.unparsedCount += 1;
    return writtenChange?.after;
  }

  #log(
    { storedItem: { item }, index, outcome: { attempt, isChainRefused = false } }: FinishedRun,
    requestAfter: StoredRequest | undefined,
  ): void {
    if (attempt.success && this.#context.log.isWritten?.('debug') === false) return;
    const { id, hook } = item;
    const { route = null, attemptCount = 0 } = item.deliveries[index] ?? {};
    const after = requestAfter?.deliveries[index];
    const webhook = this.#context.webhooks.find(hook);
    const { labels = { hook, hookName: null }, routes = [] } = webhook ?? {};
    logRun(this.#context, this.#context.log, 'a stored request was run', {
      labels: {
        request: id, ...createTraceFields(findRequestTrace(item)), ...labels, route,
        status: after === undefined ? null : shownStatusOf(after), attempt: attemptCount + 1,
        nextAttemptAt: after?.nextAttemptAt ?? null,
      },
      actionConfiguration: routes.find(({ name }) => name === route)?.actionConfiguration,
      ...attempt, isChainRefused,
    });
  }
}

/** Fails the pending routes of a request. Returns null if the request is not pending any more. */
function failForRemovedWebhook(before: StoredRequest, nowMs: number): StoredRequest | null {
  if (before.status !== 'pending') return null;
  const at = formatTimestamp(nowMs);
  const attempt = { at, durationMs: 0, success: false, message: REMOVED_MESSAGE, data: null };
  return changeDeliveries(before, nowMs, (deliveries, updatedAt) => deliveries.map((delivery) =>
    delivery.status !== 'pending' ? delivery
      : afterLastAttempt(delivery, { end: 'failed', attempt }, nowMs, updatedAt)));
}

/** Describes the orders of a webhook's routes as text; null: none of them has one. */
function describeOrders(webhook: ReadyIncomingWebhook | undefined): string | null {
  const { routes = [] } = webhook ?? {};
  return routes.every(({ order }) => order === 'none') ? null
    : JSON.stringify(routes.map(({ name, order }) => [name, order]));
}

/**
 * Finds the lane of a delivery: that of its route, or of its key, which is stored nowhere but read
 * from the request each time; null: its route keeps no order, or it has no key.
 */
function findRouteLane(
  context: RouteRunContext, { identifier, route }: Pick<Delivery, 'identifier' | 'route'>,
  webhook: ReadyIncomingWebhook | undefined,
): LaneName | null {
  const { name: routeName = '', order = 'none', readKey = null } =
    webhook?.routes.find(({ name }) => name === route) ?? {};
  if (order === 'strict') return { name: routeName, key: null };
  if (webhook === undefined || readKey === null) return null;
  const requestWithBody = findWithBody(context, parseRequestId(identifier));
  if (requestWithBody === undefined) return null;
  const { request, body } = requestWithBody;
  const facts = createStoredFacts(request, body, webhook.bodyReading, context.lastBody);
  const key = readKey(facts, null);
  // Names of routes have no spaces.
  return key === null ? null : { name: `${routeName} ${encodeJson(key)}`, key };
}

function findWithBody(
  { store, recentRequests }: RouteRunContext, requestId: string,
): { readonly request: StoredRequest; readonly body: Buffer } | undefined {
  const recent = recentRequests.get(requestId);
  if (recent !== undefined) return { request: recent.stored.item, body: recent.body };
  const find = findCommitted(store);
  const request = findRequest(find, requestId);
  return request && { request, body: getRequestBody(request, find) };
}
