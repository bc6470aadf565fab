/**
 * Handles a request that passed its checks. One row says how:
 *
 *   `answer`  event              webhook                  the request is
 *   accepted  new, or none       any                      stored, answered, and run later (#accept)
 *   accepted  failed before      any                      answered; the first one is due again
 *   accepted  any other          any                      answered as a duplicate; stored as one if
 *                                                         there is room, unless the event is only
 *                                                         remembered and the inbox is not all
 *   result    none               an action, inbox not all run: the usual case (runOnlyRoute)
 *   result    none               routes, or inbox all     run (ResultRuns.run)
 *   result    new                any                      the same, under a claim (#runClaimed)
 *   result    failed before      any                      run where it failed (ResultRuns.runAgain)
 *   result    done before, or    any                      not run, but answered as a duplicate once
 *             running now                                 the first one is done (#answerDuplicate);
 *                                                         with its response if that failed, and
 *                                                         503 if that was refused
 *
 * The response of a run is its result. An event tells whether requests are duplicates: see
 * duplicates.ts; `hasRoutes` is a webhook with routes instead of one action. The inbox `all` stores
 * every request before its response, `failed` a request whose run failed, `off` none. No request is
 * answered as accepted that is not on disk. An accepted request goes on in `QueueWorker`, which
 * follows the deliveries of requests to their routes and has `RequestRunner` run them.
 */
import { whenDone, type MaybePromise } from '../../../base/when-done.ts';
import {
  buildDuplicateResponse, findSentStatus, setRequestId, type WebhookResponse,
} from '../../incoming/receiving/webhook-response.ts';
import type { AdmittedRequest } from '../../incoming/receiving/admitted-request.ts';
import { explainRoutes, formatFailedConditions } from '../../incoming/explain-routes.ts';
import { assertEventRoom, findMatchingRoutes } from '../../incoming/run-webhook-routes.ts';
import type { Facts } from '../../members/filters/facts.ts';
import type { ReadyWebhookRoute } from '../../incoming/routes-member.ts';
import { stageAccepted, type Acceptance } from './stage-accepted.ts';
import type { DuplicateEvent, Duplicates } from './duplicates.ts';
import { Claim, type SenderEvent } from './sender-event.ts';
import { InboxWriter } from './inbox-writer.ts';
import { estimateRequestBytes } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';
import { ResultRuns, type ResultServices, type RunResult } from './result-runs.ts';
import type { RelayContext } from '../../relay-context.ts';

type IntakeServices = ResultServices
  & { readonly recentRequests: RecentRequests; readonly duplicates: Duplicates };

/** The routes that match a request; null: they are found when they are needed. */
type MatchingRoutes = readonly ReadyWebhookRoute[] | null;

/** Bytes that all routes of a webhook may search in one turn, at most 5 ns each. */
const SEARCHED_BYTES_MAX = 1 << 20;

export class Intake {
  readonly #context: RelayContext;
  readonly #services: IntakeServices;
  readonly #inboxWriter: InboxWriter;
  readonly #runs: ResultRuns;
  readonly #duplicates: Duplicates;

  constructor(context: RelayContext, services: IntakeServices) {
    this.#context = context;
    this.#services = services;
    this.#inboxWriter = new InboxWriter(context, services);
    this.#runs = new ResultRuns(context, services, this.#inboxWriter);
    this.#duplicates = services.duplicates;
  }

  /**
   * Returns no promise when an action gave its result at once. Throws, or rejects with, an error
   * when nothing was accepted: to be answered 503 or 507 when the sender must try again, and 413
   * when the request can never be stored, as the log limits the size of an entry.
   */
  handle(request: AdmittedRequest): MaybePromise<WebhookResponse> {
    return isSearchLong(request) ? this.#handleAfterSearch(request)
      : this.#handleByAnswer(request, null);
  }

  close(): void {
    this.#inboxWriter.close();
  }

