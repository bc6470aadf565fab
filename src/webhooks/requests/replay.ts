/**
 * A request that an operator runs again: as the same record, so that whoever is called may know it
 * by its id and drop it, or as a new one. Either way it is pending, and is run in the background.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { invalid, pointerStep } from '../../base/fields.ts';
import { carriedBody } from './body.ts';
import { pendingRoute, withRoutes, type KeptRequest, type RouteRun } from './request.ts';

export type ReplayOptions = {
  /** null: the usual ones, see `chooseRoutes`. */
  readonly routes: readonly string[] | null;
  readonly isNew: boolean;
};

/** The routes that the webhook of a request has now. */
export type KnownRoutes = {
  readonly names: readonly string[];
  /** Those of them that the request matches. */
  matching(): readonly string[];
};

/** The same request with routes due at once, each with its whole schedule before it. */
export function retriedRequest(
  before: KeptRequest, names: readonly string[], nowMs: number,
): KeptRequest {
  const at = formatTimestamp(nowMs);
  const due = (route: RouteRun): RouteRun => names.includes(route.name)
    ? { ...route, status: 'pending', nextAttemptAt: at, failures: 0 } : route;
  const known = before.routes.map(({ name }) => name);
  const added = names.filter((name) => !known.includes(name))
    .map((name) => pendingRoute(name, at));
  return {
    ...withRoutes(before, [...before.routes.map(due), ...added], nowMs), isReplay: true,
  };
}

/** A new request that came as `source` did. */
export function copiedRequest(
  source: KeptRequest, body: Buffer, names: readonly string[],
  drawn: { readonly id: string; readonly nowMs: number },
): KeptRequest {
  const at = formatTimestamp(drawn.nowMs);
  return {
    ...source, id: drawn.id, receivedAt: at, updatedAt: at, status: 'pending', pinned: false,
    routes: names.map((name) => pendingRoute(name, at)), answered: null, duplicateOf: null,
    replayOf: source.id, isReplay: true,
    carried: carriedBody(body, 'pending'),
  };
}

/**
 * The names that were asked for; else, of a request that is not done, the routes that are not; else
 * all that it matches now. Throws `invalid` for a name that the webhook has not, `conflict` when
 * none is left.
 */
export function chooseRoutes(
  request: KeptRequest, known: KnownRoutes, asked: readonly string[] | null,
): readonly string[] {
  const { names } = known;
  if (asked !== null) {
    const errors = asked.flatMap((name, index) => names.includes(name) ? [] : [{
      pointer: `/routes${pointerStep(index)}`,
      detail: `is no route of the webhook, which has ${names.join(', ')}`,
    }]);
    if (errors.length > 0) throw invalid(errors);
    return asked;
  }
  const { status, routes } = request;
  const isUnfinished = status === 'failed' || status === 'pending';
  const chosen = isUnfinished
    ? routes.filter((route) => route.status !== 'done').map(({ name }) => name)
      .filter((name) => names.includes(name))
    : known.matching();
  if (chosen.length > 0) return chosen;
  const reason = isUnfinished ? 'the webhook no longer has the routes that failed'
    : 'no route of the webhook matches the request';
  throw new AppError('conflict', `${reason}: name others in \`routes\``);
}
