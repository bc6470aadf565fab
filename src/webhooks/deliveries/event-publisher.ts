/**
 * Turns events into deliveries. An event that no webhook hears is kept only if the setting
 * `events.keep` says so, or a webhook that is off would have heard it: a backfill can send it then.
 * The event and its deliveries are staged in the transaction that causes the event, so that the
 * cause and its deliveries are on disk together, or not at all. A delayed event is staged alone:
 * see delayed-events.ts.
 */
import { isEventName, explainInvalidEventName } from '../../base/event-name.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { nextHop } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { TransactionInputs, Transaction } from '../../store/store-port.ts';
import { stageDelayedEvent, type AudienceFinder } from './delayed-events.ts';
import { isFannedOut, stageDeliveries, type FanOuts } from './fan-out.ts';
import {
  encodeEvent, eventCollection, type EventSource, type NewEvent,
} from './event-record.ts';
import type { RelayContext } from '../relay-context.ts';
import type { EventKind, OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { findEmitProblem, isSystemEventName } from '../actions/event-name.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import type { QueueCapacity } from './queue-capacity.ts';

export type EmittedEvent = {
  /** null: the event was not kept, as no webhook hears it. */
  readonly eventId: string | null;
  readonly deliveries: readonly string[];
};

export type EventOrigin = {
  readonly source: EventSource;
  readonly hops: number;
  readonly trace?: TraceContext | null | undefined;
};

/** The members of an event beside its name and payload. */
export type EventTerms = {
  readonly key?: string | undefined;
  readonly deliverAt?: string | undefined;
};

/** Options of an event that is staged beside its cause. Such an event cannot be delayed. */
type StageOptions = Pick<EventOrigin, 'source' | 'trace'> & {
  /** A webhook that does not get the event. */
  readonly except?: string | null;
  /** A webhook for `*` does not get system events. */
  readonly isSystem?: boolean;
};

type Emission = StageOptions & EventTerms & {
  readonly inputs: TransactionInputs;
  readonly name: string;
  readonly payloadJson: string;
};

const NOT_KEPT: EmittedEvent = { eventId: null, deliveries: [] };

export class EventPublisher implements AudienceFinder {
  readonly #keepsAll: boolean;
  readonly #context: RelayContext;
  readonly #webhooks: OutgoingWebhookIndex;
  readonly #fanOuts: FanOuts;
  readonly #capacity: QueueCapacity;

  constructor(
    context: RelayContext, webhooks: OutgoingWebhookIndex, fanOuts: FanOuts,
    capacity: QueueCapacity, keepsAll: boolean,
  ) {
    this.#context = context;
    this.#webhooks = webhooks;
    this.#fanOuts = fanOuts;
    this.#capacity = capacity;
    this.#keepsAll = keepsAll;
  }

  /**
   * Throws `invalid` for a bad name or a chain that is too long, and `unavailable` when the queue
   * is full. `payloadJson` is sent byte for byte.
   */
  stageEvent(
    transaction: Transaction, inputs: TransactionInputs, name: string, payloadJson: string,
    options: StageOptions,
  ): EmittedEvent {
    return this.#stage(transaction, { ...options, inputs, name, payloadJson });
  }

  /** Whether an event of that name may be kept. If not, the caller need not make its payload. */
  mayKeep(name: string, kind?: EventKind): boolean {
    return this.#keepsAll || this.#webhooks.findTriggered(name, kind).length > 0
      || this.#webhooks.findOffTriggered(name, kind).length > 0;
  }

  /**
   * Called before the first of several events is emitted, so that a request is refused as a whole.
   * Each event has `bytes`, and counts as one delivery if it is surely heard. Throws `unavailable`
   * without room. Events that begin `later` wait for room: for them this throws `NeverFitsError`
   * alone, where not even one event fits into an empty queue.
   */
  assertRoom(names: readonly string[], bytes: number, begin: 'now' | 'later'): void {
    // A webhook without `when` takes any payload.
    const isSurelyHeard = (name: string): boolean => this.#webhooks.findTriggered(name)
      .some((id) => this.#webhooks.find(id)?.when === undefined);
    const count = names.filter(isSurelyHeard).length;
    if (count === 0) return;
    if (begin === 'later') this.#capacity.assertFits(1, bytes);
    else this.#capacity.assertRoom(count, count * bytes);
  }

  /** Throws like `stageEvent`, and for names of system events. `onStaged` stages more beside it. */
  async emitJson(
    name: string, payloadJson: string, origin: EventOrigin & EventTerms,
    onStaged?: (transaction: Transaction, event: EmittedEvent) => void,
  ): Promise<EmittedEvent> {
    const { store, clock, makeId } = this.#context;
    const problem = findEmitProblem(name);
    if (problem !== null) throw new AppError('invalid', `the name ${problem}`);
    const { source, trace, hops, key, deliverAt } = origin;
    const inputs = { nowMs: clock.now(), seed: makeId(), hops };
    // Not by a spread, which takes a microsecond for ten members.
    const emission: Emission = { source, trace, key, deliverAt, inputs, name, payloadJson };
    const event = await store.transact((transaction) => {
      const emittedEvent = this.#stage(transaction, emission);
      onStaged?.(transaction, emittedEvent);
      return emittedEvent;
    });
    // Very many deliveries are written after the transaction, which has their fan-out alone. The
    // caller may look for them at once.
    if (isFannedOut(event.deliveries.length)) await this.#fanOuts.whenWritten();
    return event;
  }

  findAudience(
    transaction: Transaction, name: string, payloadJson: string,
    options: Pick<StageOptions, 'except' | 'isSystem'> = {},
  ): readonly string[] {
    const { except } = options;
    const matchingIds = this.#webhooks.selectMatching(
      this.#webhooks.findTriggered(name, options), name, createPayloadReader(payloadJson));
    const webhookIds = typeof except === 'string'
      ? matchingIds.filter((webhookId) => webhookId !== except) : matchingIds;
    // The index has committed webhooks, and a staged transaction may remove one. Very many webhooks
    // are not looked up: the delivery to a removed webhook is cancelled later.
    return isFannedOut(webhookIds.length) ? webhookIds : webhookIds.filter((webhookId) =>
      transaction.find(outgoingCollection.name, webhookId) !== undefined);
  }

  keepsUnheard(name: string, payloadJson: string, kind?: EventKind): boolean {
    return this.#keepsAll || this.#webhooks.selectMatching(
      this.#webhooks.findOffTriggered(name, kind), name, createPayloadReader(payloadJson),
    ).length > 0;
  }

  #stage(transaction: Transaction, emission: Emission): EmittedEvent {
    const { inputs, name, payloadJson, deliverAt } = emission;
    if (!isEventName(name)) {
      throw new AppError('invalid', `the name ${explainInvalidEventName(name)}`);
    }
    const findAudience = (): readonly string[] =>
      this.findAudience(transaction, name, payloadJson, emission);
    // Throws when the chain is too long, whether or not a webhook hears the event. The audience is
    // then looked up for the message.
    const hops = nextHop(inputs.hops, () => describeAudience(this.#webhooks, name, findAudience()));
    // Which webhooks hear a delayed event is decided when it begins.
    if (deliverAt !== undefined) return this.#stageDelayed(transaction, emission, hops, deliverAt);
    const webhookIds = findAudience();
    return webhookIds.length > 0 ? this.#stageHeard(transaction, emission, hops, webhookIds)
      : this.#stageUnheard(transaction, emission, hops);
  }

  #stageDelayed(
    transaction: Transaction, emission: Emission, hops: number, deliverAt: string,
  ): EmittedEvent {
    const { payloadJson } = emission;
    const head = createHead(emission, hops, []);
    this.#capacity.reserve(transaction, 1, Buffer.byteLength(payloadJson));
    stageDelayedEvent(transaction, { ...head, deliverAt }, payloadJson);
    return { eventId: head.identifier, deliveries: [] };
  }

  #stageUnheard(transaction: Transaction, emission: Emission, hops: number): EmittedEvent {
    const { name, payloadJson } = emission;
    if (!this.keepsUnheard(name, payloadJson, emission)) return NOT_KEPT;
    const head = createHead(emission, hops, []);
    transaction.put(eventCollection.name, head.identifier, encodeEvent(head, payloadJson));
    return { eventId: head.identifier, deliveries: [] };
  }

  #stageHeard(
    transaction: Transaction, emission: Emission, hops: number, webhookIds: readonly string[],
  ): EmittedEvent {
    const { payloadJson } = emission;
    const bytes = Buffer.byteLength(payloadJson);
    // An event of our own has no caller who would emit it again for the webhooks that have room.
    this.#capacity.reserve(transaction, webhookIds.length, bytes,
      isSystemEventName(emission.name) ? {} : { webhookIds });
    const head = createHead(emission, hops, webhookIds);
    const { identifier, createdAt, name } = head;
    transaction.put(eventCollection.name, identifier, encodeEvent(head, payloadJson));
    const deliveries = stageDeliveries(transaction,
      { identifier, seed: identifier, createdAt, event: name, hooks: webhookIds }, true);
    return { eventId: identifier, deliveries };
  }
}

function createPayloadReader(payloadJson: string): () => JsonValue {
  return () => parseJsonText(payloadJson) as JsonValue;
}

/** An event sorts before its deliveries, whose ids follow from its own: see fan-out.ts. */
function createHead(
  { inputs: { seed, nowMs }, name, source, key, trace }: Emission, hops: number,
  webhookIds: readonly string[],
): NewEvent & { readonly name: string } {
  const nextId = deriveIds(seed);
  const identifier = nextId();
  const createdAt = formatTimestamp(nowMs);
  return { identifier, createdAt, name, source, key, hops, trace, webhookIds };
}

function describeAudience(
  webhooks: Pick<OutgoingWebhookIndex, 'find'>, name: string, webhookIds: readonly string[],
): string {
  const [firstId] = webhookIds;
  const webhook = firstId === undefined ? undefined : webhooks.find(firstId);
  if (webhook === undefined) return `the event ${name}`;
  const { labels } = webhook;
  const more = webhookIds.length === 1 ? '' : ` and ${webhookIds.length - 1} more`;
  return `the event ${name}, which webhook ${labels.webhook} sends to ${labels.target}${more}`;
}
