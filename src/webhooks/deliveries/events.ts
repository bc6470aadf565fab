/**
 * Turns events into deliveries. They are staged in the transaction of whatever caused the event, so
 * that the cause and its deliveries are one line on disk, or none.
 */
import { nextHop } from '../../base/chain.ts';
import { AppError } from '../../base/errors.ts';
import { timeText } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { Drawn, Store, Transaction } from '../../store/port.ts';
import type { QueuedForward } from '../actions/http-forward.ts';
import { newDelivery } from './delivery.ts';
import { putFanOut, type FanOuts } from './fan-out.ts';
import { CHUNK } from '../work/kind.ts';
import { acceptDeliveries, deliveryKind } from './unit-of-work.ts';
import {
  CARRIED_LENGTH_MAX, encodeMessage, eventMembers, forwardMembers,
} from './message.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';
import { isEventName, refuseEventName } from '../actions/event-name.ts';
import { outgoingCollection } from '../outgoing/webhook.ts';
import type { Capacity } from './capacity.ts';

export interface Events {
  /**
   * Stages the deliveries of an event and returns their identifiers. Throws `invalid` for a bad
   * name or too long a chain, `unavailable` when the queue is full. `payloadJson` is JSON, sent as
   * it is; `reservedBytes` of it are reserved in the queue's capacity already. The webhook `except`
   * is not told.
   */
  emit(
    transaction: Transaction, drawn: Drawn, name: string, payloadJson: string,
    more?: { readonly reservedBytes?: number; readonly except?: string | null },
  ): readonly string[];
  /** Whether a webhook listens to events of that name; if none does, no payload need be made. */
  isHeard(name: string): boolean;
  /**
   * `emit` in a transaction of its own; `hops` is the length of the chain that led to it. What
   * `onEmitted` stages, who is told the deliveries, is committed with them.
   */
  emitText(
    name: string, payloadJson: string, hops?: number,
    onEmitted?: (transaction: Transaction, deliveries: readonly string[]) => void,
  ): Promise<string[]>;
  /** `emitText` with a program's value. Throws `invalid` also for what cannot be JSON. */
  emitNow(name: string, payload: unknown): Promise<string[]>;
  /** Accepts one request to be sent durably; returns the delivery's identifier. */
  queueForward(forward: QueuedForward): Promise<string>;
}

export function createEvents(parts: {
  readonly store: Store;
  readonly hooks: OutgoingIndex;
  readonly fanOuts: Pick<FanOuts, 'settled'>;
  readonly makeId: () => string;
  readonly clock: Clock;
  readonly capacity: Capacity;
}): Events {
  const { store, hooks, fanOuts, makeId, clock, capacity } = parts;
  const emit: Events['emit'] = (transaction, drawn, name, payloadJson, more = {}) => {
    const { reservedBytes = 0, except = null } = more;
    if (!isEventName(name)) {
      throw new AppError('invalid', `the name ${refuseEventName(name)}`);
    }
    const depth = nextHop(drawn.hops);
    const hearing = hooks.hearing(name, () => JSON.parse(payloadJson) as JsonValue);
    const matching = except === null ? hearing : hearing.filter((hook) => hook !== except);
    // The index has the committed hooks; one may be removed in a transaction that is staged. Where
    // there are very many, none is looked up: the delivery of a removed one is cancelled later.
    const heard = matching.length > CHUNK ? matching : matching.filter((hook) =>
      transaction.find(outgoingCollection.name, hook) !== undefined);
    if (heard.length === 0) return [];
    const { pending } = deliveryKind.totals.read(transaction);
    capacity.check(pending, heard.length, payloadJson.length, reservedBytes);
    const { seed } = drawn;
    const nextId = deriveIds(seed);
    const at = timeText(drawn.nowMs);
    const identifiers = heard.map(() => nextId());
    const [message = ''] = identifiers;
    const isAlone = heard.length === 1 && payloadJson.length <= CARRIED_LENGTH_MAX;
    const members = eventMembers(depth, isAlone ? [] : identifiers, payloadJson);
    const shared = isAlone ? null
      : { identifier: message, json: encodeMessage(message, at, name, members) };
    if (heard.length > CHUNK) {
      acceptDeliveries(transaction, [], shared, heard.length);
      putFanOut(transaction, {
        identifier: message, seed, createdAt: at, event: name, hooks: heard,
      });
      return identifiers;
    }
    const deliveries = heard.map((hook, index) => newDelivery({
      identifier: identifiers[index] ?? '', hook, event: name, message,
      carried: isAlone ? members : null,
    }, at));
    acceptDeliveries(transaction, deliveries, shared);
    return identifiers;
  };
  const emitText: Events['emitText'] = async (name, payloadJson, hops = 0, onEmitted) => {
    const drawn = { nowMs: clock.now(), seed: makeId(), hops };
    const bytes = payloadJson.length;
    const identifiers = await capacity.reserveWhile(bytes, () => store.transact((transaction) => {
      const emitted = emit(transaction, drawn, name, payloadJson, { reservedBytes: bytes });
      onEmitted?.(transaction, emitted);
      return emitted;
    }));
    // They are on disk as a list, but the caller may look for each of them.
    if (identifiers.length > CHUNK) await fanOuts.settled();
    return [...identifiers];
  };
  return {
    emit,
    emitText,
    isHeard: (name) => hooks.matching(name).length > 0,
    emitNow: async (name, payload) => emitText(name, encodePayload(payload)),
    async queueForward(forward) {
      const identifier = makeId();
      const at = timeText(clock.now());
      const isCarried = (forward.body?.length ?? 0) <= CARRIED_LENGTH_MAX;
      const members = forwardMembers(forward, isCarried ? [] : [identifier]);
      const delivery = newDelivery({
        identifier, hook: null, event: null, message: identifier,
        carried: isCarried ? members : null,
      }, at);
      const shared = isCarried ? null
        : { identifier, json: encodeMessage(identifier, at, null, members) };
      const { length } = members;
      await capacity.reserveWhile(length, () => store.transact((transaction) => {
        capacity.check(deliveryKind.totals.read(transaction).pending, 1, length, length);
        acceptDeliveries(transaction, [delivery], shared);
      }));
      return identifier;
    },
  };
}

function encodePayload(payload: unknown): string {
  try {
    const json: string | undefined = JSON.stringify(payload);
    if (json !== undefined) return json;
  } catch (thrown) {
    throw new AppError('invalid', 'the payload of an event must be JSON', {}, thrown);
  }
  throw new AppError('invalid', 'the payload of an event must be JSON');
}
