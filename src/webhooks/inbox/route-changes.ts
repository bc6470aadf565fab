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
import { decodeOldRoutes, hasOldForm, readWebhookId } from './request-codec.ts';
import { decodeRoute, readRouteWebhookId } from '../deliveries/route-record.ts';
import type { RouteDelivery } from '../deliveries/route-delivery.ts';
import { requestCollection } from './stored-request.ts';

export type RouteChange = {
  /** The id of the delivery. */
  readonly id: string;
  /** False for a new delivery, also for one that is new as its request is converted. */
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
  const wasOld = before !== null && hasOldForm(before);
  const applyRoutes = (record: Buffer, isDeleted: boolean): void => {
    const webhookId = readWebhookId(record);
    for (const [index, route] of decodeOldRoutes(record).entries()) {
      const isPending = !isDeleted && route.status === 'pending';
      apply({
        id: createRouteDeliveryId(requestId, index), isChanged: wasOld,
        pending: isPending ? { webhookId, route } : null,
      });
    }
  };
  if (after !== null && hasOldForm(after)) applyRoutes(after, false);
  if (after === null && wasOld) applyRoutes(before, true);
  // Nothing to do for the new form: its deliveries were applied before, as records of their own.
}
