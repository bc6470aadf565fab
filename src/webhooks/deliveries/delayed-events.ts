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
 * deliveries placed later must not overtake theirs. If there is no room for one, although the store
 * takes writes, attempts start without these events: nothing says when there will be room.
 */
import { assert } from '../../base/assert.ts';
import { formatTimestamp, parseTimestamp, type Clock, type Timer } from '../../base/clock.ts';
import { isTemporary } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { PriorityQueue } from '../../base/structures/priority-queue.ts';
import { deriveIds } from '../../base/uuid.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type {
  Change, Collection, CollectionSpec, Store, Transaction, TransactionInputs,
} from '../../store/store-port.ts';
import { BackgroundTasks } from '../durable-queue/background-tasks.ts';
import type { Ownership } from '../durable-queue/ownership.ts';
import { CHUNK_ITEMS_MAX } from '../durable-queue/queue-spec.ts';
import { computeDueMs } from '../durable-queue/retry-time.ts';
import { DueTimes, type TimedTask } from '../scheduler/due-times.ts';
import { WAITING, stageEventWithDeliveries } from './delivery-changes.ts';
import { createDelivery } from './delivery.ts';
import { addLateDeliveries } from './late-deliveries.ts';
import {
  decodeEventHead, deleteEvent, encodeEvent, eventCollection, readPayloadBytes, type EventHead,
} from './event-record.ts';
import { putFanOut } from './fan-out.ts';

export const delayedEventCollection: CollectionSpec = { name: 'delayed-events', key: 'identifier' };

type DelayedEventDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  readonly ownership: Pick<Ownership, 'isMaintainer' | 'onChange'>;
  readonly audienceFinder: AudienceFinder;
};

/** Says which webhooks hear an event at this moment, and what becomes of one that nobody hears. */
export interface AudienceFinder {
  /** The identifiers of the webhooks that hear an event of that name. */
  findWebhookIds(transaction: Transaction, name: string, payloadJson: string): readonly string[];
  /** Whether an event that no webhook hears is kept. */
  readonly keepsUnheard: boolean;
}

/** An event that has not begun, as far as it is committed. */
type DelayedEvent = TimedTask & {
  readonly id: string;
  readonly deliverAt: string;
  failures: number;
};

/** Events that begin at the same time: their transactions share a batch of the journal. */
const RUNNING_MAX = 64;
/** The pause after the store took no writes. */
const PAUSE_MS = 1000;
/** The backoff of an event that cannot begin for a reason of its own: it doubles each time. */
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;

/** Stages an event that begins later. The caller has checked that there is room. */
export function stageDelayedEvent(
  transaction: Transaction, event: EventHead & { readonly deliverAt: string }, payloadJson: string,
): void {
  const { identifier, deliverAt } = event;
  transaction.put(eventCollection.name, identifier, encodeEvent(event, payloadJson));
  transaction.put(delayedEventCollection.name, identifier,
    JSON.stringify({ identifier, deliverAt }));
}

/** Stages the end of an event that has not begun. False: it has begun, or is gone. */
export function stageCancelOfDelayed(transaction: Transaction, id: string): boolean {
  if (!transaction.delete(delayedEventCollection.name, id)) return false;
  deleteEvent(transaction, id);
  return true;
}

/** Stages the beginning of an event. Does nothing to one that has begun or was cancelled. */
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
  const webhookIds = audienceFinder.findWebhookIds(transaction, name, payloadJson);
  if (webhookIds.length === 0) {
    transaction.delete(delayedEventCollection.name, id);
    if (!audienceFinder.keepsUnheard) deleteEvent(transaction, id);
    return;
  }
  // Not derived from the event's identifier: deliveries are listed in the order of their ids.
  const nextId = deriveIds(seed);
  const createdAt = formatTimestamp(nowMs);
  const { deliverAt } = decodeDelayedEvent(delayedRecord);
  // Its place among others is its time, even if this process was not there then.
  const queuedAt = parseTimestamp(deliverAt) < nowMs ? deliverAt : null;
  const deliveries = webhookIds.map((webhookId) => createDelivery({
    identifier: nextId(), hook: webhookId, event: name, eventId: id, queuedAt,
  }, createdAt));
  if (webhookIds.length > CHUNK_ITEMS_MAX) {
    putFanOut(transaction, {
      identifier: id, seed, createdAt, event: name, hooks: webhookIds,
      ...queuedAt === null ? {} : { queuedAt },
    });
  } else {
    stageEventWithDeliveries(transaction, deliveries, null);
  }
  addLateDeliveries(transaction, id, deliveries.map(({ identifier }) => identifier), webhookIds);
  // One of the deliveries takes the place that the event has in the queue.
  transaction.reserve(WAITING, webhookIds.length - 1);
  // After the deliveries: the event never looks unused, so no listener of `EventUse` is called.
  transaction.delete(delayedEventCollection.name, id);
}

