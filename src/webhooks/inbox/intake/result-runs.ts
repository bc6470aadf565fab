/**
 * Runs the routes of a request whose response is their result, and stores it for the inbox. There
 * are three ways: `run` for any routes, `runAgain` for those of a stored request that failed, and
 * `runOnlyRoute`, which does as `run` for the usual request at a part of its cost.
 */
import { isPromise } from 'node:util/types';
import { whenDone, type MaybePromise } from '../../../base/when-done.ts';
import type { AppError } from '../../../base/errors.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { findStatus } from '../../../server/problem.ts';
import { ActionResult } from '../../actions/action.ts';
import type { RunWait } from '../../actions/action-registry.ts';
import {
  ChainRefusal, CoalescedResult, OwnChainRefusal, getRecordMessage, logRun, type ConfiguredActions,
} from '../../actions/run-action.ts';
import type { EventPublisher } from '../../deliveries/event-publisher.ts';
import {
  afterAttemptOffSchedule, getAnsweredData, getRouteName, type Delivery,
} from '../../deliveries/delivery.ts';
import { changeItem } from '../../work/change-items.ts';
import { requestSpec } from '../request-changes.ts';
import { changeDeliveries, type StoredRequest } from '../../incoming/stored-request.ts';
import {
  buildOutcomeResponse, buildResultResponse, buildRoutesResponse, findSentStatus, setRequestId,
  type WebhookResponse,
} from '../../incoming/receiving/webhook-response.ts';
import type { AdmittedRequest } from '../../incoming/receiving/admitted-request.ts';
import { IncomingActionCall } from '../../incoming/receiving/incoming-action-call.ts';
import {
  assertEventRoom, runRoute, runRouteAction, runRoutes, type RouteOutcome,
} from '../../incoming/run-webhook-routes.ts';
import type { OnRun } from '../../outcome-listeners.ts';
import type { RelayContext } from '../../relay-context.ts';
import type { ReadyIncomingWebhook } from '../../incoming/receiving/incoming-webhook-index.ts';
import type { ReadyWebhookRoute } from '../../incoming/routes-member.ts';
import type { SenderEvent } from './sender-event.ts';
import type { InboxServices, InboxWriter } from './inbox-writer.ts';
import { estimateRequestBytes, toRunOutcome } from './build-request.ts';

export type ResultServices = InboxServices & ConfiguredActions & {
  readonly events: Pick<EventPublisher, 'assertRoom'>;
  readonly onRun: OnRun;
};

export type RunResult = {
  readonly response: WebhookResponse;
  /** The stored request that the response is for; null: none is stored. */
  readonly requestId: string | null;
  /** Says why a request that had to be stored is not, though its actions have run. */
  readonly storageError?: unknown;
};

type RunContext = {
  /** The id of a request that is stored in any case; null: it is stored if a route fails. */
  readonly id: string | null;
  readonly event: SenderEvent | null;
};

