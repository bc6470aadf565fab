/**
 * A request that an operator runs again: as the same record, so that whoever is called may know it
 * by its id and drop it, or as a new one. Either way it is pending, and is run in the background.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { invalid, pointerStep } from '../../base/fields.ts';
import { createInlineBody } from './request-body.ts';
import {
  createPendingRoute, withRoutes, type StoredRequest, type RouteRun,
} from './stored-request.ts';

export type ReplayOptions = {
  /** null: the usual ones, see `chooseRoutes`. */
  readonly routes: readonly string[] | null;
  readonly isNew: boolean;
};

/** The routes that the webhook of a request has now. */
export type AvailableRoutes = {
  readonly names: readonly string[];
  /** Those of them that the request matches. */
  listMatching(): readonly string[];
};

/** The same request with routes due at once, each with its whole schedule before it. */
export function retryRequest(
  before: StoredRequest, names: readonly string[], nowMs: number,
): StoredRequest {
  const at = formatTimestamp(nowMs);
  const makeDue = (route: RouteRun): RouteRun => names.includes(route.name)
    ? { ...route, status: 'pending', nextAttemptAt: at, failures: 0 } : route;
  const existingNames = before.routes.map(({ name }) => name);
  const added = names.filter((name) => !existingNames.includes(name))
    .map((name) => createPendingRoute(name, at));
  return {
    ...withRoutes(before, [...before.routes.map(makeDue), ...added], nowMs), isReplay: true,
  };
}

/** A new request that came as `source` did. */
export function copyRequest(
  source: StoredRequest, body: Buffer, names: readonly string[],
  inputs: { readonly id: string; readonly nowMs: number },
): StoredRequest {
  const at = formatTimestamp(inputs.nowMs);
  return {
    ...source, id: inputs.id, receivedAt: at, updatedAt: at, status: 'pending', pinned: false,
    routes: names.map((name) => createPendingRoute(name, at)), answered: null, duplicateOf: null,
    replayOf: source.id, isReplay: true,
    inlineBody: createInlineBody(body, 'pending'),
  };
}

/**
 * The names that were asked for; else, of a request that is not done, the routes that are not; else
 * all that it matches now. Throws `invalid` for a name that the webhook has not, `conflict` when
 * none is left.
 */
export function chooseRoutes(
  request: StoredRequest, available: AvailableRoutes, requestedNames: readonly string[] | null,
): readonly string[] {
  const { names } = available;
  if (requestedNames !== null) {
    const errors = requestedNames.flatMap((name, index) => names.includes(name) ? [] : [{
      pointer: `/routes${pointerStep(index)}`,
      detail: `is no route of the webhook, which has ${names.join(', ')}`,
    }]);
    if (errors.length > 0) throw invalid(errors);
    return requestedNames;
  }
  const { status, routes } = request;
  const isUnfinished = status === 'failed' || status === 'pending';
  const chosen = isUnfinished
    ? routes.filter((route) => route.status !== 'done').map(({ name }) => name)
      .filter((name) => names.includes(name))
    : available.listMatching();
  if (chosen.length > 0) return chosen;
  const reason = isUnfinished ? 'the webhook no longer has the routes that failed'
    : 'no route of the webhook matches the request';
  throw new AppError('conflict', `${reason}: name others in \`routes\``);
}
