/**
 * Turns events into deliveries. The deliveries are staged in the transaction that causes the event,
 * so that the cause and its deliveries are on disk together, or not at all.
 */
import { nextHop } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { TransactionInputs, Store, Transaction } from '../../store/store-port.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import { createDelivery } from './delivery.ts';
import { putFanOut, type FanOuts } from './fan-out.ts';
import { CHUNK_ITEMS_MAX } from '../durable-queue/queue-spec.ts';
import { TurnBatch } from '../durable-queue/turn-batch.ts';
import {
  acceptDeliveries, changeDeliveries, deliveryQueue, type DeliveryUnit,
} from './delivery-changes.ts';
import { encodeEvent, encodeForward, type EventSource } from './event-record.ts';
import type { EventKind, OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { findEmitProblem, isEventName, explainInvalidEventName } from '../actions/event-name.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';

export interface EventPublisher {
  /**
   * Stages the deliveries of an event and returns their identifiers. Throws `invalid` for a bad
   * name or a chain that is too long, and `unavailable` when the queue is full. `payloadJson` is
   * JSON that is sent byte for byte. For the options see `EmitOptions`.
   */
  stageEvent(
    transaction: Transaction, inputs: TransactionInputs, name: string, payloadJson: string,
    options: EmitOptions,
  ): readonly string[];
  /** Whether a webhook is triggered by that name. If none is, the caller need make no payload. */
  isTrigger(name: string, kind?: EventKind): boolean;
  /**
   * Emits an event. The events of one turn of the event loop share a transaction; with `onEmitted`
   * the event has one of its own. `onEmitted` gets the identifiers of the deliveries, and what it
   * stages is committed with that event alone. Throws like `stageEvent`, and `invalid` also for the
   * name of a system event.
   */
  emitJson(
    name: string, payloadJson: string, origin: EventOrigin,
    onEmitted?: (transaction: Transaction, deliveries: readonly string[]) => void,
  ): Promise<string[]>;
  /**
   * Emits an event with a JavaScript value, as a caller of the API. Throws `invalid` also if it
   * cannot be JSON.
   */
  emitValue(name: string, payload: unknown): Promise<string[]>;
  /** Accepts a request that is to be sent durably. Returns the identifier of its delivery. */
  queueForward(forward: Forward): Promise<string>;
}

/** Where an event comes from. */
type EventOrigin = {
  readonly source: EventSource;
  /** The length of the chain that led to it. */
  readonly hops: number;
};

type EmitOptions = Pick<EventOrigin, 'source'> & {
  /** Bytes of the payload that are reserved in the queue's capacity already. */
  readonly reservedBytes?: number;
  /** The identifier of a webhook that does not get the event. */
  readonly except?: string | null;
  /** Whether it is a system event, which a webhook for `*` does not get. */
  readonly isSystem?: boolean;
};

export function createEventPublisher(deps: {
  readonly store: Store;
  readonly webhooks: OutgoingWebhookIndex;
  readonly fanOuts: Pick<FanOuts, 'whenWritten'>;
  readonly makeId: () => string;
  readonly clock: Clock;
  readonly capacity: QueueCapacity;
}): EventPublisher {
  const { store, webhooks, fanOuts, makeId, clock, capacity } = deps;
  const batch = new TurnBatch<Emission, readonly string[] | AppError>(
    store, ({ payloadJson }) => payloadJson.length,
    (transaction, emissions) => stageEmissions(deps, transaction, emissions));
  const stageEvent: EventPublisher['stageEvent'] = (transaction, inputs, name, json, options) =>
    stageEmission(deps, transaction, { inputs, name, payloadJson: json, ...options });
  const emitJson: EventPublisher['emitJson'] = async (name, payloadJson, origin, onEmitted) => {
    const problem = findEmitProblem(name);
    if (problem !== null) throw new AppError('invalid', `the name ${problem}`);
    const { source, hops } = origin;
    const inputs = { nowMs: clock.now(), seed: makeId(), hops };
    const emission = { inputs, name, payloadJson, source, reservedBytes: payloadJson.length };
    const identifiersOrError = await capacity.reserveWhile(payloadJson.length, () =>
      onEmitted === undefined ? batch.write(emission) : store.transact((transaction) => {
        const identifiers = stageEmission(deps, transaction, emission);
        onEmitted(transaction, identifiers);
        return identifiers;
      }));
    if (identifiersOrError instanceof AppError) throw identifiersOrError;
    // The fan-out is on disk, but the caller may look for the deliveries.
    if (identifiersOrError.length > CHUNK_ITEMS_MAX) await fanOuts.whenWritten();
    return [...identifiersOrError];
  };
  return {
    stageEvent,
    emitJson,
    isTrigger: (name, kind) => webhooks.findTriggered(name, kind).length > 0,
    emitValue: async (name, payload) =>
      emitJson(name, encodePayload(payload), { source: 'api', hops: 0 }),
    async queueForward(forward) {
      const eventId = makeId();
      const identifier = deriveIds(eventId)();
      const createdAt = formatTimestamp(clock.now());
      const delivery =
        createDelivery({ identifier, hook: null, event: null, eventId }, createdAt);
      const json = encodeForward({ identifier: eventId, createdAt }, identifier, forward);
      const { length } = json;
      await capacity.reserveWhile(length, () => store.transact((transaction) => {
        capacity.assertRoom(deliveryQueue.totals.read(transaction).pending, 1, length, length);
        changeDeliveries(transaction, (unit) =>
          acceptDeliveries(transaction, unit, [delivery], { identifier: eventId, json }));
      }));
      return identifier;
    },
  };
}

/** An event that is to be staged. */
type Emission = EmitOptions & {
  readonly inputs: TransactionInputs;
  readonly name: string;
  readonly payloadJson: string;
};

type StagingDeps = {
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find' | 'findMatching' | 'findTriggered'>;
  readonly capacity: Pick<QueueCapacity, 'assertRoom'>;
};

/**
 * Stages the events of one turn of the event loop, with one write of the totals for all of them.
 * The outcome of an event that is refused is its error; the others are staged.
 */
function stageEmissions(
  deps: StagingDeps, transaction: Transaction, emissions: readonly Emission[],
): readonly (readonly string[] | AppError)[] {
  const results = emissions.map((emission) =>
    catchAppError(() => findWebhooks(deps, transaction, emission)));
  // If no event goes to a webhook, the totals are not written.
  if (results.every((ids) => ids instanceof AppError || ids.length === 0)) return results;
  return changeDeliveries(transaction, (unit) => emissions.map((emission, index) => {
    const webhookIds = results[index] ?? [];
    if (webhookIds instanceof AppError) return webhookIds;
    return catchAppError(() => stageDeliveries(deps, transaction, unit, emission, webhookIds));
  }));
}

function catchAppError<T>(stage: () => T): T | AppError {
  try {
    return stage();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
}

function stageEmission(
  deps: StagingDeps, transaction: Transaction, emission: Emission,
): readonly string[] {
  const webhookIds = findWebhooks(deps, transaction, emission);
  if (webhookIds.length === 0) return [];
  return changeDeliveries(transaction, (unit) =>
    stageDeliveries(deps, transaction, unit, emission, webhookIds));
}

/** Finds the identifiers of the webhooks that get an event. Throws like `stageEvent`. */
function findWebhooks(
  { webhooks }: StagingDeps, transaction: Transaction, emission: Emission,
): readonly string[] {
  const { inputs, name, payloadJson, except } = emission;
  if (!isEventName(name)) {
    throw new AppError('invalid', `the name ${explainInvalidEventName(name)}`);
  }
  // This throws when the chain is too long, whether or not a webhook is triggered.
  nextHop(inputs.hops, () => describeReceivers(webhooks, name));
  const matchingIds =
    webhooks.findMatching(name, () => JSON.parse(payloadJson) as JsonValue, emission);
  const webhookIds = typeof except === 'string'
    ? matchingIds.filter((webhookId) => webhookId !== except) : matchingIds;
  // The index has the committed webhooks, and one of them may be removed by a staged transaction.
  // Very many are not looked up: the delivery to a removed webhook is cancelled later.
  return webhookIds.length > CHUNK_ITEMS_MAX ? webhookIds : webhookIds.filter((webhookId) =>
    transaction.find(outgoingCollection.name, webhookId) !== undefined);
}

/** Describes for the log an event and where it would have gone. */
function describeReceivers(
  webhooks: Pick<OutgoingWebhookIndex, 'find' | 'findTriggered'>, name: string,
): string {
  const webhookIds = webhooks.findTriggered(name);
  const [first] = webhookIds;
  const { labels } = first === undefined ? {} : webhooks.find(first) ?? {};
  if (labels === undefined) return `the event ${name}`;
  const more = webhookIds.length === 1 ? '' : ` and ${webhookIds.length - 1} more`;
  return `the event ${name}, which webhook ${labels.webhook} sends to ${labels.target}${more}`;
}

/** Stages the deliveries of an event. If it throws, nothing is staged. */
function stageDeliveries(
  { capacity }: StagingDeps, transaction: Transaction, unit: DeliveryUnit, emission: Emission,
  webhookIds: readonly string[],
): readonly string[] {
  if (webhookIds.length === 0) return [];
  const { inputs: { seed, nowMs, hops }, name, payloadJson, source, reservedBytes = 0 } = emission;
  capacity.assertRoom(unit.totals.pending, webhookIds.length, payloadJson.length, reservedBytes);
  // An event sorts before its deliveries. Theirs follow from its identifier alone: see fan-out.ts.
  const identifier = deriveIds(seed)();
  const nextId = deriveIds(identifier);
  const createdAt = formatTimestamp(nowMs);
  const deliveryIds = webhookIds.map(() => nextId());
  const json = encodeEvent({
    identifier, createdAt, name, source, hops: hops + 1, deliveries: deliveryIds, webhookIds,
  }, payloadJson);
  if (webhookIds.length > CHUNK_ITEMS_MAX) {
    acceptDeliveries(transaction, unit, [], { identifier, json }, webhookIds.length);
    putFanOut(transaction, {
      identifier, seed: identifier, createdAt, event: name, hooks: webhookIds,
    });
    return deliveryIds;
  }
  const deliveries = webhookIds.map((webhookId, index) => createDelivery({
    identifier: deliveryIds[index] ?? '', hook: webhookId, event: name, eventId: identifier,
  }, createdAt));
  acceptDeliveries(transaction, unit, deliveries, { identifier, json });
  return deliveryIds;
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
