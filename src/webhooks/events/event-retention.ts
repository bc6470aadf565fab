/**
 * Removes events of which no delivery is kept, when they are too old or take too many bytes: the
 * oldest first. An event that was delayed and has not begun stays, and so does one whose deliveries
 * are still being written. That it may go is checked once more inside the transaction that removes
 * it, so a delivery that is staged at the same time keeps it.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { Sweeper } from '../../base/sweeper.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { Collection, FindRecord, Transaction } from '../../store/store-port.ts';
import { CHUNK_ITEMS_MAX, takeChunk } from '../work/item-spec.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import type { RelayContext } from '../relay-context.ts';
import { delayedEventCollection } from '../deliveries/delayed-events.ts';
import { fanOutCollection } from '../deliveries/delivery-changes.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { findLateDeliveries } from '../deliveries/late-deliveries.ts';
import {
  decodeEventDeliveries, decodeEventHead, deleteEvent, eventCollection,
} from '../deliveries/event-record.ts';
import type { EventUse } from '../deliveries/event-use.ts';

type EventLimits = { readonly retentionMs: number; readonly bytesMax: number };

type UnusedEvent = { readonly id: string; readonly bytes: number };

export class EventRetention {
  readonly #context: RelayContext;
  readonly #eventUse: EventUse;
  readonly #limits: EventLimits;
  readonly #events: Collection;
  readonly #sweeper: Sweeper;
  /** No event up to this id is unused: a sweep begins behind it. */
  #sweptUpTo: string | null = null;

  constructor(context: RelayContext, eventUse: EventUse, limits: EventLimits) {
    this.#context = context;
    this.#eventUse = eventUse;
    this.#limits = limits;
    this.#events = context.store.collection(eventCollection.name);
    this.#sweeper = new Sweeper({ ...context, noun: 'events' }, () => this.#sweepAll());
    eventUse.onUnused((eventId) => this.#onUnused(eventId));
    this.#events.onChange(({ id, before }) => {
      if (before === null) this.#onUnused(id);
    });
  }

  start(): void {
    this.#sweeper.start();
  }

  close(): Promise<void> {
    return this.#sweeper.close();
  }

  #onUnused(eventId: string): void {
    // The next sweep must come to this event: the start of an id sorts before it.
    if (this.#sweptUpTo !== null && eventId <= this.#sweptUpTo) {
      this.#sweptUpTo = eventId.slice(0, -1);
    }
    if (this.#computeExcess() > 0 && this.#context.ownership.isMaintainer()) this.#sweeper.sweep();
  }

  #computeExcess(): number {
    return this.#eventUse.unusedBytes - this.#limits.bytesMax;
  }

  async #sweepAll(): Promise<void> {
    const { store, ownership } = this.#context;
    while (this.#sweeper.isStarted && ownership.isMaintainer()) {
      const removable = await this.#findRemovable();
      if (removable.length === 0) return;
      const chunk = takeChunk(removable, ({ bytes }) => bytes);
      const isAnyRemoved = await store.transact((transaction) =>
        chunk.filter(({ id }) => removeUnusedEvent(transaction, id)).length > 0);
      // The rest waits for the next sweep.
      if (!isAnyRemoved) return;
    }
  }

  /** Finds as many of the oldest events as one transaction may remove. */
  async #findRemovable(): Promise<UnusedEvent[]> {
    const { store, clock } = this.#context;
    const oldestMs = clock.now() - this.#limits.retentionMs;
    const removable: UnusedEvent[] = [];
    let excess = this.#computeExcess();
    let lastUsedId = this.#sweptUpTo;
    let isUnusedFound = false;
    await visitInSteps(this.#events, (event, slot) => {
      const id = this.#events.idAt(slot) ?? '';
      if (!this.#eventUse.isUnused(slot)) {
        // The mark follows the walk, unless `#onUnused` has lowered it meanwhile.
        if (!isUnusedFound && this.#sweptUpTo === lastUsedId) {
          lastUsedId = id;
          this.#sweptUpTo = id;
        }
        return 'searched';
      }
      isUnusedFound = true;
      // Ids are in order of time: all later events are younger.
      if (excess <= 0 && readCreatedMs(event) >= oldestMs) return 'done';
      if (hasNotEnded(findCommitted(store), id)) return 'searched';
      removable.push({ id, bytes: event.length });
      excess -= event.length;
      return removable.length < CHUNK_ITEMS_MAX ? 'searched' : 'done';
    }, this.#events.walk({ after: this.#sweptUpTo }));
    return removable;
  }
}

function readCreatedMs(event: Buffer): number {
  return parseTimestamp(decodeEventHead(event).createdAt);
}

/** Returns false for an event with a delivery that is kept or still to come. */
function removeUnusedEvent(transaction: Transaction, id: string): boolean {
  const find = findStaged(transaction);
  const event = find(eventCollection.name, id);
  if (event === undefined || hasNotEnded(find, id)) return false;
  const isKept = (delivery: string): boolean =>
    find(deliveryCollection.name, delivery) !== undefined;
  if (decodeEventDeliveries(event).deliveries.some(isKept)) return false;
  if (findLateDeliveries(transaction, id).deliveries.some(isKept)) return false;
  deleteEvent(transaction, id);
  return true;
}

/** Whether an event has not begun, or has deliveries that are not written yet. */
function hasNotEnded(find: FindRecord, id: string): boolean {
  return find(delayedEventCollection.name, id) !== undefined
    || find(fanOutCollection.name, id) !== undefined;
}
