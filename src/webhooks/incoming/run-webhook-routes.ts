/**
 * Runs the matching routes of a webhook side by side, for a request that is answered with its
 * result, or for a stored request that runs later. No outcome has an effect on another route.
 *
 *   runRoutes       runs several routes, each with runRoute
 *   runRoute        measures one run of a route, and makes its outcome
 *   runRouteAction  finds the action of the route, and has `runAction` run it
 */
import { isPromise } from 'node:util/types';
import { AppError } from '../../base/errors.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import type { ConfigurationIndex } from '../actions/configuration-index.ts';
import { ActionResult, type ActionOptions } from '../actions/action.ts';
import { EMIT_EVENT } from '../actions/emit-event-action.ts';
import type { ActionCall } from '../actions/action-registry.ts';
import {
  DetailedRunResult, FAILED_MESSAGE, encodeData, runAction, type ConfiguredActions,
} from '../actions/run-action.ts';
import type { EventPublisher } from '../deliveries/event-publisher.ts';
import type { Facts } from '../members/filters/facts.ts';
import type { ReadyWebhookRoute } from './routes-member.ts';

/** A call that gets its action configuration once that of the route is found. */
type RouteCall = ActionCall & { configurationId: string; options: ActionOptions };

/** The actions of all routes take 20 ms together with a body of that size. */
const TURN_BYTES_MAX = 32_768;

/** Smaller events are checked as they are staged, which costs the usual request nothing here. */
const CHECKED_BYTES_MIN = 1 << 16;

/** Throws `unavailable` when the events that the routes emit have no room: see `assertRoom`. */
export function assertEventRoom(
  configurations: ConfigurationIndex, events: Pick<EventPublisher, 'assertRoom'>,
  routes: readonly ReadyWebhookRoute[], bytes: number, begin: 'now' | 'later',
): void {
  if (routes.length * bytes < CHECKED_BYTES_MIN) return;
  const names = routes.flatMap(({ actionConfiguration }) => {
    const { actionType, options } = configurations.find(actionConfiguration) ?? {};
    return actionType === EMIT_EVENT ? [String(options?.['name'])] : [];
  });
  events.assertRoom(names, bytes, begin);
}

export type RouteOutcome = {
  readonly name: string;
  readonly result: ActionResult;
  readonly dataJson: string;
  /**
   * An error of a built-in action about our own state, such as `unavailable`; the result is failed.
   */
  readonly refusal: AppError | null;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly durationMs: number;
};

export function findMatchingRoutes(
  routes: readonly ReadyWebhookRoute[], facts: Facts,
): readonly ReadyWebhookRoute[] {
  return routes.filter(({ matches }) => matches === null || matches(facts));
}

/** Returns no promise when the action gave its result at once. Throws what `runAction` throws. */
export function runRouteAction(
  { configurations, actions, runner }: ConfiguredActions,
  { actionConfiguration }: ReadyWebhookRoute, call: RouteCall,
): MaybePromise<ActionResult> {
  const configuration = configurations.find(actionConfiguration);
  const action = configuration === undefined ? undefined : actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    const { actionType = null } = configuration ?? {};
    call.log.error('the action of an incoming webhook is not there', {
      configuration: actionConfiguration, actionType,
    });
    const recordMessage = `The action ${actionType ?? 'of the route'} is not there`;
    return new DetailedRunResult(false, FAILED_MESSAGE, {}, { recordMessage });
  }
  call.configurationId = actionConfiguration;
  call.options = configuration.options;
  return runAction(action, call, runner);
}

/**
 * Resolves with the outcomes in the order of `routes`; returns no promise when all runs ended at
 * once. The actions of a body with many bytes begin in turns. Rejects for a bug alone.
 */
export function runRoutes(
  actions: ConfiguredActions, turns: Turns, routes: readonly ReadyWebhookRoute[],
  makeCall: () => RouteCall, bodyBytes: number,
): MaybePromise<readonly RouteOutcome[]> {
  if (routes.length > 1 && bodyBytes > TURN_BYTES_MAX) {
    return turns.run(beginRoutes(actions, routes, makeCall))
      .then((runs) => Promise.all(runs ?? []));
  }
  const runs = routes.map((route) => runRoute(actions, route, makeCall()));
  const outcomes: RouteOutcome[] = [];
  for (const run of runs) {
    if (isPromise(run)) return Promise.all(runs);
    outcomes.push(run);
  }
  return outcomes;
}

/** Each step begins the run of a route. */
function* beginRoutes(
  actions: ConfiguredActions, routes: readonly ReadyWebhookRoute[], makeCall: () => RouteCall,
): Steps<MaybePromise<RouteOutcome>[]> {
  const runs: MaybePromise<RouteOutcome>[] = [];
  for (const route of routes) {
    const run = runRoute(actions, route, makeCall());
    // The run is awaited once all have begun, and a bug may reject it before that.
    if (isPromise(run)) run.catch(() => {});
    runs.push(run);
    yield;
  }
  return runs;
}

/** Returns no promise when the action gave its result at once. Never throws: a bug rejects. */
export function runRoute(
  actions: ConfiguredActions, route: ReadyWebhookRoute, call: RouteCall,
): MaybePromise<RouteOutcome> {
  const { clock } = actions.runner;
  const startedAtMs = clock.now();
  const startedMs = clock.monotonicMs();
  const finish = (result: ActionResult, refusal: AppError | null = null): RouteOutcome => {
    const dataJson = encodeData(result.data, call);
    return {
      name: route.name, dataJson: dataJson ?? '{}', refusal, startedAtMs,
      result: dataJson === null ? ActionResult.fail(FAILED_MESSAGE) : result,
      durationMs: clock.monotonicMs() - startedMs,
    };
  };
  const refuse = (thrown: unknown): MaybePromise<RouteOutcome> => thrown instanceof AppError
    ? finish(ActionResult.fail(FAILED_MESSAGE), thrown) : Promise.reject(thrown);
  try {
    const result = runRouteAction(actions, route, call);
    return isPromise(result) ? result.then(finish, refuse) : finish(result);
  } catch (thrown) {
    return refuse(thrown);
  }
}
