/** An event as callers see it, made from its record without parsing the payload. */
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { decodeDelivery } from '../deliveries/delivery-codec.ts';
import { deliveryCollection, type DeliveryStatus } from '../deliveries/delivery.ts';
import { findLateDeliveries } from '../deliveries/late-deliveries.ts';
import {
  decodeEventDeliveries, decodeEventHead, isEventHeard, readPayloadBytes, type EventSource,
} from '../deliveries/event-record.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';

export type PublicEvent = {
  readonly id: string;
  readonly createdAt: string;
  readonly name: string;
  readonly source: EventSource;
  readonly key: string | null;
  /** When its deliveries begin, if later than it was made. */
  readonly deliverAt: string | null;
  readonly hops: number;
  readonly payloadBytes: number;
  /** Whether it has or had a delivery. */
  readonly heard: boolean;
};

type EventDelivery = {
  readonly identifier: string;
  /** null: it is not known any more. */
  readonly hook: string | null;
  /** null: the webhook has no name, or is not known. */
  readonly hookName: string | null;
  /** null: the delivery is not kept any more. */
  readonly status: DeliveryStatus | null;
};

export type PublicEventWithDeliveries = PublicEvent & {
  /** The first ones, in the order in which they were made. */
  readonly deliveries: readonly EventDelivery[];
};

const DELIVERIES_SHOWN_MAX = 100;

/** `find` finds what stands beside the event. */
export function toPublicEvent(record: Buffer, find: FindRecord): PublicEvent {
  const head = decodeEventHead(record);
  const { identifier: id, createdAt, name, source, key, deliverAt, hops } = head;
  return {
    id, createdAt, name: name ?? '', source, key, deliverAt, hops,
    payloadBytes: readPayloadBytes(record).length,
    heard: isEventHeard(find, id, record),
  };
}

/** Lists the first deliveries of an event, those that are not kept any more among them. */
export function listEventDeliveries(
  store: Store, webhooks: Pick<OutgoingWebhookIndex, 'find'>, id: string, record: Buffer,
): readonly EventDelivery[] {
  const find = findCommitted(store);
  const { deliveries, webhookIds } = decodeEventDeliveries(record);
  const late = findLateDeliveries({ find }, id);
  const listed = [
    ...deliveries.map((identifier, index) => [identifier, webhookIds[index]] as const),
    ...late.deliveries.map((identifier, index) => [identifier, late.webhookIds[index]] as const),
  ];
  return listed.slice(0, DELIVERIES_SHOWN_MAX).map(([identifier, webhookId = null]) => {
    const bytes = find(deliveryCollection.name, identifier);
    const { hook, status } = bytes === undefined ? { hook: webhookId, status: null }
      : decodeDelivery(bytes);
    const hookName = hook === null ? null : webhooks.find(hook)?.name ?? null;
    return { identifier, hook, hookName, status };
  });
}
