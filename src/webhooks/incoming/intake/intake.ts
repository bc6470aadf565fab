/**
 * What becomes of a request that passed its checks: its routes run and their result is the answer,
 * or it is on disk first, is answered, and runs later; or it is an event that was here before. What
 * the webhook's inbox is to have is on disk before the answer. Never is a request answered as
 * accepted that is not.
 */
import * as types from 'node:util/types';
import type { Turns } from '../../../base/turns.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { ActionResult } from '../../actions/action.ts';
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
import { Duplicates, type Seen, type LookedUp } from './duplicates.ts';
import { Claim, type Event } from './event.ts';
import { Keeper, type IntakeParts } from './inbox-writer.ts';
import { estimatedBytes } from './build-request.ts';
import type { RecentRequests } from './recent-requests.ts';
import { ResultRuns, routedRequest, type Taken } from './result-runs.ts';

type Parts = IntakeParts & { readonly recent: RecentRequests; readonly turns: Turns };

/** Bytes that all routes of a webhook may search at once: a search takes at most 5 ns for each. */
const SEARCHED_BYTES_MAX = 1 << 20;

export class Intake {
  readonly #parts: Parts;
  readonly #keeper: Keeper;
  readonly #runs: ResultRuns;
  readonly #duplicates: Duplicates;
  readonly #arrivals: Arrivals<WebhookResponse>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#keeper = new Keeper(parts);
    this.#runs = new ResultRuns(parts, this.#keeper);
    this.#duplicates = new Duplicates(parts.store, parts.clock);
    this.#arrivals = new Arrivals(parts.store);
  }

  /**
   * The answer, at once when an action gave it at once. Throws, or rejects with, what is to be
   * answered 503 or 507: nothing was accepted, and the sender must try again.
   */
  take(exchange: Exchange, received: AdmittedRequest): WebhookResponse | Promise<WebhookResponse> {
    return isSearchLong(received) ? this.#takeLater(exchange, received)
      : this.#takeNow(exchange, received);
  }

  /** Others have their turns while the routes of a long request are found. */
  async #takeLater(exchange: Exchange, received: AdmittedRequest): Promise<WebhookResponse> {
    const { routes } = received.webhook;
    const facts = createFacts(new AdmittedActionCall(exchange, received, {}));
    await this.#parts.turns.run(facts.searchAhead(routes.flatMap(({ searches }) => searches)));
    received.matching = findMatchingRoutes(routes, facts);
    return this.#takeNow(exchange, received);
  }

  #takeNow(
    exchange: Exchange, received: AdmittedRequest,
  ): WebhookResponse | Promise<WebhookResponse> {
    const { webhook } = received;
    const [route] = webhook.routes;
    const event = this.#duplicates.eventOf(received);
    if (webhook.answer === 'accepted') return this.#accept(exchange, received, event);
    if (event !== null) return this.#takeOnce(exchange, received, event);
    if (webhook.isRouted || webhook.inbox === 'all' || route === undefined) {
      return this.#runMatching(exchange, received);
    }
    // The usual case: nothing is made that only a kept request needs.
    const result = runRouteAction(this.#parts, route, routedRequest(exchange, received));
    return result instanceof ActionResult ? this.#settle(exchange, received, route, result)
      : this.#settleLater(exchange, received, route, result);
  }

  /** What is known of an event of a webhook: see `Duplicates.look`. */
  lookUp(...event: Parameters<Duplicates['look']>): LookedUp {
    return this.#duplicates.look(...event);
  }

  close(): void {
    this.#keeper.close();
  }

  async #settleLater(
    exchange: Exchange, received: AdmittedRequest, route: ReadyWebhookRoute,
    result: Promise<ActionResult>,
  ): Promise<WebhookResponse> {
    return this.#settle(exchange, received, route, await result);
  }

  #settle(
    exchange: Exchange, received: AdmittedRequest, { name }: ReadyWebhookRoute,
    result: ActionResult,
  ): WebhookResponse | Promise<WebhookResponse> {
    const { webhook, receivedAtMs } = received;
    const answer = buildResultResponse(result, new LabelledLog(exchange, webhook.labels));
    const outcome = {
      name, result: answer.result, dataJson: answer.dataJson, refusal: null,
      startedAtMs: receivedAtMs, durationMs: Math.max(0, this.#parts.clock.now() - receivedAtMs),
    };
    this.#runs.report(exchange, webhook, [outcome]);
    if (answer.status === 200 || webhook.inbox === 'off') return answer;
    return this.#keeper.keepFailed(exchange, received, [outcome], answer).then(() => answer);
  }

  #runMatching(
    exchange: Exchange, received: AdmittedRequest,
  ): WebhookResponse | Promise<WebhookResponse> {
    const routes = matchingRoutes(exchange, received);
    const taken = this.#runs.run(exchange, received, routes, null);
    return types.isPromise(taken) ? taken.then(answerIn) : answerIn(taken);
  }

  #takeOnce(
    exchange: Exchange, received: AdmittedRequest, event: Event,
  ): WebhookResponse | Promise<WebhookResponse> {
    const met = this.#duplicates.meet(event, received);
    return types.isPromise(met) ? met.then((later) => this.#takeMet(exchange, received, later))
      : this.#takeMet(exchange, received, met);
  }

  #takeMet(
    exchange: Exchange, received: AdmittedRequest, met: Claim | Seen,
  ): WebhookResponse | Promise<WebhookResponse> {
    if (!(met instanceof Claim)) return this.#answerSeen(exchange, received, met);
    const { event, failed } = met;
    let taken: Taken | Promise<Taken>;
    try {
      taken = failed === null
        ? this.#runs.run(exchange, received, matchingRoutes(exchange, received), event)
        : this.#runs.runAgain(exchange, received, failed);
    } catch (thrown) {
      met.end(null);
      throw thrown;
    }
    return types.isPromise(taken) ? this.#endLater(met, taken) : this.#end(met, taken);
  }

  async #endLater(claim: Claim, running: Promise<Taken>): Promise<WebhookResponse> {
    let taken: Taken;
    try {
      taken = await running;
    } catch (thrown) {
      claim.end(null);
      throw thrown;
    }
    return this.#end(claim, taken);
  }

  #end(claim: Claim, { answer, of, unkept }: Taken): WebhookResponse {
    // What has a record is found by it.
    if (of === null && answer.status === 200) {
      this.#duplicates.remember(claim.event, answer.dataJson);
    }
    claim.end({ answer, of, dataJson: answer.dataJson });
    if (unkept !== undefined) throw unkept;
    return answer;
  }

  #answerSeen(
    exchange: Exchange, received: AdmittedRequest, { of, dataJson, answer, isReused }: Seen,
  ): WebhookResponse | Promise<WebhookResponse> {
    const given = answer ?? buildDuplicateResponse(dataJson);
    if (received.webhook.inbox !== 'all') return given;
    const { status } = given;
    return this.#keeper.keepDuplicate(exchange, received, { of, status, isReused })
      .then(() => given);
  }

  #accept(
    exchange: Exchange, received: AdmittedRequest, event: Event | null,
  ): WebhookResponse | Promise<WebhookResponse> {
    const { clock, makeId, store, capacity, recent } = this.#parts;
    const seen = event === null ? null : this.#duplicates.findRemembered(event);
    if (seen !== null) return this.#answerSeen(exchange, received, seen);
    const bytes = estimatedBytes(exchange, received.body);
    const arrival = {
      exchange, received, event, id: makeId(), nowMs: clock.now(),
      routes: matchingRoutes(exchange, received).map(({ name }) => name),
    };
    // A duplicate needs no room. What is known of it is asked again in the transaction.
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

function answerIn({ answer, unkept }: Taken): WebhookResponse {
  if (unkept !== undefined) throw unkept;
  return answer;
}

function isSearchLong({ webhook: { isRouted, routes }, body }: AdmittedRequest): boolean {
  if (!isRouted) return false;
  let count = 0;
  for (const { searches } of routes) count += searches.length;
  return count * body.length > SEARCHED_BYTES_MAX;
}

function matchingRoutes(
  exchange: Exchange, received: AdmittedRequest,
): readonly ReadyWebhookRoute[] {
  const { webhook, matching } = received;
  if (!webhook.isRouted) return webhook.routes;
  return matching ?? findMatchingRoutes(
    webhook.routes, createFacts(new AdmittedActionCall(exchange, received, {})));
}
