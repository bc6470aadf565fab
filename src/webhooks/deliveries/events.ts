/**
 * Turns events into deliveries. They are staged in the transaction of whatever caused the event, so
 * that the cause and its deliveries are one line on disk, or none.
 */
import { nextHop } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { TransactionInputs, Store, Transaction } from '../../store/store-port.ts';
import type { QueuedForward } from '../actions/http-forward-action.ts';
import { newDelivery } from './delivery.ts';
import { putFanOut, type FanOuts } from './fan-out.ts';
import { CHUNK_ITEMS_MAX } from '../durable-queue/queue-spec.ts';
import { TurnBatch } from '../durable-queue/turn-batch.ts';
import {
  acceptDeliveries, changeDeliveries, deliveryKind, type DeliveryUnit,
} from './unit-of-work.ts';
import { CARRIED_LENGTH_MAX, encodeMessage, eventMembers, forwardMembers } from './message.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';
import { findEmitProblem, isEventName, explainInvalidEventName } from '../actions/event-name.ts';
import { outgoingCollection } from '../outgoing/webhook.ts';
import type { Capacity } from './capacity.ts';

export interface Events {
  /**
   * Stages the deliveries of an event and returns their identifiers. Throws `invalid` for a bad
   * name or too long a chain, `unavailable` when the queue is full. `payloadJson` is JSON, sent as
   * it is; `reservedBytes` of it are reserved in the queue's capacity already. The webhook `except`
   * is not told. An event that `isOwn` goes to no webhook for `*` alone.
   */
  emit(
    transaction: Transaction, drawn: TransactionInputs, name: string, payloadJson: string,
    more?: EmitOptions,
  ): readonly string[];
  /** Whether a webhook listens to events of that name; if none does, no payload need be made. */
  isHeard(name: string, isOwn?: boolean): boolean;
  /**
   * `emit` of somebody else's event, in a transaction of its own: one of hookshelf's own names is
   * `invalid`, too. `hops` is the length of the chain that led to it. What `onEmitted` stages, who
   * is told the deliveries, is committed with them.
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

type EmitOptions = {
  readonly reservedBytes?: number;
  readonly except?: string | null;
  /** hookshelf tells it of itself. */
  readonly isOwn?: boolean;
};

export function createEvents(parts: {
  readonly store: Store;
  readonly hooks: OutgoingIndex;
  readonly fanOuts: Pick<FanOuts, 'settled'>;
  readonly makeId: () => string;
  readonly clock: Clock;
  readonly capacity: Capacity;
}): Events {
  const { store, hooks, fanOuts, makeId, clock, capacity } = parts;
  const batch = new TurnBatch<Emission, readonly string[] | AppError>(
    store, ({ payloadJson }) => payloadJson.length,
    (transaction, emissions) => stageAll(parts, transaction, emissions));
  const emit: Events['emit'] = (transaction, drawn, name, payloadJson, more = {}) =>
    stageOne(parts, transaction, { drawn, name, payloadJson, ...more });
  const emitText: Events['emitText'] = async (name, payloadJson, hops = 0, onEmitted) => {
    const problem = findEmitProblem(name);
    if (problem !== null) throw new AppError('invalid', `the name ${problem}`);
    const drawn = { nowMs: clock.now(), seed: makeId(), hops };
    const emission = { drawn, name, payloadJson, reservedBytes: payloadJson.length };
    const emitted = await capacity.reserveWhile(payloadJson.length, () =>
      onEmitted === undefined ? batch.write(emission) : store.transact((transaction) => {
        const identifiers = stageOne(parts, transaction, emission);
        onEmitted(transaction, identifiers);
        return identifiers;
      }));
    if (emitted instanceof AppError) throw emitted;
    // They are on disk as a list, but the caller may look for each of them.
    if (emitted.length > CHUNK_ITEMS_MAX) await fanOuts.settled();
    return [...emitted];
  };
  return {
    emit,
    emitText,
    isHeard: (name, isOwn) => hooks.matching(name, isOwn).length > 0,
    emitNow: async (name, payload) => emitText(name, encodePayload(payload)),
    async queueForward(forward) {
      const identifier = makeId();
      const at = formatTimestamp(clock.now());
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
        changeDeliveries(transaction, (unit) =>
          acceptDeliveries(transaction, unit, [delivery], shared));
      }));
      return identifier;
    },
  };
}

/** What is to be staged of one event. */
type Emission = EmitOptions & {
  readonly drawn: TransactionInputs;
  readonly name: string;
  readonly payloadJson: string;
};

