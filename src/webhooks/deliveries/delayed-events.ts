/**
 * An event that begins later than it was made. It is on disk at once, as a record of `events` whose
 * `deliverAt` says when it begins. Until then it has no deliveries, and a record of the collection
 * `delayed-events` stands beside it:
 *
 *     {"identifier":"<event>","deliverAt":"<time>"}
 *
 * Which webhooks hear it is decided when it begins. One transaction then deletes that record, makes
 * the deliveries (or a fan-out that makes them) and lists them in `event-receivers`. An event that
 * nobody hears stays only if `events.keep` says so. Cancelling it deletes the event and the record.
 * Each of these transactions does nothing unless it finds the record, so the first one of them
 * wins: an event begins once, also after a crash and with several nodes, or it is cancelled.
 *
 * An event whose time has come begins although the queue is full: there was room when it came, and
 * `QueueCapacity` has counted it since. Events begin in the order of their times, as their
 * deliveries may have an order: also when they had to wait because the store took no writes, or
 * while there was no maintainer, which is the node that begins them. One that cannot begin for a
 * reason of its own is tried again later, and holds back no other.
 *
 * Some are overdue: their time came while no maintainer was there, or while the store took no
 * writes. The maintainer starts no attempt until it has tried each of these once, because
 * deliveries placed later must not overtake theirs. If one fails for a temporary reason, such as a
 * lack of room, although the store takes writes, attempts start without these events: nothing says
 * when it will succeed.
 */
import { assert } from '../../base/assert.ts';
import { formatTimestamp, parseTimestamp, type Timer } from '../../base/clock.ts';
import { isTemporary, type AppError } from '../../base/errors.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type {
  Change, CollectionSpec, Store, Transaction, TransactionInputs,
} from '../../store/store-port.ts';
import type { StoredItem } from '../work/item-spec.ts';
import type { Attempter, TaskRecords } from '../work/queue-worker.ts';
import { computeDueMs } from '../work/retry-time.ts';
import type { Scheduler } from '../work/scheduler.ts';
import { createPlace, type QueueSettings, type TaskOrder } from '../work/task.ts';
import type { RelayContext } from '../relay-context.ts';
import { WAITING } from './delivery-changes.ts';
import { addLateDeliveries } from './late-deliveries.ts';
import {
  decodeEventHead, deleteEvent, encodeEvent, eventCollection, readPayloadBytes, type NewEvent,
} from './event-record.ts';
import { stageDeliveries } from './fan-out.ts';

export const delayedEventCollection: CollectionSpec = { name: 'delayed-events', key: 'identifier' };

/** Finds the webhooks that hear an event now, and says what becomes of one unheard. */
export interface AudienceFinder {
  findAudience(transaction: Transaction, name: string, payloadJson: string): readonly string[];
  /** Whether an event stays that no webhook hears. */
  keepsUnheard(name: string, payloadJson: string): boolean;
}

type DelayedEvent = { readonly identifier: string; readonly deliverAt: string };

const QUEUE_KEY = 'delayed events';
/** Not one, which means strict order: an event that cannot begin would hold back all later ones. */
export const DELAYED_EVENT_LIMITS = { runningMax: 2, runningPerQueueMax: 2 };
const PAUSE_MS = 1000;

/** The caller has checked that there is room. */
export function stageDelayedEvent(
  transaction: Transaction, event: NewEvent & { readonly deliverAt: string }, payloadJson: string,
): void {
  const { identifier, deliverAt } = event;
  transaction.put(eventCollection.name, identifier, encodeEvent(event, payloadJson));
  transaction.put(delayedEventCollection.name, identifier,
    JSON.stringify({ identifier, deliverAt }));
}

/** Returns false for an event that has begun or is gone. */
export function stageCancelOfDelayed(transaction: Transaction, id: string): boolean {
  if (!transaction.delete(delayedEventCollection.name, id)) return false;
  deleteEvent(transaction, id);
  return true;
}

/** Does nothing for an event that has begun or was cancelled. */
function stageBegin(
  transaction: Transaction, audienceFinder: AudienceFinder, id: string,
  { seed, nowMs }: Pick<TransactionInputs, 'seed' | 'nowMs'>,
): void {
  const delayedRecord = transaction.find(delayedEventCollection.name, id);
  const eventRecord = transaction.find(eventCollection.name, id);
  if (delayedRecord === undefined) return;
  if (eventRecord === undefined) {
    transaction.delete(delayedEventCollection.name, id);
    return;
  }
  const { name } = decodeEventHead(eventRecord);
  assert(name !== null, 'a forward is not delayed');
  const payloadJson = readPayloadBytes(eventRecord).toString();
  const webhookIds = audienceFinder.findAudience(transaction, name, payloadJson);
  if (webhookIds.length === 0) {
    transaction.delete(delayedEventCollection.name, id);
    if (!audienceFinder.keepsUnheard(name, payloadJson)) deleteEvent(transaction, id);
    return;
  }
  const createdAt = formatTimestamp(nowMs);
  const { deliverAt } = decodeDelayedEvent(delayedRecord);
  // The place is the time of the event, even if it begins later. The clock may have been set back
  // since.
  const queuedAt = formatTimestamp(Math.min(parseTimestamp(deliverAt), nowMs));
  // The ids are not derived from that of the event: deliveries are listed in the order of their
  // ids.
  const deliveryIds = stageDeliveries(transaction,
    { identifier: id, seed, createdAt, event: name, hooks: webhookIds, queuedAt });
  addLateDeliveries(transaction, id, deliveryIds, webhookIds);
  // `QueueCapacity` counts the waiting event as one delivery: the other deliveries are reserved.
  transaction.reserve(WAITING, webhookIds.length - 1);
  // After the deliveries, so that the event never looks unused to a listener of `EventUse`.
  transaction.delete(delayedEventCollection.name, id);
}

