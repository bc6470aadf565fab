/**
 * Counts for each event how many of its deliveries are kept, and how many of these are queued, so
 * that its bytes are counted once however many share it:
 *
 * - queued: a delivery of it is pending, or has failed and may be retried; or the event is delayed,
 *   which counts like one pending delivery. These bytes count for the capacity of the queue;
 * - finished: it is not queued, and all deliveries that are kept are delivered or cancelled. These
 *   bytes count for the retention of deliveries;
 * - unused: no delivery is kept, and the event is not delayed. These bytes count for the retention
 *   of events.
 *
 * The body that was made for a delivery counts like the delivery. It is a projection: it follows
 * from the applied changes alone, in whatever order those of one transaction are applied. The
 * counts are typed arrays by the slot of the event, as an object for each of a million events would
 * take more memory than the events.
 */
import { copyInto } from '../../base/structures/typed-arrays.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Collection, Store } from '../../store/store-port.ts';
import { deliveryBodyCollection } from './delivery-body.ts';
import { followDeliveries } from './delivery-changes.ts';
import { deliveryHead, readEventId } from './delivery-codec.ts';
import { countsAsQueued, deliveryCollection } from './delivery.ts';
import { delayedEventCollection } from './delayed-events.ts';
import { eventCollection } from './event-record.ts';

/** Counts kept deliveries and queued ones among them; a delayed event is one more of both. */
type UseCounts = { readonly keptCount: number; readonly queuedCount: number };
type UseKind = 'queued' | 'finished' | 'unused';
type BodyUseKind = Exclude<UseKind, 'unused'>;

// Compared by identity: a change from one to itself changes nothing.
const NO_USE: UseCounts = { keptCount: 0, queuedCount: 0 };
const FINISHED_USE: UseCounts = { keptCount: 1, queuedCount: 0 };
const QUEUED_USE: UseCounts = { keptCount: 1, queuedCount: 1 };
const CAPACITY_MIN = 1024;

export class EventUse {
  readonly #events: Collection;
  readonly #deliveries: Collection;
  readonly #bodies: Collection;
  readonly #eventBytes = { queued: 0, finished: 0, unused: 0 };
  readonly #bodyBytes = { queued: 0, finished: 0 };
  /** The counts of events that are not applied yet, or are gone. */
  readonly #countsWithoutEvent = new Map<string, UseCounts>();
  readonly #unusedListeners: ((eventId: string) => void)[] = [];
  #keptBySlot = new Uint32Array(CAPACITY_MIN);
  #queuedBySlot = new Uint32Array(CAPACITY_MIN);

