/** Deliveries of every kind as a list has them. */
import { decodeDelivery } from './delivery-codec.ts';
import type { Delivery, ListedStatus } from './delivery.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';
import { decodeListedRoute, type ListedRoute } from './route-record.ts';

export type ListedDelivery = Delivery | ListedRoute;

export function decodeListed(bytes: Buffer, id: string): ListedDelivery {
  return isRouteDeliveryId(id) ? decodeListedRoute(bytes) : decodeDelivery(bytes);
}

const LISTED_STATUS = {
  pending: 'pending', done: 'delivered', failed: 'failed', coalesced: 'coalesced',
} as const;

/** The status that a delivery is listed and shown with. */
export function getListedStatus(listed: ListedDelivery): ListedStatus {
  return 'route' in listed ? LISTED_STATUS[listed.route.status] : listed.status;
}

export function getCreatedAt(listed: ListedDelivery): string {
  return 'route' in listed ? listed.route.createdAt : listed.createdAt;
}
