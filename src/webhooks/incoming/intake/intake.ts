/**
 * Handles a request that passed its checks. Its routes run and their result is the response; or it
 * is stored first, is answered as accepted, and runs later; or it is a duplicate of an earlier
 * event. The webhook's inbox has what it is to have before the response goes out: no request is
 * answered as accepted that is not on disk.
 */
import type { Turns } from '../../../base/turns.ts';
import { isPromised, whenDone, type MaybePromise } from '../../../base/when-done.ts';
import type { ActionResult } from '../../actions/action.ts';
import { LabelledLog } from '../../actions/run-log.ts';
import {
  buildDuplicateResponse, buildResultResponse, type WebhookResponse,
} from '../receiving/webhook-response.ts';
import { AdmittedActionCall, type AdmittedRequest } from '../receiving/admitted-request.ts';
import {
  createFacts, findMatchingRoutes, runRouteAction,
} from '../receiving/run-webhook-routes.ts';
import type { ReadyWebhookRoute } from '../webhook-routes.ts';
import { changeRequests } from '../../inbox/request-changes.ts';
import { stageAccepted } from './stage-accepted.ts';
import { Arrivals } from './arrivals.ts';
import { Duplicates, type DuplicateEvent, type EventLookup } from './duplicates.ts';
import { Claim, type Event } from './event.ts';
import { InboxWriter, type IntakeDeps } from './inbox-writer.ts';
import { estimateRequestBytes } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';
import { ResultRuns, createRouteInput, type RunResult } from './result-runs.ts';

type Deps = IntakeDeps & { readonly recent: RecentRequests; readonly turns: Turns };

/** Bytes that all routes of a webhook may search at once: a search takes at most 5 ns for each. */
const SEARCHED_BYTES_MAX = 1 << 20;

