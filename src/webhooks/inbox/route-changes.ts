/**
 * Follows the pending deliveries of requests to their routes, whatever form the requests have:
 * deliveries that are records of their own, and those within the record of a request of the old
 * form (request-codec.ts).
 */
import type { Change, Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { readStatus } from '../deliveries/delivery-codec.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { createRouteDeliveryId, isRouteDeliveryId } from '../deliveries/route-delivery-id.ts';
import { decodeOldRoutes, hasOldForm } from './request-codec.ts';
import { decodeRoute, readRouteWebhookId } from '../deliveries/route-record.ts';
import type { RouteDelivery } from '../deliveries/route-delivery.ts';
import { requestCollection } from './stored-request.ts';

export type RouteChange = {
  /** The id of the delivery. */
  readonly id: string;
  /** False for a delivery that was not there before. */
  readonly isChanged: boolean;
  /** null: it is not pending, or was deleted with its request. */
  readonly pending: { readonly webhookId: string; readonly route: RouteDelivery } | null;
};

/** Calls `apply` for every delivery there is, then for every change, until the result is called. */
export function followPendingRoutes(
  store: Pick<Store, 'collection'>, apply: (change: RouteChange) => void,
): () => void {
  const unfollow = [
    followRecords(store.collection(deliveryCollection.name), ({ id, before, after }) => {
      if (!isRouteDeliveryId(id)) return;
      const isPending = after !== null && readStatus(after) === 'pending';
      apply({
        id, isChanged: before !== null,
        pending: isPending
          ? { webhookId: readRouteWebhookId(after), route: decodeRoute(after) } : null,
      });
    }),
    followRecords(store.collection(requestCollection.name), (change) =>
      applyOldForm(change, apply)),
  ];
  return () => {
    for (const end of unfollow) end();
  };
}

function applyOldForm(
  { id: requestId, before, after }: Change, apply: (change: RouteChange) => void,
): void {
  const isOldNow = after !== null && hasOldForm(after);
  const wasOld = before !== null && hasOldForm(before);
  // A request that is written in the new form got its deliveries before, in the same transaction.
  if (!isOldNow && (!wasOld || after !== null)) return;
  const source = isOldNow ? after : before;
  if (source === null) return;
  const { hook: webhookId, routes } = decodeOldRoutes(source);
  for (const [index, route] of routes.entries()) {
    const id = createRouteDeliveryId(requestId, index);
    const isPending = isOldNow && route.status === 'pending';
    apply({ id, isChanged: wasOld, pending: isPending ? { webhookId, route } : null });
  }
}
