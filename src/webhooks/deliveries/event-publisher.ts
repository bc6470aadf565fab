/**
 * Turns events into deliveries. An event that no webhook hears is kept only if the setting
 * `events.keep` says so. The event and its deliveries are staged in the transaction that
 * causes the event, so that the cause and its deliveries are on disk together, or not at all. A
 * delayed event is staged alone: see delayed-events.ts.
 */
import { isEventName, explainInvalidEventName } from '../../base/event-name.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { nextHop } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { TransactionInputs, Store, Transaction } from '../../store/store-port.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import { stageDelayedEvent, type AudienceFinder } from './delayed-events.ts';
import { putFanOut, type FanOuts } from './fan-out.ts';
import { CHUNK_ITEMS_MAX } from '../durable-queue/queue-spec.ts';
import { stageEventWithDeliveries } from './delivery-changes.ts';
import {
  deriveDeliveryIds, encodeEvent, encodeForward, eventCollection,
  type EventHead, type EventSource,
} from './event-record.ts';
import type { EventKind, OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { findEmitProblem } from '../actions/event-name.ts';
import { encodePayload } from '../outgoing/encode-payload.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';

export interface EventPublisher extends AudienceFinder {
  /**
   * Stages an event and its deliveries. Throws `invalid` for a bad name or a chain that is too
   * long, and `unavailable` when the queue is full. `payloadJson` is JSON that is sent byte for
   * byte.
   */
  stageEvent(
    transaction: Transaction, inputs: TransactionInputs, name: string, payloadJson: string,
    options: StageOptions,
  ): EmittedEvent;
  /**
   * Whether an event of that name may be kept: a webhook is triggered by it, or all events are
   * kept. If not, the caller need make no payload.
   */
  mayKeep(name: string, kind?: EventKind): boolean;
  /**
   * Checks events of `bytes` each, of which none is staged yet, whose deliveries certainly are: a
   * request is refused before a part of its events is emitted. Throws `unavailable`; `later`: only
   * `NeverFitsError`, as they wait for room.
   */
  assertRoom(names: readonly string[], bytes: number, begin: 'now' | 'later'): void;
  /**
   * Emits an event. What `onEmitted` stages is committed with it. Throws like `stageEvent`;
   * `invalid` also for the name of a system event.
   */
  emitJson(
    name: string, payloadJson: string, origin: EventOrigin & EventTerms,
    onEmitted?: (transaction: Transaction, event: EmittedEvent) => void,
  ): Promise<EmittedEvent>;
  /**
   * Emits an event with a JavaScript value, as a caller of the API. Throws `invalid` also if it
   * cannot be JSON.
   */
  emitValue(name: string, payload: unknown): Promise<EmittedEvent>;
  /** Accepts a request that is to be sent durably. Returns the identifier of its delivery. */
  queueForward(forward: Forward): Promise<string>;
}

export type EmittedEvent = {
  /** null: it was not kept, as no webhook hears it. */
  readonly eventId: string | null;
  /** The identifiers of its deliveries. */
  readonly deliveries: readonly string[];
};

/** Where an event comes from. */
export type EventOrigin = {
  readonly source: EventSource;
  /** The length of the chain that led to it. */
  readonly hops: number;
  /** The trace that it belongs to; absent: none. */
  readonly trace?: TraceContext | null | undefined;
};

/** What a caller may say of an event beside its name and payload. */
export type EventTerms = {
  readonly key?: string | undefined;
  /** When it begins, if later than now. */
  readonly deliverAt?: string | undefined;
};

/** The options of an event that is staged beside its cause. Such an event cannot be delayed. */
type StageOptions = Pick<EventOrigin, 'source' | 'trace'> & {
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
  readonly keepsUnheard: boolean;
}): EventPublisher {
  const { store, webhooks, fanOuts, makeId, clock, capacity, keepsUnheard } = deps;
  const stageEvent: EventPublisher['stageEvent'] = (transaction, inputs, name, json, options) =>
    stageEmission(deps, transaction, { ...options, inputs, name, payloadJson: json });
  const emitJson: EventPublisher['emitJson'] = async (name, payloadJson, origin, onEmitted) => {
    const problem = findEmitProblem(name);
    if (problem !== null) throw new AppError('invalid', `the name ${problem}`);
    const { source, trace, hops, key, deliverAt } = origin;
    const inputs = { nowMs: clock.now(), seed: makeId(), hops };
    // Not by a spread: every event passes here, and one of ten members takes a microsecond.
    const emission: Emission = { source, trace, key, deliverAt, inputs, name, payloadJson };
    const event = await store.transact((transaction) => {
      const staged = stageEmission(deps, transaction, emission);
      onEmitted?.(transaction, staged);
      return staged;
    });
    // The fan-out is on disk, but the caller may look for the deliveries.
    if (event.deliveries.length > CHUNK_ITEMS_MAX) await fanOuts.whenWritten();
    return event;
  };
  return {
    stageEvent,
    emitJson,
    keepsUnheard,
    findWebhookIds: (transaction, name, payloadJson) =>
      findWebhookIds(webhooks, transaction, { name, payloadJson }),
    assertRoom: (...events) => assertRoomForEvents(webhooks, capacity, ...events),
    mayKeep: (name, kind) => webhooks.findTriggered(name, kind).length > 0 || keepsUnheard,
    emitValue: async (name, payload) =>
      emitJson(name, encodePayload(payload), { source: 'api', hops: 0 }),
    async queueForward(forward) {
      const origin = { identifier: makeId(), createdAt: formatTimestamp(clock.now()) };
      const json = encodeForward(origin, forward);
      const bytes = Buffer.byteLength(json);
      const [delivery] = await store.transact((transaction) => {
        capacity.reserve(transaction, 1, bytes);
        return stageEventWithDeliveries(
          transaction, { ...origin, name: null, webhookIds: [null] }, json);
      });
      return delivery?.identifier ?? '';
    },
  };
}

