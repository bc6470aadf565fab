/**
 * Replays a request for an operator: either the same request (`retryRequest`), so that a receiver
 * may recognize its id and drop it, or a copy with a new id (`copyRequest`; `isNew`). Either way it
 * becomes pending and runs in the background.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { invalid, pointerStep } from '../../base/fields.ts';
import { createInlineBody } from './request-body.ts';
import {
  countsAsQueued, createRouteDeliveries, createRouteDelivery, resetForRetry, getRouteName,
} from '../deliveries/delivery.ts';
import { changeDeliveries, type StoredRequest } from '../incoming/stored-request.ts';

export type ReplayOptions = {
  /** null: the default routes, see `chooseRoutes`. */
  readonly routes: readonly string[] | null;
  readonly isNew: boolean;
};

/** The routes that the webhook of a request has by now. */
export type AvailableRoutes = {
  readonly names: readonly string[];
  listMatching(): readonly string[];
};

/** Returns the request with these routes due at once, each with its whole schedule ahead. */
export function retryRequest(
  before: StoredRequest, names: readonly string[], nowMs: number,
): StoredRequest {
  const at = formatTimestamp(nowMs);
  const existingNames = before.deliveries.map(getRouteName);
  const newNames = names.filter((name) => !existingNames.includes(name));
  const after = changeDeliveries(before, nowMs, (deliveries, updatedAt) => [
    ...deliveries.map((delivery) => names.includes(getRouteName(delivery))
      ? resetForRetry(delivery, nowMs, updatedAt) : delivery),
    // The time in the queue is now: the id of an old request would put it before all that wait.
    ...newNames.map((name, position) =>
      createRouteDelivery(before, deliveries.length + position, name, at, at)),
  ]);
  return { ...after, isReplay: true };
}

/** Makes a new pending request with the content of `source`. */
export function copyRequest(
  source: StoredRequest, body: Buffer, names: readonly string[],
  inputs: { readonly id: string; readonly nowMs: number },
): StoredRequest {
  const at = formatTimestamp(inputs.nowMs);
  return {
    ...source, id: inputs.id, receivedAt: at, updatedAt: at, status: 'pending', pinned: false,
    deliveries: createRouteDeliveries({ id: inputs.id, hook: source.hook }, names, at),
    answered: null, duplicateOf: null, replayOf: source.id, isReplay: true,
    inlineBody: createInlineBody(body),
  };
}

/**
 * Chooses the routes to run: the requested ones; by default those that are not done, or all that
 * the request matches now if none failed or waits. Throws `invalid` for a name that the webhook
 * does not have, and `conflict` when no route is left.
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
  const { status, deliveries } = request;
  const isUnfinished = status === 'failed' || status === 'pending';
  const defaultNames = !isUnfinished ? available.listMatching()
    : deliveries.filter((delivery) => countsAsQueued(delivery.status)).map(getRouteName)
      .filter((name) => names.includes(name));
  if (defaultNames.length > 0) return defaultNames;
  const reason = isUnfinished ? 'the webhook no longer has the routes that failed or wait'
    : 'no route of the webhook matches the request';
  throw new AppError('conflict', `${reason}: name others in \`routes\``);
}