/** Begins each event when its time comes. */
export class DelayedEvents {
  readonly #deps: DelayedEventDeps;
  readonly #events: Collection;
  readonly #delayedEvents = new Map<string, DelayedEvent>();
  readonly #dueTimes: DueTimes<DelayedEvent>;
  /** Events whose time has come, without those that are beginning. Some may be gone. */
  readonly #dueEvents = new PriorityQueue<DelayedEvent>(isBefore);
  /** Events that hold back all attempts: see the head of this file. */
  readonly #overdueEvents = new Set<DelayedEvent>();
  readonly #overdueEndListeners: (() => void)[] = [];
  readonly #beginning: BackgroundTasks;
  readonly #unfollow: readonly (() => void)[];
  #isStarted = false;
  /** Whether this node was the maintainer at the last change of ownership. */
  #wasMaintainer = false;
  /** Whether the last transaction failed, because the store takes no writes. */
  #isFailing = false;
  /** The pause after that. */
  #pause: Timer | null = null;

  constructor(deps: DelayedEventDeps) {
    this.#deps = deps;
    this.#events = deps.store.collection(eventCollection.name);
    this.#dueTimes = new DueTimes(deps.clock, (event) => this.#onDue(event));
    this.#beginning = new BackgroundTasks(
      deps.log, 'a delayed event could not begin', () => this.#beginDueEvents());
    this.#unfollow = [
      followRecords(deps.store.collection(delayedEventCollection.name),
        (change) => this.#applyChange(change)),
      deps.ownership.onChange(() => this.#onOwnershipChange()),
      deps.store.onFailure((reason) => {
        if (reason === null) this.#onStoreRecovery();
      }),
    ];
  }

  /** The number of events that are overdue, and were not tried since. */
  get overdueCount(): number {
    return this.#overdueEvents.size;
  }

  /** Calls `listener` when no event is overdue any more. */
  onOverdueEnd(listener: () => void): void {
    this.#overdueEndListeners.push(listener);
  }

  start(): void {
    this.#isStarted = true;
    this.#onOwnershipChange();
    this.#dueTimes.start();
  }

  /** Resolves when no event is beginning. Those whose time comes later wait for the next start. */
  async close(): Promise<void> {
    this.#isStarted = false;
    this.#dueTimes.close();
    this.#endPause();
    for (const unfollow of this.#unfollow) unfollow();
    await this.#beginning.whenIdle();
  }

  /** Makes all events overdue whose time has come. Only the maintainer may have any. */
  #addOverdue(): void {
    const nowMs = this.#deps.clock.now();
    for (const event of this.#delayedEvents.values()) {
      if (event.dueAtMs <= nowMs) this.#overdueEvents.add(event);
    }
  }

  /** Has those that could not be written begin now, and not after the pause. */
  #onStoreRecovery(): void {
    if (this.#isStarted && this.#deps.ownership.isMaintainer()) this.#addOverdue();
    this.#endPause();
    this.#beginDueEvents();
  }

  #endPause(): void {
    this.#pause?.cancel();
    this.#pause = null;
  }