  constructor(store: Pick<Store, 'collection'>) {
    this.#events = store.collection(eventCollection.name);
    this.#deliveries = store.collection(deliveryCollection.name);
    this.#bodies = store.collection(deliveryBodyCollection.name);
    followRecords(this.#events, (change, slot) => this.#applyEvent(change, slot));
    // A stored body is counted by `#moveBody` when its delivery is: bodies need only changes.
    followDeliveries(store, (change) => this.#applyDelivery(change));
    this.#bodies.onChange((change) => this.#applyBody(change));
    followRecords(store.collection(delayedEventCollection.name), ({ id, before, after }) =>
      this.#applyUse(id, countDelayedUse(before), countDelayedUse(after)));
  }

  get queuedBytes(): number {
    return this.#eventBytes.queued + this.#bodyBytes.queued;
  }

  get finishedBytes(): number {
    return this.#eventBytes.finished + this.#bodyBytes.finished;
  }

  get unusedBytes(): number {
    return this.#eventBytes.unused;
  }

  isQueued(eventId: string): boolean {
    const slot = this.#events.findSlot(eventId);
    return slot !== -1 && this.#countsAt(slot).queuedCount > 0;
  }

  isUnused(slot: number): boolean {
    return this.#keptBySlot[slot] === 0;
  }

  /** The bytes of a delivery beside its record: its body, and its part of its event. */
  computeBytesBeside(id: string, delivery: Buffer): number {
    const bodyBytes = this.#bodies.findBytes(id)?.length ?? 0;
    const slot = this.#events.findSlot(readEventId(delivery));
    const eventBytes = this.#events.bytesAt(slot)?.length ?? 0;
    return bodyBytes + Math.ceil(eventBytes / Math.max(1, this.#keptBySlot[slot] ?? 1));
  }

  /**
   * Calls `listener` with the id of each event whose last delivery has gone. As that may happen
   * within a transaction that adds another, or for an event that has gone, the listener must ask
   * again.
   */
  onUnused(listener: (eventId: string) => void): void {
    this.#unusedListeners.push(listener);
  }

  #applyEvent({ id, before, after }: Change, slot: number): void {
    if (before === null) {
      const counts = this.#countsWithoutEvent.get(id) ?? NO_USE;
      this.#countsWithoutEvent.delete(id);
      return this.#setCounts(slot, counts, 0);
    }
    const counts = this.#countsAt(slot);
    this.#eventBytes[classifyUse(counts)] -= before.length;
    if (after !== null) this.#eventBytes[classifyUse(counts)] += after.length;
    else if (counts.keptCount > 0) this.#countsWithoutEvent.set(id, counts);
  }

  #applyDelivery({ id, before, after }: Change): void {
    if (this.#bodies.size > 0) this.#moveBody(id, classifyBodyUse(before), classifyBodyUse(after));
    const record = after ?? before;
    const [from, to] = [countUse(before), countUse(after)];
    if (record !== null) this.#applyUse(readEventId(record), from, to);
  }

  #applyUse(eventId: string, from: UseCounts, to: UseCounts): void {
    if (from === to) return;
    const slot = this.#events.findSlot(eventId);
    const counts = slot === -1
      ? this.#countsWithoutEvent.get(eventId) ?? NO_USE : this.#countsAt(slot);
    const next = {
      keptCount: counts.keptCount + to.keptCount - from.keptCount,
      queuedCount: counts.queuedCount + to.queuedCount - from.queuedCount,
    };
    if (slot !== -1) this.#setCounts(slot, next, this.#events.bytesAt(slot)?.length ?? 0);
    else if (next.keptCount > 0) this.#countsWithoutEvent.set(eventId, next);
    else this.#countsWithoutEvent.delete(eventId);
    if (next.keptCount === 0) for (const listener of this.#unusedListeners) listener(eventId);
  }

  #applyBody({ id, before, after }: Change): void {
    const kind = classifyBodyUse(this.#deliveries.findBytes(id) ?? null);
    if (kind !== null) this.#bodyBytes[kind] += (after?.length ?? 0) - (before?.length ?? 0);
  }

  #moveBody(id: string, from: BodyUseKind | null, to: BodyUseKind | null): void {
    if (from === to) return;
    const bytes = this.#bodies.findBytes(id)?.length ?? 0;
    if (from !== null) this.#bodyBytes[from] -= bytes;
    if (to !== null) this.#bodyBytes[to] += bytes;
  }

  #countsAt(slot: number): UseCounts {
    return { keptCount: this.#keptBySlot[slot] ?? 0, queuedCount: this.#queuedBySlot[slot] ?? 0 };
  }

  /** `countedBytes` is what the former counts of the event have counted. */
  #setCounts(slot: number, counts: UseCounts, countedBytes: number): void {
    this.#makeRoom(slot);
    this.#eventBytes[classifyUse(this.#countsAt(slot))] -= countedBytes;
    this.#keptBySlot[slot] = counts.keptCount;
    this.#queuedBySlot[slot] = counts.queuedCount;
    this.#eventBytes[classifyUse(counts)] += this.#events.bytesAt(slot)?.length ?? 0;
  }

  #makeRoom(slot: number): void {
    const { length } = this.#keptBySlot;
    if (slot < length) return;
    const capacity = Math.max(2 * length, this.#events.slotBound);
    this.#keptBySlot = copyInto(new Uint32Array(capacity), this.#keptBySlot);
    this.#queuedBySlot = copyInto(new Uint32Array(capacity), this.#queuedBySlot);
  }
}

function classifyUse({ keptCount, queuedCount }: UseCounts): UseKind {
  if (queuedCount > 0) return 'queued';
  return keptCount > 0 ? 'finished' : 'unused';
}

function countUse(delivery: Buffer | null): UseCounts {
  if (delivery === null) return NO_USE;
  return countsAsQueued(deliveryHead.readStatus(delivery)) ? QUEUED_USE : FINISHED_USE;
}

function countDelayedUse(delayedEvent: Buffer | null): UseCounts {
  return delayedEvent === null ? NO_USE : QUEUED_USE;
}

function classifyBodyUse(delivery: Buffer | null): BodyUseKind | null {
  if (delivery === null) return null;
  return countsAsQueued(deliveryHead.readStatus(delivery)) ? 'queued' : 'finished';
}