function assertRoomForEvents(
  webhooks: OutgoingWebhookIndex, capacity: Pick<QueueCapacity, 'assertFits' | 'assertRoom'>,
  ...[names, bytes, begin]: Parameters<EventPublisher['assertRoom']>
): void {
  const count = names.filter((name) => isHeard(webhooks, name)).length;
  if (count === 0) return;
  if (begin === 'later') capacity.assertFits(1, bytes);
  else capacity.assertRoom(count, count * bytes);
}

/** Whether an event has a delivery, whatever its payload. */
function isHeard(webhooks: OutgoingWebhookIndex, name: string): boolean {
  return webhooks.findTriggered(name).some((id) => webhooks.find(id)?.when === undefined);
}

/** An event that is to be staged. */
type Emission = StageOptions & EventTerms & {
  readonly inputs: TransactionInputs;
  readonly name: string;
  readonly payloadJson: string;
};

type StagingDeps = {
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find' | 'findMatching'>;
  readonly capacity: Pick<QueueCapacity, 'reserve'>;
  readonly keepsUnheard: boolean;
};

const NOT_KEPT: EmittedEvent = { eventId: null, deliveries: [] };

/** If it throws, nothing is staged. */
function stageEmission(
  deps: StagingDeps, transaction: Transaction, emission: Emission,
): EmittedEvent {
  const { webhooks } = deps;
  const { inputs, name, deliverAt } = emission;
  if (!isEventName(name)) {
    throw new AppError('invalid', `the name ${explainInvalidEventName(name)}`);
  }
  const findIds = (): readonly string[] => findWebhookIds(webhooks, transaction, emission);
  // This throws when the chain is too long, whether or not a webhook hears the event.
  const hops = nextHop(inputs.hops, () => describeReceivers(webhooks, name, findIds()));
  // Which webhooks hear a delayed event is decided when it begins.
  const webhookIds = deliverAt === undefined ? findIds() : [];
  return webhookIds.length > 0
    ? stageDeliveries(deps, transaction, emission, { hops, webhookIds })
    : stageWithoutDeliveries(deps, transaction, emission, hops);
}