export class Intake {
  readonly #deps: Deps;
  readonly #inboxWriter: InboxWriter;
  readonly #runs: ResultRuns;
  readonly #duplicates: Duplicates;
  readonly #arrivals: Arrivals<WebhookResponse>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#inboxWriter = new InboxWriter(deps);
    this.#runs = new ResultRuns(deps, this.#inboxWriter);
    this.#duplicates = new Duplicates(deps.store, deps.clock);
    this.#arrivals = new Arrivals(deps.store);
  }

  /**
   * The response, at once when an action gave its result at once. Throws, or rejects with, an error
   * to be answered 413, 503 or 507: nothing was accepted, and the sender must try again.
   */
  handle(request: AdmittedRequest): MaybePromise<WebhookResponse> {
    return isSearchLong(request) ? this.#handleLongSearch(request) : this.#handle(request);
  }

  /** Describes a webhook's event for a diagnosis: see `Duplicates.lookUp`. */
  lookUp(...event: Parameters<Duplicates['lookUp']>): EventLookup {
    return this.#duplicates.lookUp(...event);
  }

  close(): void {
    this.#inboxWriter.close();
  }

  /** Finds the routes of a long request in steps, so that other requests have their turns. */
  async #handleLongSearch(request: AdmittedRequest): Promise<WebhookResponse> {
    const { routes } = request.webhook;
    const facts = createFacts(new AdmittedActionCall(request, {}));
    await this.#deps.turns.run(facts.searchAhead(routes.flatMap(({ searches }) => searches)));
    request.matching = findMatchingRoutes(routes, facts);
    return this.#handle(request);
  }

  #handle(request: AdmittedRequest): MaybePromise<WebhookResponse> {
    const { webhook } = request;
    const [route] = webhook.routes;
    const event = this.#duplicates.createEvent(request);
    if (webhook.answer === 'accepted') return this.#accept(request, event);
    if (event !== null) {
      return whenDone(this.#duplicates.claim(event, request),
        (claimed) => this.#handleClaim(request, claimed));
    }
    if (webhook.isRouted || webhook.inbox === 'all' || route === undefined) {
      return whenDone(this.#runs.run(request, findRoutes(request), null), getResponse);
    }
    // The usual case: it creates nothing that only a stored request needs, not even a closure.
    const result = runRouteAction(this.#deps, route, createRouteInput(request));
    return isPromised(result) ? result.then((later) => this.#respond(request, route, later))
      : this.#respond(request, route, result);
  }

  /** Reports the run of a webhook's only route, and stores the request if the run failed. */
  #respond(
    request: AdmittedRequest, { name }: ReadyWebhookRoute, result: ActionResult,
  ): MaybePromise<WebhookResponse> {
    const { exchange, webhook, receivedAtMs } = request;
    const response = buildResultResponse(result, new LabelledLog(exchange, webhook.labels));
    const outcome = {
      name, result: response.result, dataJson: response.dataJson, refusal: null,
      startedAtMs: receivedAtMs, durationMs: Math.max(0, this.#deps.clock.now() - receivedAtMs),
    };
    this.#runs.report(request, [outcome]);
    if (response.status === 200 || webhook.inbox === 'off') return response;
    return this.#inboxWriter.addFailed(request, [outcome], response).then(() => response);
  }

  #handleClaim(
    request: AdmittedRequest, claimed: Claim | DuplicateEvent,
  ): MaybePromise<WebhookResponse> {
    if (!(claimed instanceof Claim)) return this.#respondToDuplicate(request, claimed);
    const release = (reason: unknown): never => {
      claimed.finish(null);
      throw reason;
    };
    let running: MaybePromise<RunResult>;
    try {
      running = this.#runClaimed(request, claimed);
    } catch (thrown) {
      return release(thrown);
    }
    return whenDone(running, (result) => this.#finishClaim(claimed, result), release);
  }

  #runClaimed(
    request: AdmittedRequest, { event, failedRequest }: Claim,
  ): MaybePromise<RunResult> {
    return failedRequest === null ? this.#runs.run(request, findRoutes(request), event)
      : this.#runs.runAgain(request, failedRequest);
  }

  #finishClaim(
    claim: Claim, { response, requestId, storageError }: RunResult,
  ): WebhookResponse {
    // An event whose request is stored is found by that record.
    if (requestId === null && response.status === 200) {
      this.#duplicates.remember(claim.event, response.dataJson);
    }
    claim.finish({ response, requestId, dataJson: response.dataJson });
    if (storageError !== undefined) throw storageError;
    return response;
  }

  #respondToDuplicate(
    request: AdmittedRequest, duplicate: DuplicateEvent,
  ): MaybePromise<WebhookResponse> {
    const response = duplicate.response ?? buildDuplicateResponse(duplicate.dataJson);
    if (request.webhook.inbox !== 'all') return response;
    return this.#inboxWriter.addDuplicate(request, duplicate, response.status)
      .then(() => response);
  }

  /** Stores the request, which runs later, and answers it as accepted. */
  #accept(request: AdmittedRequest, event: Event | null): MaybePromise<WebhookResponse> {
    const { clock, makeId, store, capacity, recent } = this.#deps;
    const duplicate = event === null ? null : this.#duplicates.findRemembered(event);
    if (duplicate !== null) return this.#respondToDuplicate(request, duplicate);
    const bytes = estimateRequestBytes(request.exchange, request.body);
    const arrival = {
      request, event, id: makeId(), nowMs: clock.now(),
      routes: findRoutes(request).map(({ name }) => name),
    };
    // An event that has come before mostly needs no room; the transaction decides, and checks it.
    if (event !== null && this.#duplicates.isKnown(event)) {
      return store.transact((transaction) => changeRequests(transaction, (unit) =>
        stageAccepted(transaction, unit, arrival, {
          recent, checkRoom: () => capacity.assertRoom(bytes),
        })));
    }
    return capacity.reserveWhile(bytes, () => this.#arrivals.write(bytes, (transaction, unit) =>
      stageAccepted(transaction, unit, arrival, { recent, checkRoom: () => {} })));
  }
}

function getResponse({ response, storageError }: RunResult): WebhookResponse {
  if (storageError !== undefined) throw storageError;
  return response;
}

function isSearchLong({ webhook: { isRouted, routes }, body }: AdmittedRequest): boolean {
  if (!isRouted) return false;
  let count = 0;
  for (const { searches } of routes) count += searches.length;
  return count * body.length > SEARCHED_BYTES_MAX;
}

function findRoutes(request: AdmittedRequest): readonly ReadyWebhookRoute[] {
  const { webhook, matching } = request;
  if (!webhook.isRouted) return webhook.routes;
  return matching
    ?? findMatchingRoutes(webhook.routes, createFacts(new AdmittedActionCall(request, {})));
}
