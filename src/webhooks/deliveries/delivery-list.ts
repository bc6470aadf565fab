/** Deliveries of every kind as a list has them. */
import { decodeDelivery } from './delivery-codec.ts';
import type { Delivery, ListedStatus } from './delivery.ts';
import type { RouteDelivery } from './route-delivery.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';
import { decodeRoute, readRouteWebhookId } from './route-record.ts';

/** The delivery of a request to a route, with the webhook that the route is of. */
export type ListedRoute = {
  readonly identifier: string; readonly hook: string; readonly route: RouteDelivery;
};

export type ListedDelivery = Delivery | ListedRoute;

export function decodeListed(bytes: Buffer, id: string): ListedDelivery {
  return isRouteDeliveryId(id) ? decodeListedRoute(bytes, id) : decodeDelivery(bytes);
}

const ROUTE_STATUSES = {
  pending: 'pending', done: 'delivered', failed: 'failed', coalesced: 'coalesced',
} as const;

/** The status that a delivery is listed and shown with. */
export function getListedStatus(listed: ListedDelivery): ListedStatus {
  return 'route' in listed ? ROUTE_STATUSES[listed.route.status] : listed.status;
}

export function getCreatedAt(listed: ListedDelivery): string {
  return 'route' in listed ? listed.route.createdAt : listed.createdAt;
}

/** Decodes the record of a delivery to a route. */
export function decodeListedRoute(bytes: Buffer, id: string): ListedRoute {
  return { identifier: id, hook: readRouteWebhookId(bytes), route: decodeRoute(bytes) };
}