  #endOverdue(event: DelayedEvent): void {
    if (!this.#overdueEvents.delete(event) || this.#overdueEvents.size > 0) return;
    for (const listener of this.#overdueEndListeners) listener();
  }

  #endAllOverdue(): void {
    for (const event of this.#overdueEvents) this.#endOverdue(event);
  }

  #applyChange({ id, after }: Change): void {
    const known = this.#delayedEvents.get(id);
    if (known !== undefined) this.#forget(known);
    if (after === null) return;
    const { deliverAt } = decodeDelayedEvent(after);
    const event: DelayedEvent = { id, deliverAt, state: 'ready', dueAtMs: 0, failures: 0 };
    this.#delayedEvents.set(id, event);
    this.#dueTimes.wait(event, this.#computeDueMs(event));
  }

  #forget(event: DelayedEvent): void {
    this.#delayedEvents.delete(event.id);
    if (event.state === 'waiting') this.#dueTimes.countStaleWait();
    event.state = 'gone';
    this.#endOverdue(event);
  }

  #computeDueMs({ id, deliverAt }: DelayedEvent): number {
    const record = this.#events.findBytes(id);
    const nowMs = this.#deps.clock.now();
    const createdAt = record === undefined ? formatTimestamp(nowMs)
      : decodeEventHead(record).createdAt;
    return computeDueMs(deliverAt, createdAt, nowMs);
  }

  #onDue(event: DelayedEvent): void {
    event.state = 'ready';
    this.#dueEvents.push(event);
    this.#beginDueEvents();
  }

  #onOwnershipChange(): void {
    if (!this.#isStarted) return;
    const isMaintainer = this.#deps.ownership.isMaintainer();
    if (!isMaintainer) this.#endAllOverdue();
    else if (!this.#wasMaintainer) this.#addOverdue();
    this.#wasMaintainer = isMaintainer;
    this.#beginDueEvents();
  }

  /** Of several nodes the maintainer begins them; another one does when it takes its place. */
  #beginDueEvents(): void {
    while (this.#isStarted && this.#pause === null && this.#beginning.count < RUNNING_MAX
      && this.#deps.ownership.isMaintainer()) {
      const event = this.#dueEvents.pop();
      if (event === undefined) return;
      if (event.state === 'ready') this.#beginning.run(this.#begin(event));
    }
  }

  async #begin(event: DelayedEvent): Promise<void> {
    const { store, clock, log, makeId, audienceFinder } = this.#deps;
    const inputs = { seed: makeId(), nowMs: clock.now() };
    event.state = 'unsettled';
    try {
      await store.transact((transaction) =>
        stageBegin(transaction, audienceFinder, event.id, inputs));
      this.#isFailing = false;
    } catch (error) {
      if (isTemporary(error)) return this.#onStoreFailure(event, error);
      log.error('a delayed event could not begin', { event: event.id, error });
      this.#endOverdue(event);
      if (event.state !== 'unsettled') return;
      const waitMs = Math.min(RETRY_MS_MIN * 2 ** event.failures, RETRY_MS_MAX);
      event.failures += 1;
      this.#dueTimes.wait(event, clock.now() + waitMs);
    }
  }

  /** Transactions staged together fail together, so pushing the event back keeps the order. */
  #onStoreFailure(event: DelayedEvent, error: unknown): void {
    const { store, clock, log } = this.#deps;
    if (!this.#isFailing) log.error('delayed events wait until they can be written', { error });
    this.#isFailing = true;
    if (event.state === 'unsettled') {
      event.state = 'ready';
      this.#dueEvents.push(event);
    }
    // It is tried again before the later ones, so if it alone let attempts go, these never would.
    if (store.failure === null) this.#endAllOverdue();
    if (!this.#isStarted) return;
    this.#pause ??= clock.startTimer(PAUSE_MS, () => {
      this.#pause = null;
      this.#beginDueEvents();
    });
  }
}

function isBefore(left: DelayedEvent, right: DelayedEvent): boolean {
  return left.deliverAt === right.deliverAt
    ? left.id < right.id : left.deliverAt < right.deliverAt;
}

function decodeDelayedEvent(bytes: Buffer): { readonly deliverAt: string } {
  return decodeRecordAs<{ readonly deliverAt: string }>(bytes, ({ deliverAt }) =>
    typeof deliverAt === 'string');
}