  /** Finds the routes of a long request in steps, so that other requests have their turns. */
  async #handleAfterSearch(request: AdmittedRequest): Promise<WebhookResponse> {
    const { routes } = request.webhook;
    const facts = request.createFacts();
    const tests = routes.flatMap(({ containsTests }) => containsTests);
    await this.#context.turns.run(facts.searchAhead(tests));
    return this.#handleByAnswer(request, findRoutesByFacts(request, facts));
  }

  // Most requests come through here and create no closure, which would cost each of them a context.
  #handleByAnswer(
    request: AdmittedRequest, matchingRoutes: MatchingRoutes,
  ): MaybePromise<WebhookResponse> {
    const { webhook } = request;
    const senderEvent = webhook.deduplicateMs === 0 ? null : this.#duplicates.createEvent(request);
    if (webhook.answer === 'accepted') return this.#accept(request, senderEvent, matchingRoutes);
    if (senderEvent !== null) return this.#claimAndRun(request, senderEvent, matchingRoutes);
    const [route] = webhook.routes;
    if (webhook.hasRoutes || webhook.inbox === 'all' || route === undefined) {
      const routes = matchingRoutes ?? findRoutes(request);
      return whenDone(this.#runs.run(request, routes, null), toResponseOrThrow);
    }
    return this.#runs.runOnlyRoute(request, route);
  }

  #claimAndRun(
    request: AdmittedRequest, senderEvent: SenderEvent, matchingRoutes: MatchingRoutes,
  ): MaybePromise<WebhookResponse> {
    return whenDone(this.#duplicates.claim(senderEvent, request), (claimOrDuplicate) =>
      claimOrDuplicate instanceof Claim
        ? this.#runClaimed(request, claimOrDuplicate, matchingRoutes)
        : this.#answerDuplicate(request, claimOrDuplicate));
  }

  /** Runs the request's event, and finishes the claim however that ends: others wait for it. */
  #runClaimed(
    request: AdmittedRequest, claim: Claim, matchingRoutes: MatchingRoutes,
  ): MaybePromise<WebhookResponse> {
    const { event, failedRequest } = claim;
    const abandonClaim = (reason: unknown): never => {
      claim.finish(null);
      throw reason;
    };
    let running: MaybePromise<RunResult>;
    try {
      running = failedRequest === null
        ? this.#runs.run(request, matchingRoutes ?? findRoutes(request), event)
        : this.#runs.runAgain(request, failedRequest);
    } catch (thrown) {
      return abandonClaim(thrown);
    }
    return whenDone(running, (result) => this.#finishClaim(claim, result), abandonClaim);
  }

  #finishClaim(claim: Claim, result: RunResult): WebhookResponse {
    const { response, requestId } = result;
    // If the request is stored, its record tells of the event.
    if (requestId === null && response.status === 200) {
      this.#duplicates.remember(claim.event, response.dataJson);
    }
    claim.finish({ response, requestId, dataJson: response.dataJson });
    return toResponseOrThrow(result);
  }

  #answerDuplicate(
    request: AdmittedRequest, duplicate: DuplicateEvent,
  ): MaybePromise<WebhookResponse> {
    const response = duplicate.response ?? buildDuplicateResponse(duplicate);
    if (request.webhook.inbox !== 'all') return response;
    return this.#inboxWriter.addDuplicate(request, duplicate, findSentStatus(request, response))
      .then(() => response);
  }

  /**
   * Answers the request as accepted. A new request is stored and runs later; the repetition of a
   * failed event makes the first request due; a duplicate is answered as a duplicate.
   */
  async #accept(
    request: AdmittedRequest, senderEvent: SenderEvent | null, matchingRoutes: MatchingRoutes,
  ): Promise<WebhookResponse> {
    const rememberedEvent = senderEvent === null ? null
      : this.#duplicates.findRemembered(senderEvent);
    if (rememberedEvent !== null) return this.#answerDuplicate(request, rememberedEvent);
    const { response, duplicate } = await this.#writeAccepted(request, senderEvent, matchingRoutes);
    if (duplicate !== null) {
      await this.#inboxWriter.addDuplicate(request, duplicate, findSentStatus(request, response));
    }
    return response;
  }

  #writeAccepted(
    request: AdmittedRequest, senderEvent: SenderEvent | null, matchingRoutes: MatchingRoutes,
  ): Promise<Acceptance> {
    const { clock, makeId, store } = this.#context;
    const { capacity, recentRequests, configurations, events } = this.#services;
    const bytes = estimateRequestBytes(request);
    const routes = matchingRoutes ?? findRoutes(request);
    assertEventRoom(configurations, events, routes, request.body.contentBytes, 'later');
    const arrival = {
      request, senderEvent, id: makeId(), nowMs: clock.now(),
      routes: routes.map(({ name }) => name),
    };
    return store.transact((transaction) => stageAccepted(transaction, arrival, recentRequests,
      () => capacity.reserve(transaction, bytes)));
  }
}

function toResponseOrThrow({ response, requestId, storageError }: RunResult): WebhookResponse {
  if (storageError !== undefined) throw storageError;
  return setRequestId(response, requestId);
}

function isSearchLong(request: AdmittedRequest): boolean {
  const { hasRoutes, routes } = request.webhook;
  if (!hasRoutes) return false;
  let count = 0;
  for (const { containsTests } of routes) count += containsTests.length;
  return count * request.body.contentBytes > SEARCHED_BYTES_MAX;
}

function findRoutes(request: AdmittedRequest): readonly ReadyWebhookRoute[] {
  const { hasRoutes, routes } = request.webhook;
  return hasRoutes ? findRoutesByFacts(request, request.createFacts()) : routes;
}

/** At the level debug, the log says why no route takes the request. */
function findRoutesByFacts(
  request: AdmittedRequest, facts: Facts,
): readonly ReadyWebhookRoute[] {
  const { webhook: { routes }, exchange } = request;
  const matchingRoutes = findMatchingRoutes(routes, facts);
  // A long body is not searched again: that would take other requests their turns.
  if (matchingRoutes.length === 0 && exchange.log.isWritten?.('debug') !== false
    && !isSearchLong(request)) {
    const reason = formatFailedConditions(explainRoutes(routes, facts));
    request.log.debug('no route takes a request', { reason });
  }
  return matchingRoutes;
}
