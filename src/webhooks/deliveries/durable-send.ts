/**
 * Sends to one outgoing webhook durably, whatever it listens to: an event that is `to` this webhook
 * and that nobody else hears, with its one delivery. A delayed one has its delivery at once, whose
 * first attempt is at that time; it is no delayed event, as who hears it is known.
 */
import { nextHop } from '../../base/webhook-chain.ts';
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Transaction } from '../../store/store-port.ts';
import { findEmitProblem } from '../actions/event-name.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { RelayContext } from '../relay-context.ts';
import { stageEventWithDelivery } from './delivery-changes.ts';
import type { Delivery } from './delivery.ts';
import type { EventOrigin, EventTerms } from './event-publisher.ts';
import { encodeEvent, type EventHead } from './event-record.ts';
import type { QueueCapacity } from './queue-capacity.ts';

/** The event of a send without a name. */
export const SENT_EVENT_NAME = 'send';
export const SENT_BY_HAND = 'hookshelf.send';

export function nameSentEvent(
  { event }: Pick<Delivery, 'event'>, { to }: Pick<EventHead, 'to'>,
): string {
  const isSentByHand = event === null || (event === SENT_EVENT_NAME && to !== null);
  return isSentByHand ? SENT_BY_HAND : event;
}

export type DurableSend = EventOrigin & EventTerms & {
  readonly webhook: string;
  readonly name: string;
  readonly payloadJson: string;
};

/**
 * Resolves with the delivery. What `onStaged` stages is committed with it. Throws `not_found`;
 * `invalid` for a bad name or a chain that is too long; `unavailable` when the queue is full.
 */
export async function sendDurably(
  { store, clock, makeId }: RelayContext, webhooks: Pick<OutgoingWebhookIndex, 'getNamed'>,
  capacity: Pick<QueueCapacity, 'reserve'>, send: DurableSend,
  onStaged: (transaction: Transaction, delivery: Delivery) => void,
): Promise<Delivery> {
  const { webhook: webhookName, name, payloadJson, hops } = send;
  const webhook = await webhooks.getNamed(webhookName);
  const problem = findEmitProblem(name);
  if (problem !== null) throw new AppError('invalid', `the event ${problem}`);
  const { webhook: label, target } = webhook.labels;
  nextHop(hops, () => `the event ${name}, which webhook ${label} sends to ${target}`);
  const { identifier: hook } = webhook;
  const eventId = makeId();
  const createdAt = formatTimestamp(clock.now());
  const head = {
    ...send, identifier: eventId, createdAt, to: hook, webhookIds: [hook], hops: hops + 1,
  };
  const json = encodeEvent(head, payloadJson);
  const bytes = Buffer.byteLength(payloadJson);
  return store.transact((transaction) => {
    if (transaction.find(outgoingCollection.name, hook) === undefined) {
      throw notFoundError('outgoing webhook', webhookName);
    }
    capacity.reserve(transaction, 1, bytes, { webhookIds: [hook] });
    const delivery = stageEventWithDelivery(transaction, head, json);
    onStaged(transaction, delivery);
    return delivery;
  });
}