export class DelayedEvents implements Attempter<DelayedEvent, string> {
  readonly noun = 'the beginning of a delayed event';
  readonly records: TaskRecords<DelayedEvent>;
  readonly webhookQueues = null;
  readonly #context: RelayContext;
  readonly #audienceFinder: AudienceFinder;
  readonly #scheduler: Scheduler;
  /** Events that hold back all attempts: see the head of this file. */
  readonly #untriedOverdueIds = new Set<string>();
  readonly #overdueEndListeners: (() => void)[] = [];
  #unfollow: () => void = () => {};
  /** Whether an event may have come due in an outage. */
  #mayBeOverdue = true;
  #isFailing = false;
  #pause: Timer | null = null;

  constructor(context: RelayContext, scheduler: Scheduler, audienceFinder: AudienceFinder) {
    const { store } = context;
    this.#context = context;
    this.#scheduler = scheduler;
    this.#audienceFinder = audienceFinder;
    this.records = {
      collection: store.collection(delayedEventCollection.name),
      isTask: () => true, isPending: () => true, decode: decodeDelayedEvent,
      computeDueMs: (event, nowMs) => computeBeginMs(store, event, nowMs),
    };
  }

  hasOverdue(): boolean {
    this.#collectOverdue();
    return this.#untriedOverdueIds.size > 0;
  }

  onOverdueEnd(listener: () => void): void {
    this.#overdueEndListeners.push(listener);
  }

  start(): void {
    this.#unfollow = this.#context.ownership.onChange(() => {
      if (!this.#context.ownership.isMaintainer()) this.#endAllOverdue();
      this.#scheduler.requestRun();
    });
  }

  /** Must be called once its worker is closed. */
  close(): void {
    this.#unfollow();
    this.#pause?.cancel();
  }

  /** With several nodes the maintainer begins events. */
  mayBegin(): boolean {
    this.#noteOutage();
    return this.#pause === null && this.#context.ownership.isMaintainer();
  }

  runAttempt(id: string): { readonly result: string } {
    return { result: id };
  }

  countAndAssess(): null {
    return null;
  }

  async writeResult(id: string): Promise<void> {
    const { store, clock, makeId } = this.#context;
    const inputs = { seed: makeId(), nowMs: clock.now() };
    try {
      await store.transact((transaction) =>
        stageBegin(transaction, this.#audienceFinder, id, inputs));
      // An event that needs no room may begin beside an event that has none.
      if (this.#pause === null) this.#isFailing = false;
    } catch (thrown) {
      // Returns as if written: the record is still there, so the worker makes the event due at its
      // place.
      if (isTemporary(thrown)) return this.#pauseAll(thrown);
      this.#endOverdue(id);
      throw thrown;
    }
  }

  logLabels(id: string): object {
    return { event: id };
  }

  onChange({ id, after }: Change): void {
    if (after === null) this.#endOverdue(id);
  }

  placeTask({ item: { identifier, deliverAt } }: StoredItem<DelayedEvent>): {
    readonly key: string; readonly order: TaskOrder;
  } {
    return { key: QUEUE_KEY, order: { place: createPlace(parseTimestamp(deliverAt), identifier) } };
  }

  describeQueue(key: string): QueueSettings {
    return { key, target: key, mayStart: true };
  }

  /** The worker calls this whenever an event is due, also in an outage. */
  #noteOutage(): void {
    const { store, ownership } = this.#context;
    if (!ownership.isMaintainer() || store.failure !== null) this.#mayBeOverdue = true;
  }

  /** Collects the events whose time came in an outage. Only the maintainer may have any. */
  #collectOverdue(): void {
    if (!this.#mayBeOverdue || !this.#context.ownership.isMaintainer()) return;
    this.#mayBeOverdue = false;
    const nowMs = this.#context.clock.now();
    for (const id of this.#scheduler.listTaskIds(QUEUE_KEY, Infinity)) {
      if ((this.#scheduler.find(id)?.dueAtMs ?? Infinity) <= nowMs) this.#untriedOverdueIds.add(id);
    }
  }

  #endOverdue(id: string): void {
    if (!this.#untriedOverdueIds.delete(id) || this.#untriedOverdueIds.size > 0) return;
    for (const listener of this.#overdueEndListeners) listener();
  }

  #endAllOverdue(): void {
    for (const id of this.#untriedOverdueIds) this.#endOverdue(id);
  }

  /** Transactions staged together fail together. */
  #pauseAll(error: AppError): void {
    const { store, clock, log } = this.#context;
    if (!this.#isFailing) log.error('delayed events wait until they can be written', { error });
    this.#isFailing = true;
    // The event is tried again before the later ones: if it alone let attempts start, these never
    // would.
    if (store.failure === null) this.#endAllOverdue();
    else this.#mayBeOverdue = true;
    this.#pause ??= clock.startTimer(PAUSE_MS, () => {
      this.#pause = null;
      this.#scheduler.requestRun();
    });
  }
}

function computeBeginMs(
  store: Store, { identifier, deliverAt }: DelayedEvent, nowMs: number,
): number {
  const record = store.collection(eventCollection.name).findBytes(identifier);
  const createdAt = record === undefined ? formatTimestamp(nowMs)
    : decodeEventHead(record).createdAt;
  return computeDueMs(deliverAt, createdAt, nowMs);
}

function decodeDelayedEvent(bytes: Buffer): DelayedEvent {
  return decodeRecordAs<DelayedEvent>(bytes, ({ identifier, deliverAt }) =>
    typeof identifier === 'string' && typeof deliverAt === 'string');
}
