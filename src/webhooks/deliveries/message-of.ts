/** Finds the message of a stored delivery, wherever it is kept. */
import { CHAIN_HEADER, hopsOf } from '../../base/chain.ts';
import type { Store } from '../../store/port.ts';
import type { KnownDelivery } from './delivery.ts';
import { decodeForward, depthOf, eventCollection, payloadOf } from './message.ts';

/** The record that has the message; undefined when it is not there any more. */
export function messageBytesOf(store: Store, { bytes, item }: KnownDelivery): Buffer | undefined {
  return item.carried === null
    ? store.collection(eventCollection.name).bytesOf(item.message) : bytes;
}

/** The length of the chain that a delivery is a hop of; 0 when its message is gone. */
export function hopsOfDelivery(store: Store, known: KnownDelivery): number {
  const bytes = messageBytesOf(store, known);
  if (bytes === undefined) return 0;
  return payloadOf(bytes) === null
    ? hopsOf(decodeForward(bytes).headers[CHAIN_HEADER]) : depthOf(bytes);
}
