/**
 * Runs the matching routes of a webhook side by side. The outcome of one has no effect on another.
 * Used for a request that is answered with its result, and for a stored one that runs later.
 *
 *   runRoutes       runs several routes, each with runRoute
 *   runRoute        measures one run of a route, and makes its outcome
 *   runRouteAction  finds the action of the route, and has `runAction` run it
 */
import { AppError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import { isPromised, type MaybePromise } from '../../base/when-done.ts';
import type {
  ConfigurationIndex, RunnableConfiguration,
} from '../actions/configuration-index.ts';
import { ActionResult } from '../actions/action.ts';
import { EMIT_EVENT } from '../actions/emit-event-action.ts';
import type { ActionCall, ActionRegistry } from '../actions/action-registry.ts';
import { FAILED_MESSAGE, encodeData, runAction } from '../actions/run-action.ts';
import type { ActionRunner } from '../actions/run-action.ts';
import type { EventPublisher } from '../deliveries/event-publisher.ts';
import { Facts } from '../filters/facts.ts';
import type { ReadyWebhookRoute } from './webhook-routes.ts';

export type RouteDeps = {
  readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry;
  readonly runner: ActionRunner;
};

export type EventDeps = Pick<RouteDeps, 'configurations'> & {
  readonly events: Pick<EventPublisher, 'assertRoom'>;
};

/** The actions of all routes take 20 ms together with a body of that size. */
const TURN_BYTES_MAX = 32_768;

/** Smaller events are checked as they are staged, which costs the usual request nothing here. */
const CHECKED_BYTES_MIN = 1 << 16;

/** Throws `unavailable` when the events that the routes emit have no room: see `assertRoom`. */
export function assertEventRoom(
  { configurations, events }: EventDeps, routes: readonly ReadyWebhookRoute[], bytes: number,
  begin: 'now' | 'later',
): void {
  if (routes.length * bytes < CHECKED_BYTES_MIN) return;
  const names = routes.flatMap(({ actionConfiguration }) => {
    const { actionType, options } = configurations.find(actionConfiguration) ?? {};
    return actionType === EMIT_EVENT ? [String(options?.['name'])] : [];
  });
  events.assertRoom(names, bytes, begin);
}

/** The request that routes run with. */
export type RouteInput = {
  /** Makes a call for each route. */
  readonly makeCall: (configuration: RunnableConfiguration) => ActionCall;
  /** The logger names the webhook. It is created only if there is something to log. */
  readonly holder: { readonly log: Logger };
  /** The size of the request's body: the actions of a large one begin in turns. */
  readonly bodyBytes?: number;
  /** Called when the actions of all routes have begun. */
  readonly onBegun?: () => void;
};

/** The outcome of one run of a route. */
export type RouteOutcome = {
  readonly name: string;
  readonly result: ActionResult;
  /** The result's data as JSON. */
  readonly dataJson: string;
  /**
   * An error of a built-in action about our own state, such as `unavailable`; the result is failed.
   */
  readonly refusal: AppError | null;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly durationMs: number;
};

/** The facts that conditions of routes are evaluated with. */
export function createFacts(call: ActionCall): Facts {
  const { headers, query, method, event } = call.context;
  return new Facts({ payload: call.payload, event: () => event, headers, query, method });
}

export function findMatchingRoutes(
  routes: readonly ReadyWebhookRoute[], facts: Facts,
): readonly ReadyWebhookRoute[] {
  return routes.filter(({ matches }) => matches === null || matches(facts));
}

/** The result, at once when the action gave it at once. Throws what `runAction` throws. */
export function runRouteAction(
  { configurations, actions, runner }: RouteDeps, { actionConfiguration }: ReadyWebhookRoute,
  { makeCall, holder }: RouteInput,
): MaybePromise<ActionResult> {
  const configuration = configurations.find(actionConfiguration);
  const action = configuration === undefined ? undefined : actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    const { actionType = null } = configuration ?? {};
    holder.log.error('the action of an incoming webhook is not there', {
      configuration: actionConfiguration, actionType,
    });
    return ActionResult.fail(FAILED_MESSAGE);
  }
  return runAction(action, makeCall(configuration), runner, holder);
}

/**
 * The outcomes in the order of `routes`, at once when all runs ended at once. Rejects for a bug
 * alone.
 */
export function runRoutes(
  deps: RouteDeps, routes: readonly ReadyWebhookRoute[], input: RouteInput,
  { clock, turns }: { readonly clock: Clock; readonly turns: Turns },
): MaybePromise<readonly RouteOutcome[]> {
  if (routes.length > 1 && (input.bodyBytes ?? 0) > TURN_BYTES_MAX) {
    return turns.run(beginRoutes(deps, routes, input, clock))
      .then((runs) => Promise.all(runs ?? []));
  }
  const runs = routes.map((route) => runRoute(deps, route, input, clock));
  input.onBegun?.();
  const outcomes: RouteOutcome[] = [];
  for (const run of runs) {
    if (isPromised(run)) return Promise.all(runs);
    outcomes.push(run);
  }
  return outcomes;
}

/** Begins the run of a route in each step. */
function* beginRoutes(
  deps: RouteDeps, routes: readonly ReadyWebhookRoute[], input: RouteInput, clock: Clock,
): Steps<MaybePromise<RouteOutcome>[]> {
  const runs: MaybePromise<RouteOutcome>[] = [];
  for (const route of routes) {
    const run = runRoute(deps, route, input, clock);
    // It is awaited once all have begun: a bug rejects it before that.
    if (isPromised(run)) run.catch(() => {});
    runs.push(run);
    yield;
  }
  input.onBegun?.();
  return runs;
}

/**
 * The outcome, at once when the action gave its result at once. Never throws: it rejects for a bug,
 * and for nothing else.
 */
export function runRoute(
  deps: RouteDeps, route: ReadyWebhookRoute, input: RouteInput, clock: Clock,
): MaybePromise<RouteOutcome> {
  const { name } = route;
  const startedAtMs = clock.now();
  const startedMs = clock.monotonicMs();
  const toOutcome = (
    result: ActionResult, dataJson: string, refusal: AppError | null = null,
  ): RouteOutcome => ({
    name, result, dataJson, refusal, startedAtMs, durationMs: clock.monotonicMs() - startedMs,
  });
  const finish = (result: ActionResult): RouteOutcome => {
    const dataJson = encodeData(result.data, input.holder);
    return dataJson === null ? toOutcome(ActionResult.fail(FAILED_MESSAGE), '{}')
      : toOutcome(result, dataJson);
  };
  const refuse = (thrown: unknown): MaybePromise<RouteOutcome> => thrown instanceof AppError
    ? toOutcome(ActionResult.fail(FAILED_MESSAGE), '{}', thrown) : Promise.reject(thrown);
  try {
    const result = runRouteAction(deps, route, input);
    return isPromised(result) ? result.then(finish).catch(refuse) : finish(result);
  } catch (thrown) {
    return refuse(thrown);
  }
}
