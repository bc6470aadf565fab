/** An event as callers see it, made from its record without parsing the payload. */
import type { AnswerOf } from '../../base/schema-types.ts';
import { COUNT, FLAG, TEXT, TIME, arraySchema, objectSchema } from '../../resources/route-specs.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { decodeDelivery } from '../deliveries/delivery-codec.ts';
import {
  OUTGOING_STATUSES, deliveryCollection, type OutgoingStatus,
} from '../deliveries/delivery.ts';
import { findLateDeliveries } from '../deliveries/late-deliveries.ts';
import {
  decodeEventDeliveries, decodeEventHead, isEventHeard, readPayloadBytes, EVENT_SOURCE_NAMES,
} from '../deliveries/event-record.ts';
import type { Visibility } from '../members/visibility.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';

const members = {
  id: TEXT, createdAt: TIME, name: TEXT,
  source: [
    { kind: 'string', values: EVENT_SOURCE_NAMES },
    'Who made it: a change of the catalog, a caller of the API, a command on the '
      + 'machine of the server, an action, or hookshelf itself (`own`)',
  ],
  key: TEXT,
  deliverAt: [TIME, 'When its deliveries begin; null: at once'],
  hops: COUNT, payloadBytes: COUNT, heard: [FLAG, 'Whether it has or had a delivery'],
} as const;
const nullable = ['key', 'deliverAt'] as const;
// `hidePayloadMembers` leaves these out.
const optional = ['key', 'source'] as const;

export const keptEventSchema = objectSchema('KeptEvent', members, { nullable, optional });

const eventDeliverySchema = objectSchema('EventDelivery', {
  identifier: TEXT, hook: [TEXT, 'null: it is not known any more'],
  hookName: [TEXT, 'What people call the webhook; null without a name'],
  status: [
    { kind: 'string', values: OUTGOING_STATUSES },
    'null: the delivery is not kept any more',
  ],
}, { nullable: ['hook', 'hookName', 'status'] });

export const eventWithDeliveriesSchema = objectSchema('KeptEventWithDeliveries', {
  ...members,
  deliveries: [arraySchema(eventDeliverySchema), 'The first ones, in the order they were made'],
}, { nullable, optional });

export type PublicEvent = AnswerOf<typeof keptEventSchema>;
type EventDelivery = AnswerOf<typeof eventDeliverySchema>;
export type PublicEventWithDeliveries = AnswerOf<typeof eventWithDeliveriesSchema>;

const DELIVERIES_SHOWN_MAX = 100;

export function toPublicEvent(record: Buffer, find: FindRecord): PublicEvent {
  const head = decodeEventHead(record);
  const { identifier: id, createdAt, name, source, key, deliverAt, hops } = head;
  return {
    id, createdAt, name: name ?? '', source, key, deliverAt, hops,
    payloadBytes: readPayloadBytes(record).length,
    heard: isEventHeard(find, id, record),
  };
}

/** The event for somebody who was not sent its payload. */
export function hidePayloadMembers({ key: _, source: __, ...event }: PublicEvent): PublicEvent {
  return event;
}

/** Lists the first deliveries of an event that the caller sees, also those not kept any more. */
export function listEventDeliveries(
  store: Store, webhooks: Pick<OutgoingWebhookIndex, 'find'>, id: string, record: Buffer,
  visibility: Visibility | null,
): readonly EventDelivery[] {
  const find = findCommitted(store);
  const { deliveries, webhookIds } = decodeEventDeliveries(record);
  const lateDeliveries = findLateDeliveries({ find }, id);
  const allDeliveries = [
    ...deliveries.map((identifier, index) => [identifier, webhookIds[index]] as const),
    ...lateDeliveries.deliveries.map((identifier, index) =>
      [identifier, lateDeliveries.webhookIds[index]] as const),
  ];
  const visibleDeliveries = visibility === null ? allDeliveries
    : allDeliveries.filter(([, webhookId = null]) => visibility.seesEvent([webhookId]));
  return visibleDeliveries.slice(0, DELIVERIES_SHOWN_MAX).map(([identifier, webhookId = null]) => {
    const bytes = find(deliveryCollection.name, identifier);
    const { hook, status } = bytes === undefined ? { hook: webhookId, status: null }
      : decodeDelivery(bytes);
    const hookName = hook === null ? null : webhooks.find(hook)?.name ?? null;
    // Only a delivery to a route is coalesced, and it has no event.
    return { identifier, hook, hookName, status: status as OutgoingStatus | null };
  });
}