/** Stages an event that is delayed, or one that no webhook hears, if such events are kept. */
function stageWithoutDeliveries(
  { capacity, keepsUnheard }: StagingDeps, transaction: Transaction, emission: Emission,
  hops: number,
): EmittedEvent {
  const { payloadJson, deliverAt } = emission;
  if (deliverAt === undefined && !keepsUnheard) return NOT_KEPT;
  const head = createHead(emission, hops, []);
  if (deliverAt === undefined) {
    transaction.put(eventCollection.name, head.identifier, encodeEvent(head, payloadJson));
  } else {
    capacity.reserve(transaction, 1, Buffer.byteLength(payloadJson));
    stageDelayedEvent(transaction, { ...head, deliverAt }, payloadJson);
  }
  return { eventId: head.identifier, deliveries: [] };
}

/**
 * Creates the head of an event's record. An event sorts before its deliveries, whose identifiers
 * follow from its own alone: see fan-out.ts.
 */
function createHead(
  { inputs: { seed, nowMs }, name, source, key, trace }: Emission, hops: number,
  webhookIds: readonly string[],
): EventHead {
  const identifier = deriveIds(seed)();
  const createdAt = formatTimestamp(nowMs);
  return { identifier, createdAt, name, source, key, hops, trace, webhookIds };
}

/** Finds the identifiers of the webhooks that hear an event. */
function findWebhookIds(
  webhooks: Pick<OutgoingWebhookIndex, 'findMatching'>, transaction: Transaction,
  event: Pick<Emission, 'name' | 'payloadJson' | 'except' | 'isSystem'>,
): readonly string[] {
  const { name, payloadJson, except } = event;
  const matchingIds =
    webhooks.findMatching(name, () => parseJsonText(payloadJson) as JsonValue, event);
  const webhookIds = typeof except === 'string'
    ? matchingIds.filter((webhookId) => webhookId !== except) : matchingIds;
  // The index has the committed webhooks, and one of them may be removed by a staged transaction.
  // Very many are not looked up: the delivery to a removed webhook is cancelled later.
  return webhookIds.length > CHUNK_ITEMS_MAX ? webhookIds : webhookIds.filter((webhookId) =>
    transaction.find(outgoingCollection.name, webhookId) !== undefined);
}

/** Describes for the log an event and where it would have gone. */
function describeReceivers(
  webhooks: Pick<OutgoingWebhookIndex, 'find'>, name: string, webhookIds: readonly string[],
): string {
  const [first] = webhookIds;
  const { labels } = first === undefined ? {} : webhooks.find(first) ?? {};
  if (labels === undefined) return `the event ${name}`;
  const more = webhookIds.length === 1 ? '' : ` and ${webhookIds.length - 1} more`;
  return `the event ${name}, which webhook ${labels.webhook} sends to ${labels.target}${more}`;
}

/** Stages an event and its deliveries. */
function stageDeliveries(
  { capacity }: StagingDeps, transaction: Transaction, emission: Emission,
  { hops, webhookIds }: { readonly hops: number; readonly webhookIds: readonly string[] },
): EmittedEvent {
  const { payloadJson } = emission;
  capacity.reserve(transaction, webhookIds.length, Buffer.byteLength(payloadJson));
  const head = createHead(emission, hops, webhookIds);
  const { identifier, createdAt, name } = head;
  const json = encodeEvent(head, payloadJson);
  if (webhookIds.length > CHUNK_ITEMS_MAX) {
    transaction.put(eventCollection.name, identifier, json);
    putFanOut(transaction, {
      identifier, seed: identifier, createdAt, event: name, hooks: webhookIds,
    });
    return { eventId: identifier, deliveries: deriveDeliveryIds(identifier, webhookIds) };
  }
  const deliveries = stageEventWithDeliveries(transaction, head, json);
  return { eventId: identifier, deliveries: deliveries.map((delivery) => delivery.identifier) };
}