type StagingParts = {
  readonly hooks: Pick<OutgoingIndex, 'find' | 'hearing' | 'matching'>;
  readonly capacity: Pick<Capacity, 'check'>;
};

/**
 * The events that come in one turn of the loop: the totals are written once for all of them, as is
 * a line of the journal. What is refused of one is its outcome alone.
 */
function stageAll(
  parts: StagingParts, transaction: Transaction, emissions: readonly Emission[],
): readonly (readonly string[] | AppError)[] {
  const heard = emissions.map((emission) =>
    outcomeOf(() => hooksHearing(parts, transaction, emission)));
  if (heard.every((hooks) => hooks instanceof AppError || hooks.length === 0)) return heard;
  return changeDeliveries(transaction, (unit) => emissions.map((emission, index) => {
    const hooks = heard[index] ?? [];
    if (hooks instanceof AppError) return hooks;
    return outcomeOf(() => stageHeard(parts, transaction, unit, emission, hooks));
  }));
}

function outcomeOf<T>(stage: () => T): T | AppError {
  try {
    return stage();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
}

function stageOne(
  parts: StagingParts, transaction: Transaction, emission: Emission,
): readonly string[] {
  const heard = hooksHearing(parts, transaction, emission);
  if (heard.length === 0) return [];
  return changeDeliveries(transaction, (unit) =>
    stageHeard(parts, transaction, unit, emission, heard));
}

function hooksHearing(
  { hooks }: StagingParts, transaction: Transaction, emission: Emission,
): readonly string[] {
  const { drawn, name, payloadJson, except, isOwn } = emission;
  if (!isEventName(name)) {
    throw new AppError('invalid', `the name ${explainInvalidEventName(name)}`);
  }
  // Throws when the chain is too long, heard or not.
  nextHop(drawn.hops, () => describeListeners(hooks, name));
  const hearing = hooks.hearing(name, () => JSON.parse(payloadJson) as JsonValue, isOwn);
  const matching = typeof except === 'string'
    ? hearing.filter((hook) => hook !== except) : hearing;
  // The index has the committed hooks; one may be removed in a transaction that is staged. Where
  // there are very many, none is looked up: the delivery of a removed one is cancelled later.
  return matching.length > CHUNK_ITEMS_MAX ? matching : matching.filter((hook) =>
    transaction.find(outgoingCollection.name, hook) !== undefined);
}

/** For the log: the event, and where it would have gone. */
function describeListeners(hooks: Pick<OutgoingIndex, 'find' | 'matching'>, name: string): string {
  const matching = hooks.matching(name);
  const [first] = matching;
  const { labels } = first === undefined ? {} : hooks.find(first) ?? {};
  if (labels === undefined) return `the event ${name}`;
  const more = matching.length === 1 ? '' : ` and ${matching.length - 1} more`;
  return `the event ${name}, which webhook ${labels.webhook} sends to ${labels.target}${more}`;
}

/** Throws before anything is staged. */
function stageHeard(
  { capacity }: StagingParts, transaction: Transaction, unit: DeliveryUnit, emission: Emission,
  heard: readonly string[],
): readonly string[] {
  if (heard.length === 0) return [];
  const { drawn: { seed, nowMs, hops }, name, payloadJson, reservedBytes = 0 } = emission;
  capacity.check(unit.totals.pending, heard.length, payloadJson.length, reservedBytes);
  const nextId = deriveIds(seed);
  const at = formatTimestamp(nowMs);
  const identifiers = heard.map(() => nextId());
  const [message = ''] = identifiers;
  const isAlone = heard.length === 1 && payloadJson.length <= CARRIED_LENGTH_MAX;
  const members = eventMembers(hops + 1, isAlone ? [] : identifiers, payloadJson);
  const shared = isAlone ? null
    : { identifier: message, json: encodeMessage(message, at, name, members) };
  if (heard.length > CHUNK_ITEMS_MAX) {
    acceptDeliveries(transaction, unit, [], shared, heard.length);
    putFanOut(transaction, { identifier: message, seed, createdAt: at, event: name, hooks: heard });
    return identifiers;
  }
  const deliveries = heard.map((hook, index) => newDelivery({
    identifier: identifiers[index] ?? '', hook, event: name, message,
    carried: isAlone ? members : null,
  }, at));
  acceptDeliveries(transaction, unit, deliveries, shared);
  return identifiers;
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
