/** Shows the delivery of a request to a route as callers see it, among the other deliveries. */
import type { SearchedRecord } from '../search/search-query.ts';
import type { PublicDelivery } from './delivery.ts';
import { getListedStatus } from './delivery-list.ts';
import { parseRequestId } from './route-delivery-id.ts';
import type { ListedRoute } from './route-record.ts';

/** Looks up what the deliveries of routes show of their requests and incoming webhooks. */
export type RequestLookup = {
  /** Finds the name that the sender of a request gives to its event; null: it gives none. */
  readonly findEvent: (requestId: string) => string | null;
  /** For searches of deliveries: what they see of a request; null: it is gone. */
  readonly findSearched: (requestId: string) => SearchedRecord<unknown> | null;
  readonly findWebhook: (identifier: string) =>
    { readonly name?: string | undefined; readonly enabled: boolean } | undefined;
};

export function toPublicRoute(
  delivery: ListedRoute, { findEvent, findWebhook }: RequestLookup,
): PublicDelivery {
  const { identifier, hook, route: { name, createdAt, nextAttemptAt, attempts } } = delivery;
  const status = getListedStatus(delivery);
  const request = parseRequestId(identifier);
  const webhook = findWebhook(hook);
  const waitsFor = status === 'pending' && webhook?.enabled === false ? 'webhook' : null;
  return {
    identifier, kind: 'route', hook, hookName: webhook?.name ?? null, target: null,
    event: findEvent(request), eventId: null, request, route: name, status, createdAt,
    nextAttemptAt, waitsFor, resendOf: null, attempts,
  };
}
