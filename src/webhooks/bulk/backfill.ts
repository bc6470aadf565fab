/**
 * The kind of job that makes deliveries of the events that a webhook has missed, oldest first. A
 * delivery stands in the queue where that of its event would have been: its `queuedAt` is when the
 * event began, and lies before the job's begin. Deliveries that are placed later wait until the job
 * has ended (backfill-hold.ts).
 */
import { formatTimestamp, parseTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { deriveIds, timeOfUuidV7 } from '../../base/uuid.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { FindRecord, Store, Transaction } from '../../store/store-port.ts';
import { delayedEventCollection } from '../deliveries/delayed-events.ts';
import { stageDelivery } from '../deliveries/delivery-changes.ts';
import { createDelivery } from '../deliveries/delivery.ts';
import { addLateDeliveries } from '../deliveries/late-deliveries.ts';
import {
  decodeEventHead, eventCollection, readPayloadBytes, readReceiverIds, type EventHead,
} from '../deliveries/event-record.ts';
import { findFanOutWebhookIds, type FanOuts } from '../deliveries/fan-out.ts';
import type { QueueCapacity } from '../deliveries/queue-capacity.ts';
import { isAboutWebhook } from '../deliveries/system-events.ts';
import { eventFields } from '../events/event-fields.ts';
import { Facts } from '../members/filters/facts.ts';
import {
  createTriggerTest, type OutgoingWebhookIndex, type ReadyOutgoingWebhook,
} from '../outgoing/outgoing-webhook-index.ts';
import { createFieldTest, parseFilterBody } from '../records/fields.ts';
import type { Scheduler } from '../work/scheduler.ts';
import type { JobKind, RecordSelection } from './job-kind.ts';
import { createSelection } from './record-selection.ts';

export type BackfillWork = {
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find'>;
  readonly capacity: Pick<QueueCapacity, 'reserve'>;
  readonly fanOuts: Pick<FanOuts, 'whenWritten'>;
  readonly scheduler: Pick<Scheduler, 'isAllHeld'>;
};

type MissedEvent = { readonly id: string; readonly record: Buffer };

export function createBackfill(store: Store, work: BackfillWork): JobKind {
  return {
    findHeldWebhookId: readWebhookId,
    // Before the job is added: it must not pass over an event that is still being committed.
    whenReady: () => store.transact(readStagedEvents),
    select(filter) {
      const matches = createMatcher(work.webhooks, filter);
      const find = findCommitted(store);
      const selection = createSelection(store.collection(eventCollection.name),
        (record, id) => matches(id, record, find));
      const stage: RecordSelection['stage'] = (transaction, ids, { nowMs, seed }, job) => {
        const missedEvents = findMissedEvents(findStaged(transaction), ids, matches);
        reserveUnlessHeld(work, transaction, missedEvents, {
          webhookId: readWebhookId(filter), isBound: job.token !== undefined,
        });
        const nextId = deriveIds(seed);
        stageMissedDeliveries(transaction, missedEvents, {
          webhookId: readWebhookId(filter), nextId, nowMs, beginMs: timeOfUuidV7(job.id),
        });
        return { done: missedEvents.length, failed: 0 };
      };
      return {
        ...selection, stage,
        async begin() {
          // Before the selection begins: records tell only then who had a delivery of an event.
          await work.fanOuts.whenWritten();
          return selection.begin();
        },
      };
    },
  };
}

/**
 * A barrier, which reads what is staged: when this resolves, every event staged before has been
 * committed, and applied here. An event that was staged when its webhook was not there yet, or was
 * off, is not sent to it, so the selection must see it.
 */
function readStagedEvents(transaction: Transaction): void {
  Array.from(transaction.listStaged(eventCollection.name));
}

/** Makes the matcher anew whenever the webhook was changed: its triggers count as they are now. */
function createMatcher(
  webhooks: BackfillWork['webhooks'], filter: JsonObject,
): MissedEventMatcher {
  // The job's webhook has missed the events: it is no criterion for the webhooks that had them.
  const { hook: _, ...criteria } = filter;
  const isSelected = createFieldTest(eventFields, parseFilterBody(eventFields, criteria));
  let webhook: ReadyOutgoingWebhook | undefined;
  let matches: MissedEventMatcher = () => false;
  return (...event) => {
    const current = webhooks.find(readWebhookId(filter));
    if (current === undefined) return false;
    if (current !== webhook) matches = createMissedEventMatcher(current, isSelected);
    webhook = current;
    return matches(...event);
  };
}

/** Reads the webhook of a filter that the route has made. */
function readWebhookId({ hook }: JsonObject): string {
  return typeof hook === 'string' ? hook : '';
}

function findMissedEvents(
  find: FindRecord, ids: readonly string[], matches: MissedEventMatcher,
): readonly MissedEvent[] {
  return ids.flatMap((id) => {
    const record = find(eventCollection.name, id);
    return record !== undefined && matches(id, record, find) ? [{ id, record }] : [];
  });
}

/**
 * Reserves room. Throws `unavailable` when the queue has none, unless this job holds all that waits
 * there for the webhook: neither would go on then, so the chunk may go beyond the limit.
 */
function reserveUnlessHeld(
  { capacity, scheduler }: BackfillWork, transaction: Transaction,
  missedEvents: readonly MissedEvent[],
  { webhookId, isBound }: { readonly webhookId: string; readonly isBound: boolean },
): void {
  const bytes = missedEvents.reduce((sum, { record }) => sum + record.length, 0);
  try {
    capacity.reserve(transaction, missedEvents.length, bytes, { isBound });
  } catch (thrown) {
    const isFull = thrown instanceof AppError && thrown.code === 'unavailable';
    if (!isFull || !scheduler.isAllHeld(webhookId)) throw thrown;
  }
}

function stageMissedDeliveries(
  transaction: Transaction, missedEvents: readonly MissedEvent[],
  { webhookId: hook, nextId, nowMs, beginMs }: {
    readonly webhookId: string; readonly nextId: () => string;
    readonly nowMs: number; readonly beginMs: number;
  },
): void {
  const createdAt = formatTimestamp(nowMs);
  for (const { id: eventId, record } of missedEvents) {
    const { name: event, deliverAt } = decodeEventHead(record);
    const identifier = nextId();
    addLateDeliveries(transaction, eventId, [identifier], [hook]);
    const queuedAt = formatTimestamp(Math.min(findPlaceMs(eventId, deliverAt), beginMs - 1));
    stageDelivery(transaction,
      createDelivery({ identifier, hook, event, eventId, queuedAt }, createdAt));
  }
}

/** Finds when the event began: a delayed one at its time, any other when it was made. */
function findPlaceMs(eventId: string, deliverAt: string | null): number {
  return deliverAt === null ? timeOfUuidV7(eventId) : parseTimestamp(deliverAt);
}

/** Whether the webhook has missed an event. `find` finds the records beside the event. */
type MissedEventMatcher = (id: string, record: Buffer, find: FindRecord) => boolean;

/**
 * A webhook has missed an event if its triggers and its condition, as they are now, let it hear the
 * event, and it had no delivery of it. Passed over are delayed events that have not begun, and
 * events that nobody hears: those sent to one webhook, and queued forwards.
 */
export function createMissedEventMatcher(
  webhook: ReadyOutgoingWebhook, isSelected: (event: EventHead) => boolean,
): MissedEventMatcher {
  const { identifier: webhookId, condition } = webhook;
  const isTriggeredBy = createTriggerTest(webhook);
  return (id, record, find) => {
    const event = decodeEventHead(record);
    const { name, to } = event;
    if (name === null || to !== null || !isSelected(event)) return false;
    if (find(delayedEventCollection.name, id) !== undefined) return false;
    let parsedPayload: JsonValue | undefined;
    const payload = (): JsonValue =>
      parsedPayload ??= parseJsonText(readPayloadBytes(record).toString());
    if (!isTriggeredBy(name) || isAboutWebhook(name, payload, webhookId)) return false;
    if (condition?.(new Facts({ payload, event: () => name })) === false) return false;
    return !readReceiverIds(find, id, record).includes(webhookId)
      && !findFanOutWebhookIds(find, id).includes(webhookId);
  };
}