export class ResultRuns {
  readonly #context: RelayContext;
  readonly #services: ResultServices;
  readonly #inboxWriter: InboxWriter;
  /** The sender of a request waits for the result, so a run may begin as long as that. */
  readonly #createWait = (): RunWait =>
    ({ place: this.#context.makeId(), cutOff: null, onWaiting: () => {} });

  constructor(context: RelayContext, services: ResultServices, inboxWriter: InboxWriter) {
    this.#context = context;
    this.#services = services;
    this.#inboxWriter = inboxWriter;
  }

  /**
   * Returns no promise when the actions gave their results at once and nothing is stored. Throws,
   * or rejects with, what a built-in action refused because of our own state.
   */
  run(
    request: AdmittedRequest, routes: readonly ReadyWebhookRoute[], event: SenderEvent | null,
  ): MaybePromise<RunResult> {
    const { makeId, store } = this.#context;
    const { capacity, configurations, events } = this.#services;
    assertEventRoom(configurations, events, routes, request.body.contentBytes, 'now');
    if (request.webhook.inbox !== 'all') return this.#run(request, routes, { id: null, event });
    // Before anything runs: a sender that is told to try again would have it run each time.
    store.checkWritable();
    return capacity.reserveWhile(estimateRequestBytes(request), () =>
      Promise.resolve(this.#run(request, routes, { id: makeId(), event })));
  }

  /**
   * Runs the one route of a webhook whose inbox is not `all`, for a request without an event. It
   * creates nothing that only a stored request needs: no outcome before the result, no time of its
   * own, and no closure unless the action gives a promise.
   */
  runOnlyRoute(
    request: AdmittedRequest, route: ReadyWebhookRoute,
  ): MaybePromise<WebhookResponse> {
    const call = new IncomingActionCall(request, this.#createWait);
    const result = runRouteAction(this.#services, route, call);
    return isPromise(result) ? result.then((later) => this.#finishOnlyRun(request, route, later))
      : this.#finishOnlyRun(request, route, result);
  }

  /** Runs the failed routes of a stored request again, with the request that came now. */
  async runAgain(
    request: AdmittedRequest, failedRequest: StoredRequest,
  ): Promise<RunResult> {
    const { clock, store } = this.#context;
    store.checkWritable();
    const { webhook, receivedAtMs } = request;
    const { id: requestId } = failedRequest;
    const failedDeliveries = failedRequest.deliveries.filter(({ status }) => status === 'failed');
    const outcomes = await Promise.all(failedDeliveries.map(async (delivery) => {
      const name = getRouteName(delivery);
      const route = webhook.routes.find((other) => other.name === name);
      return route === undefined ? createGoneOutcome(name, clock.now())
        : runRoute(this.#services, route,
          new IncomingActionCall(request, this.#createWait, requestId, delivery.attemptCount + 1));
    }));
    this.#report(request, outcomes, failedRequest);
    const refusal = findRefusal(outcomes);
    const response = buildResponse(webhook, combineOutcomes(failedRequest, outcomes));
    const nowMs = clock.now();
    const status = refusal === null ? findSentStatus(request, response) : findStatus(refusal.code);
    const answer = { status, afterMs: Math.max(0, nowMs - receivedAtMs) };
    await store.transact((transaction) => {
      changeItem(requestSpec, transaction, requestId, (before) =>
        applyRepeatedRun(before, outcomes, answer, nowMs));
      this.#services.health.stage(transaction, webhook.identifier);
    });
    if (refusal !== null) throw refusal;
    return { response, requestId };
  }

  /**
   * Counts and logs runs; `previous` is the stored request that had runs before these. A refusal
   * because of our own state says nothing of the action, and is not counted as a run.
   */
  #report(
    { exchange, webhook: { identifier, labels, routes } }: AdmittedRequest,
    outcomes: readonly RouteOutcome[], previous: StoredRequest | null = null,
  ): void {
    const { onRun, health } = this.#services;
    for (const { name, result, refusal, startedAtMs, durationMs } of outcomes) {
      if (refusal !== null) continue;
      const { success, data } = result;
      const message = getRecordMessage(result);
      onRun(identifier, {
        success, message, isCoalesced: result instanceof CoalescedResult,
        isCallersFault: result instanceof OwnChainRefusal,
      }, startedAtMs);
      // Most of these runs store nothing that the health could be written with.
      if (!health.isStateCommitted(identifier)) health.writeSoon();
      // To gather the fields of each line takes a sixth of a request (bench `incoming`).
      if (success && this.#context.log.isWritten?.('debug') === false) continue;
      const { attemptCount = 0 } = previous?.deliveries.find(({ route }) => route === name) ?? {};
      const isChainRefused = result instanceof ChainRefusal;
      logRun(this.#services, exchange.log, 'the action of an incoming webhook was run', {
        labels: { ...labels, route: name, attempt: attemptCount + 1 },
        actionConfiguration: routes.find((route) => route.name === name)?.actionConfiguration,
        success, message, data, durationMs, isChainRefused,
      });
    }
  }

  /** Reports the run of a webhook's only route, and stores the request if the run failed. */
  #finishOnlyRun(
    request: AdmittedRequest, { name }: ReadyWebhookRoute, result: ActionResult,
  ): MaybePromise<WebhookResponse> {
    const { webhook, receivedAtMs } = request;
    const response = buildResultResponse(result, request);
    const outcome = {
      name, result: response.result, dataJson: response.dataJson, refusal: null,
      startedAtMs: receivedAtMs, durationMs: Math.max(0, this.#context.clock.now() - receivedAtMs),
    };
    this.#report(request, [outcome]);
    if (response.status === 200 || webhook.inbox === 'off') return response;
    const status = findSentStatus(request, response);
    return this.#inboxWriter.addFailed(request, [outcome], { status })
      .then((requestId) => setRequestId(response, requestId));
  }

  #run(
    request: AdmittedRequest, routes: readonly ReadyWebhookRoute[], context: RunContext,
  ): MaybePromise<RunResult> {
    return whenDone(this.#runRoutes(request, routes, context.id),
      (outcomes) => this.#finishRun(request, outcomes, context));
  }

  #finishRun(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[], context: RunContext,
  ): MaybePromise<RunResult> {
    const { webhook } = request;
    this.#report(request, outcomes);
    const refusal = findRefusal(outcomes);
    if (refusal !== null) return this.#storeRefusedRun(request, outcomes, context, refusal);
    const response = buildResponse(webhook, outcomes);
    const isStored = context.id !== null || (response.status !== 200 && webhook.inbox !== 'off');
    return isStored ? this.#storeRun(request, outcomes, context, response)
      : { response, requestId: null };
  }

  #storeRun(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[], { id, event }: RunContext,
    response: WebhookResponse,
  ): Promise<RunResult> {
    const status = findSentStatus(request, response);
    if (id === null) {
      return this.#inboxWriter.addFailed(request, outcomes, { status, event })
        .then((requestId) => ({ response, requestId }));
    }
    return this.#inboxWriter.addFinished(request, outcomes, { status, reservedId: id, event }).then(
      () => ({ response, requestId: id }),
      (storageError: unknown) => ({ response, requestId: null, storageError }));
  }

  async #storeRefusedRun(
    request: AdmittedRequest, outcomes: readonly RouteOutcome[], { id, event }: RunContext,
    refusal: AppError,
  ): Promise<never> {
    // The request is stored if a route has run, so that this route is not run again.
    const hasRun = outcomes.some((outcome) => outcome.refusal === null);
    if (hasRun && request.webhook.inbox !== 'off') {
      const status = findStatus(refusal.code);
      await this.#inboxWriter.addFailed(request, outcomes, { status, reservedId: id, event });
    }
    throw refusal;
  }

  /** Counts each route as a running action until the last of them has ended. */
  #runRoutes(
    request: AdmittedRequest, routes: readonly ReadyWebhookRoute[], id: string | null,
  ): MaybePromise<readonly RouteOutcome[]> {
    const running = runRoutes(this.#services, this.#context.turns, routes,
      () => new IncomingActionCall(request, this.#createWait, id), request.body.contentBytes);
    if (!isPromise(running)) return running;
    const { traffic } = request.webhook;
    // The request itself counts as a running action already.
    const additionalCount = Math.max(0, routes.length - 1);
    traffic.running += additionalCount;
    return running.finally(() => {
      traffic.running -= additionalCount;
    });
  }
}

function buildResponse(
  { hasRoutes }: ReadyIncomingWebhook, outcomes: readonly RouteOutcome[],
): WebhookResponse {
  const [first] = outcomes;
  return hasRoutes || first === undefined ? buildRoutesResponse(outcomes)
    : buildOutcomeResponse(first);
}

function findRefusal(outcomes: readonly RouteOutcome[]): AppError | null {
  return outcomes.find(({ refusal }) => refusal !== null)?.refusal ?? null;
}

const GONE_MESSAGE = 'The webhook has no such route any more';

/** The stored request after another run of the routes that had failed. */
function applyRepeatedRun(
  before: StoredRequest, outcomes: readonly RouteOutcome[],
  answer: StoredRequest['answered'], nowMs: number,
): StoredRequest {
  // If an operator has replayed the request meanwhile, it is run until it succeeds.
  return changeDeliveries({ ...before, answered: answer }, nowMs, (deliveries, updatedAt) =>
    deliveries.map((delivery) => {
      const outcome = outcomes.find(({ name }) => name === delivery.route);
      return outcome === undefined ? delivery
        : afterAttemptOffSchedule(delivery, toRunOutcome(outcome), nowMs, updatedAt);
    }));
}

/** The outcomes of all routes in order: of this run, else of the last run. */
function combineOutcomes(
  { deliveries }: StoredRequest, outcomes: readonly RouteOutcome[],
): readonly RouteOutcome[] {
  return deliveries.map((delivery) =>
    outcomes.find(({ name }) => name === delivery.route) ?? restoreOutcome(delivery));
}

/** The outcome of a route that the webhook has no more. */
function createGoneOutcome(name: string, nowMs: number): RouteOutcome {
  return {
    name, result: ActionResult.fail(GONE_MESSAGE), dataJson: '{}', refusal: null,
    startedAtMs: nowMs, durationMs: 0,
  };
}

function restoreOutcome(delivery: Delivery): RouteOutcome {
  const { message = null, durationMs = 0, at = '' } = delivery.attempts.at(-1) ?? {};
  const data = getAnsweredData(delivery);
  return {
    name: getRouteName(delivery), result: ActionResult.ok(data, message),
    dataJson: encodeJson(data), refusal: null, startedAtMs: Date.parse(at), durationMs,
  };
}
