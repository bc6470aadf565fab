/** Decodes deliveries of every kind as a list has them. */
import { decodeDelivery } from './delivery-codec.ts';
import type { Delivery } from './delivery.ts';
import type { RouteDelivery } from './route-delivery.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';
import { decodeRoute, readRouteWebhookId } from './route-record.ts';

/** The delivery of a request to a route, with the webhook that the route is of. */
export type ListedRoute = {
  readonly identifier: string; readonly hook: string; readonly route: RouteDelivery;
};

export function decodeListed(bytes: Buffer, id: string): Delivery | ListedRoute {
  return isRouteDeliveryId(id) ? decodeListedRoute(bytes, id) : decodeDelivery(bytes);
}

/** Decodes the record of a delivery to a route. */
export function decodeListedRoute(bytes: Buffer, id: string): ListedRoute {
  return { identifier: id, hook: readRouteWebhookId(bytes), route: decodeRoute(bytes) };
}
