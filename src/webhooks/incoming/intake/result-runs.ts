/** Runs the routes of a request whose answer is their result, and keeps what the inbox wants. */
import * as types from 'node:util/types';
import type { AppError } from '../../../base/errors.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { statusOf } from '../../../server/problem.ts';
import { ChainRefusal } from '../../actions/run-action.ts';
import { LabelledLog, logRun } from '../../actions/run-log.ts';
import { commitRequests } from '../../inbox/request-changes.ts';
import type { StoredRequest } from '../../inbox/stored-request.ts';
import {
  buildOutcomeResponse, buildRoutesResponse, type WebhookResponse,
} from '../receiving/webhook-response.ts';
import {
  AdmittedActionCall, type AdmittedRequest, type RunIdentity,
} from '../receiving/admitted-request.ts';
import { runRoutes, type RouteOutcome, type RouteInput } from '../receiving/run-webhook-routes.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import type { ReadyWebhookRoute } from '../webhook-routes.ts';
import { afterAnotherRun, allOutcomes, goneOutcome } from './repeated-run.ts';
import type { Event } from './event.ts';
import type { IntakeParts, Keeper } from './inbox-writer.ts';
import { estimatedBytes } from './build-request.ts';

/**
 * An answer, and the request that is kept of what it answers; `unkept` is why one that had to be
 * kept is not, though its actions have run.
 */
export type Taken = {
  readonly answer: WebhookResponse; readonly of: string | null; readonly unkept?: unknown;
};

/** `id` is that of the request that is kept whatever comes; null: it is kept if a route fails. */
type RunOf = { readonly id: string | null; readonly event: Event | null };

export class ResultRuns {
  readonly #parts: IntakeParts;
  readonly #keeper: Keeper;

  constructor(parts: IntakeParts, keeper: Keeper) {
    this.#parts = parts;
    this.#keeper = keeper;
  }

  /**
   * At once when the actions gave their results at once and nothing is kept. Throws, or rejects
   * with, what a built-in action refused for our own state.
   */
  run(
    exchange: Exchange, received: AdmittedRequest, routes: readonly ReadyWebhookRoute[],
    event: Event | null,
  ): Taken | Promise<Taken> {
    const { capacity, makeId, store } = this.#parts;
    if (received.webhook.inbox !== 'all') {
      return this.#run(exchange, received, routes, { id: null, event });
    }
    // Its sender would be told to send again what has run, as often as it does.
    store.checkWritable();
    return capacity.reserveWhile(estimatedBytes(exchange, received.body), () =>
      Promise.resolve(this.#run(exchange, received, routes, { id: makeId(), event })));
  }

  /** Its failed routes, with the request that came now. */
  async runAgain(
    exchange: Exchange, received: AdmittedRequest, failed: StoredRequest,
  ): Promise<Taken> {
    const { clock, store, health } = this.#parts;
    store.checkWritable();
    const { webhook } = received;
    const { id: of } = failed;
    const due = failed.routes.filter(({ status }) => status === 'failed');
    const outcomes = (await Promise.all(due.map(async ({ name, attemptCount }) => {
      const route = webhook.routes.find((other) => other.name === name);
      if (route === undefined) return [goneOutcome(name, clock.now())];
      const run = { requestId: of, attempt: attemptCount + 1 };
      return runRoutes(this.#parts, [route], routedRequest(exchange, received, run), clock);
    }))).flat();
    this.report(exchange, webhook, outcomes, failed);
    const refused = refusalIn(outcomes);
    const answer = answerOf(webhook, allOutcomes(failed, outcomes));
    const nowMs = clock.now();
    const status = refused === null ? answer.status : statusOf(refused.code);
    const answered = { status, afterMs: Math.max(0, nowMs - received.receivedAtMs) };
    await commitRequests(store, (unit, transaction) => {
      unit.change(of, (before) => afterAnotherRun(before, outcomes, answered, nowMs));
      health.stage(transaction, webhook.identifier);
    });
    if (refused !== null) throw refused;
    return { answer, of };
  }

  /**
   * Counts and logs runs; `previous` is the request that had runs before these. What our own state
   * refused says nothing of the action, and is no run.
   */
  report(
    { requestId }: Exchange, { identifier, labels, routes }: ReadyIncomingWebhook,
    outcomes: readonly RouteOutcome[], previous: StoredRequest | null = null,
  ): void {
    for (const { name, result, refusal, startedAtMs, durationMs } of outcomes) {
      if (refusal !== null) continue;
      const { attemptCount = 0 } = previous?.routes.find((route) => route.name === name) ?? {};
      const { success, message, data } = result;
      const isChainRefused = result instanceof ChainRefusal;
      this.#parts.onRun(identifier, { success, message, isChainRefused }, startedAtMs);
      logRun(this.#parts, 'the action of an incoming webhook was run', {
        labels: { requestId, ...labels, route: name, attempt: attemptCount + 1 },
        actionConfiguration: routes.find((route) => route.name === name)?.actionConfiguration,
        success, message, data, durationMs, isChainRefused,
      });
    }
  }

  #run(
    exchange: Exchange, received: AdmittedRequest, routes: readonly ReadyWebhookRoute[], of: RunOf,
  ): Taken | Promise<Taken> {
    const { webhook } = received;
    const request = routedRequest(exchange, received, { requestId: of.id, attempt: 1 });
    const running = this.#runRoutes(webhook, routes, request);
    if (types.isPromise(running)) {
      return running.then((outcomes) => this.#take(exchange, received, outcomes, of));
    }
    return this.#take(exchange, received, running, of);
  }

  #take(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[], of: RunOf,
  ): Taken | Promise<Taken> {
    const { webhook } = received;
    this.report(exchange, webhook, outcomes);
    if (of.id === null && refusalIn(outcomes) === null) {
      const answer = answerOf(webhook, outcomes);
      if (answer.status === 200 || webhook.inbox === 'off') return { answer, of: null };
    }
    return this.#takeKept(exchange, received, outcomes, of);
  }

  #takeKept(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[],
    { id, event }: RunOf,
  ): Promise<Taken> {
    const refused = refusalIn(outcomes);
    if (refused !== null) {
      return this.#refuseKept(exchange, received, outcomes, { id, event }, refused);
    }
    const answer = answerOf(received.webhook, outcomes);
    const { status } = answer;
    if (id === null) {
      return this.#keeper.keepFailed(exchange, received, outcomes, { status, event })
        .then((of) => ({ answer, of }));
    }
    return this.#keeper.keep(exchange, received, outcomes, { status, id, event })
      .then(() => ({ answer, of: id }), (unkept: unknown) => ({ answer, of: null, unkept }));
  }

