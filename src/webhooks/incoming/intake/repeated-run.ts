/** Applies another run of the failed routes to a request that its sender sent again. Pure. */
import { encodeJson } from '../../../base/json/encode.ts';
import { ActionResult } from '../../actions/action.ts';
import { CoalescedResult } from '../../actions/run-action.ts';
import { addAttempt, type RouteDelivery } from '../../deliveries/route-delivery.ts';
import { withRoutes, type StoredRequest } from '../../inbox/stored-request.ts';
import type { RouteOutcome } from '../run-webhook-routes.ts';
import { toRunAttempt } from './build-request.ts';

const GONE_MESSAGE = 'The webhook has no such route any more';

/** The stored request after another run of the routes that had failed. */
export function applyRepeatedRun(
  before: StoredRequest, outcomes: readonly RouteOutcome[],
  answer: StoredRequest['answered'], nowMs: number,
): StoredRequest {
  const routes = before.routes.map((route) => {
    const outcome = outcomes.find(({ name }) => name === route.name);
    return outcome === undefined ? route : applyOutcome(route, outcome);
  });
  return withRoutes({ ...before, answered: answer }, routes, nowMs);
}

function applyOutcome(route: RouteDelivery, outcome: RouteOutcome): RouteDelivery {
  const isCoalesced = outcome.result instanceof CoalescedResult;
  const after = addAttempt(route, toRunAttempt(outcome), { isCoalesced });
  // If an operator has replayed the request meanwhile, it is run until it succeeds.
  const isDue = route.status === 'pending' && !outcome.result.success;
  return isDue ? { ...after, status: 'pending', nextAttemptAt: route.nextAttemptAt } : after;
}

/** The outcomes of all routes in order: of this run, else of the last one. */
export function combineOutcomes(
  { routes }: StoredRequest, outcomes: readonly RouteOutcome[],
): readonly RouteOutcome[] {
  return routes.map((route) =>
    outcomes.find(({ name }) => name === route.name) ?? restoreOutcome(route));
}

/** The outcome of a route that the webhook has no more. */
export function createGoneOutcome(name: string, nowMs: number): RouteOutcome {
  return {
    name, result: ActionResult.fail(GONE_MESSAGE), dataJson: '{}', refusal: null,
    startedAtMs: nowMs, durationMs: 0,
  };
}

function restoreOutcome({ name, attempts }: RouteDelivery): RouteOutcome {
  const { message = null, data = null, durationMs = 0, at = '' } = attempts.at(-1) ?? {};
  return {
    name, result: ActionResult.ok(data ?? {}, message), dataJson: encodeJson(data ?? {}),
    refusal: null, startedAtMs: Date.parse(at), durationMs,
  };
}
