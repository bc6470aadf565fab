/**
 * What becomes of a request that passed its checks: its routes run and their result is the answer,
 * or it is on disk first, is answered, and runs later. What the webhook's inbox is to have is on
 * disk before the answer. Never is a request answered as accepted that is not.
 */
import { timeText } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import type { AppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { RateLimitedLog } from '../../../base/rate-limited-log.ts';
import { statusOf } from '../../../server/problem.ts';
import type { Exchange } from '../../../server/route.ts';
import type { Store } from '../../../store/port.ts';
import { ActionResult } from '../../actions/action.ts';
import type { InboxCapacity } from '../../requests/capacity.ts';
import {
  attempted, pendingRoute, statusOfRoutes, type KeptRequest,
} from '../../requests/request.ts';
import { commitRequests } from '../../requests/unit-of-work.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import type { ReadyRoute } from '../routing.ts';
import {
  acceptedAnswer, outcomeAnswer, resultAnswer, routesAnswer, type ReceiveAnswer,
} from '../receiving/answer.ts';
import { acceptedRequest, attemptOf, estimatedBytes } from './new-request.ts';
import { ReceivedCall, type Received, type Run } from '../receiving/received-call.ts';
import {
  factsOf, findMatching, runRoute, runRoutes, type RouteOutcome, type RouteParts,
  type RoutedRequest,
} from '../receiving/run-routes.ts';

type IntakeParts = RouteParts & {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly capacity: InboxCapacity;
  readonly log: Logger;
};

export class Intake {
  readonly #parts: IntakeParts;
  readonly #lost: RateLimitedLog;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#lost = new RateLimitedLog(parts.clock, (leftOut) =>
      parts.log.warning('more failed requests could not be kept', { leftOut }));
  }

  /**
   * The answer, at once when an action gave it at once. Throws, or rejects with, what is to be
   * answered 503 or 507: nothing was accepted, and the sender must try again.
   */
  take(exchange: Exchange, received: Received): ReceiveAnswer | Promise<ReceiveAnswer> {
    const { hook } = received;
    const [route] = hook.routes;
    if (hook.answer === 'accepted') return this.#accept(exchange, received);
    if (hook.isRouted || hook.inbox === 'all' || route === undefined) {
      return this.#runAll(exchange, received);
    }
    // The usual case: nothing is made that only a kept request needs.
    const result = runRoute(this.#parts, route, routedRequest(exchange, received));
    return result instanceof ActionResult ? this.#settle(exchange, received, route, result)
      : this.#settleLater(exchange, received, route, result);
  }

  close(): void {
    this.#lost.close();
  }

  async #settleLater(
    exchange: Exchange, received: Received, route: ReadyRoute, result: Promise<ActionResult>,
  ): Promise<ReceiveAnswer> {
    return this.#settle(exchange, received, route, await result);
  }

  #settle(
    exchange: Exchange, received: Received, { name }: ReadyRoute, result: ActionResult,
  ): ReceiveAnswer | Promise<ReceiveAnswer> {
    const answer = resultAnswer(result, exchange);
    if (answer.status === 200 || received.hook.inbox === 'off') return answer;
    const durationMs = Math.max(0, this.#parts.clock.now() - received.atMs);
    const outcome = {
      name, result: answer.result, dataJson: answer.dataJson, refused: null,
      startedAtMs: received.atMs, durationMs,
    };
    return this.#keepFailed(exchange, received, [outcome], answer).then(() => answer);
  }

  /** The sender hears of the failure whether or not it could be kept, and may try again. */
  async #keepFailed(
    exchange: Exchange, received: Received, outcomes: readonly RouteOutcome[],
    { status, id = null }: { readonly status: number; readonly id?: string | null },
  ): Promise<void> {
    const kept = id ?? this.#parts.makeId();
    const request = this.#finishedRequest(exchange, received, kept, { outcomes, status });
    try {
      await this.#commit(exchange, received, request);
    } catch (error) {
      this.#lost.warning(exchange, 'a failed request could not be kept', {
        hook: received.hook.identifier, error,
      });
    }
  }

  async #runAll(exchange: Exchange, received: Received): Promise<ReceiveAnswer> {
    const { hook, body } = received;
    if (hook.inbox !== 'all') return this.#runMatching(exchange, received, null);
    const { capacity, makeId } = this.#parts;
    return capacity.reserveWhile(estimatedBytes(exchange, body), () =>
      this.#runMatching(exchange, received, makeId()));
  }

  /** `id` is that of the request that is kept whatever comes; null: it is kept if a route fails. */
  async #runMatching(
    exchange: Exchange, received: Received, id: string | null,
  ): Promise<ReceiveAnswer> {
    const { hook } = received;
    const request = routedRequest(exchange, received, { request: id, attempt: 1 });
    const outcomes = await this.#runRoutes(hook, matchingRoutes(exchange, received), request);
    const refused = outcomes.find((outcome) => outcome.refused !== null)?.refused ?? null;
    if (refused !== null) return this.#refuse(exchange, received, id, outcomes, refused);
    const [first] = outcomes;
    const answer = hook.isRouted || first === undefined
      ? routesAnswer(outcomes) : outcomeAnswer(first);
    if (id !== null) {
      const { status } = answer;
      const kept = this.#finishedRequest(exchange, received, id, { outcomes, status });
      await commitRequests(this.#parts.store, (unit) => unit.add(kept, received.body));
    } else if (answer.status !== 200 && hook.inbox === 'failed') {
      await this.#keepFailed(exchange, received, outcomes, answer);
    }
    return answer;
  }

  /** Each of the routes is one of the actions under way, until the last has ended. */
  async #runRoutes(
    { load }: ReadyHook, routes: readonly ReadyRoute[], request: RoutedRequest,
  ): Promise<readonly RouteOutcome[]> {
    // One is counted for the request already.
    const more = Math.max(0, routes.length - 1);
    load.running += more;
    try {
      return await runRoutes(this.#parts, routes, request, this.#parts.clock);
    } finally {
      load.running -= more;
    }
  }

  /** One was refused for our own state: what the others did is not to be done again. */
  async #refuse(
    exchange: Exchange, received: Received, id: string | null, outcomes: readonly RouteOutcome[],
    refused: AppError,
  ): Promise<never> {
    const hasRun = outcomes.some((outcome) => outcome.refused === null);
    if (hasRun && received.hook.inbox !== 'off') {
      const status = statusOf(refused.code);
      await this.#keepFailed(exchange, received, outcomes, { status, id });
    }
    throw refused;
  }

  async #accept(exchange: Exchange, received: Received): Promise<ReceiveAnswer> {
    const { clock, makeId } = this.#parts;
    const at = timeText(received.atMs);
    const routes = matchingRoutes(exchange, received).map(({ name }) => pendingRoute(name, at));
    const request = acceptedRequest(exchange, received, {
      id: makeId(), routes, status: statusOfRoutes(routes),
      answered: { status: 200, afterMs: Math.max(0, clock.now() - received.atMs) },
    });
    await this.#commit(exchange, received, request);
    return acceptedAnswer(request.id, routes.length === 0 ? 'Filtered' : '');
  }

  #commit(exchange: Exchange, { body }: Received, request: KeptRequest): Promise<void> {
    const { capacity, store } = this.#parts;
    return capacity.reserveWhile(estimatedBytes(exchange, body), () =>
      commitRequests(store, (unit) => unit.add(request, body)));
  }

  #finishedRequest(
    exchange: Exchange, received: Received, id: string,
    { outcomes, status }: {
      readonly outcomes: readonly RouteOutcome[]; readonly status: number;
    },
  ): KeptRequest {
    const at = timeText(received.atMs);
    const routes = outcomes.map((outcome) =>
      attempted(pendingRoute(outcome.name, at), attemptOf(outcome)));
    const afterMs = Math.max(0, this.#parts.clock.now() - received.atMs);
    return acceptedRequest(exchange, received, {
      id, routes, status: statusOfRoutes(routes), answered: { status, afterMs },
    });
  }
}

function matchingRoutes(exchange: Exchange, received: Received): readonly ReadyRoute[] {
  const { hook } = received;
  if (!hook.isRouted) return hook.routes;
  return findMatching(hook.routes, factsOf(new ReceivedCall(exchange, received, {})));
}

function routedRequest(exchange: Exchange, received: Received, run?: Run): RoutedRequest {
  return {
    hook: received.hook.identifier, holder: exchange,
    makeCall: (options) => new ReceivedCall(exchange, received, options, run),
  };
}