  async #refuseKept(
    exchange: Exchange, received: AdmittedRequest, outcomes: readonly RouteOutcome[],
    { id, event }: RunOf, refused: AppError,
  ): Promise<never> {
    // What the others did is not to be done again.
    const hasRun = outcomes.some((outcome) => outcome.refusal === null);
    if (hasRun && received.webhook.inbox !== 'off') {
      const status = statusOf(refused.code);
      await this.#keeper.keepFailed(exchange, received, outcomes, { status, id, event });
    }
    throw refused;
  }

  /** Each of the routes is one of the actions under way, until the last has ended. */
  #runRoutes(
    { load }: ReadyIncomingWebhook, routes: readonly ReadyWebhookRoute[], request: RouteInput,
  ): readonly RouteOutcome[] | Promise<readonly RouteOutcome[]> {
    const running = runRoutes(this.#parts, routes, request, this.#parts.clock);
    if (!types.isPromise(running)) return running;
    // One is counted for the request already.
    const more = Math.max(0, routes.length - 1);
    load.running += more;
    return running.finally(() => {
      load.running -= more;
    });
  }
}

export function routedRequest(
  exchange: Exchange, received: AdmittedRequest, run?: RunIdentity,
): RouteInput {
  return {
    holder: new LabelledLog(exchange, received.webhook.labels),
    makeCall: (options) => new AdmittedActionCall(exchange, received, options, run),
  };
}

function answerOf(
  { isRouted }: ReadyIncomingWebhook, outcomes: readonly RouteOutcome[],
): WebhookResponse {
  const [first] = outcomes;
  return isRouted || first === undefined ? buildRoutesResponse(outcomes)
    : buildOutcomeResponse(first);
}

function refusalIn(outcomes: readonly RouteOutcome[]): RouteOutcome['refusal'] {
  return outcomes.find(({ refusal }) => refusal !== null)?.refusal ?? null;
}
