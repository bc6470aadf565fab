/** From a stored delivery to the request that an attempt sends. */
import { AppError, messageOf } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Store } from '../../store/port.ts';
import type { BodyMaker } from './body.ts';
import { deliveryCollection, readDelivery, type Delivery, type Outcome } from './delivery.ts';
import { changeDelivery } from './ledger.ts';
import { eventCollection, payloadOf, readMessage, type Message } from './message.ts';
import type { OutgoingIndex, ReadyOutgoing } from './outgoing-index.ts';
import { shipmentOf, type Shipment } from './sender.ts';

export type ShippingParts = {
  readonly store: Store;
  readonly hooks: OutgoingIndex;
  readonly bodies: BodyMaker;
  readonly clock: Clock;
};

/**
 * What to send, with what the hook's record says now; or the failure that nothing could be sent;
 * or null when the delivery is not to be attempted any more. The body that an action or a template
 * makes is stored before the first attempt, so that every retry sends the same bytes.
 */
export async function prepareShipment(
  parts: ShippingParts, identifier: string,
): Promise<Prepared | null> {
  const bytes = parts.store.collection(deliveryCollection.name).find(identifier)?.bytes;
  const delivery = bytes === undefined ? null : readDelivery(bytes);
  if (delivery === null || delivery.status !== 'pending') return null;
  const messageBytes = parts.store.collection(eventCollection.name).find(delivery.message)?.bytes;
  if (messageBytes === undefined) return { failure: failureOf(parts.clock, 'its payload is gone') };
  const message = readMessage(messageBytes);
  if (delivery.hook === null) return { shipment: forwardShipment(identifier, message) };
  const hook = parts.hooks.find(delivery.hook);
  if (hook === undefined || !hook.enabled) return null;
  return prepareFor(parts, hook, delivery, message.depth, payloadOf(messageBytes));
}

export type Prepared =
  | { readonly shipment: Shipment; readonly isPayload?: boolean }
  | { readonly failure: Outcome };

async function prepareFor(
  parts: ShippingParts, hook: ReadyOutgoing, delivery: Delivery, depth: number, payload: Buffer,
): Promise<Prepared | null> {
  const { identifier } = delivery;
  const ship = (body: Buffer): Shipment => shipmentOf(hook, identifier, body, depth);
  if (delivery.body !== undefined) return { shipment: ship(Buffer.from(delivery.body, 'utf8')) };
  if (delivery.isPayload === true || !parts.bodies.isMade(hook)) {
    return { shipment: ship(payload), isPayload: true };
  }
  let body: Buffer;
  try {
    body = await parts.bodies.make(hook, payload, depth);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return { failure: failureOf(parts.clock, messageOf(thrown)) };
  }
  const text = body.toString('utf8');
  await parts.store.transact((transaction) =>
    changeDelivery(transaction, identifier, (before) =>
      before.status === 'pending' ? { ...before, body: text } : null));
  // That took a while: the delivery may be cancelled by now, or its hook another.
  return prepareShipment(parts, identifier);
}

function forwardShipment(id: string, { forward, text = null }: Message): Shipment {
  const { url = '', method = 'POST', headers = {} } = forward ?? {};
  const body = text === null ? null : Buffer.from(text, 'utf8');
  return { id, url, method, headers, secret: null, body };
}

/** An attempt that failed before anything could go out. */
export function failureOf(clock: Clock, error: string): Outcome {
  const at = new Date(clock.now()).toISOString();
  const attempt = { at, durationMs: 0, statusCode: null, error, response: null };
  return { kind: 'failed', attempt, retryAfterMs: 0, isUnsent: true };
}

/** `host:port` that a queued forward goes to. */
export function forwardHost(store: Store, message: string): string {
  const bytes = store.collection(eventCollection.name).find(message)?.bytes;
  const url = bytes === undefined ? undefined : readMessage(bytes).forward?.url;
  return url !== undefined && URL.canParse(url) ? new URL(url).host : '';
}
