/**
 * Limits how much the queue of deliveries holds: how many may be pending, and how many bytes the
 * pending and the failed ones take, with the events that they share. These bytes are in memory, so
 * the limit also counts what is being accepted, and the bodies that are made.
 *
 * Committed deliveries are counted as their changes are applied, and their events by `EventUse`.
 * Bytes that are being accepted are reserved first, so that concurrent callers do not all count on
 * the same room.
 */
import { AppError } from '../../base/errors.ts';
import type { Collection, Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { delayedEventCollection } from './delayed-events.ts';
import { deliveryHead } from './delivery-codec.ts';
import { deliveryCollection, countsAsQueued } from './delivery.ts';
import type { EventUse } from './event-use.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

/** The Retry-After of a response that says that the queue is full. */
const RETRY_AFTER_FULL_S = 10;
/** About the bytes that a delivery's record takes beside its payload. */
const RECORD_BYTES = 256;
/** Bodies made of accepted payloads may pass the limit by this factor, or none could be sent. */
const BODIES_FACTOR = 1.5;

/**
 * Whether there is room for the body made for a delivery: now, later when other deliveries have
 * left, or never.
 */
type BodyRoom = 'free' | 'later' | 'never';

/** Thrown for what would find no room in an empty queue either. */
export class NeverFitsError extends AppError {
  constructor(what: string) {
    super('unavailable', `Never fits into the queue of deliveries: ${what}`,
      { retryAfterS: RETRY_AFTER_FULL_S });
  }
}

export class QueueCapacity {
  readonly #pendingMax: number;
  readonly #bytesMax: number;
  readonly #eventUse: Pick<EventUse, 'queuedBytes' | 'isQueued'>;
  readonly #delayedEvents: Collection;
  /** The seeds of delayed events that are staged, and may not be committed yet. */
  readonly #stagedSeeds = new Set<string>();
  readonly #unfollow: () => void;
  /** By delivery, the bytes of a body that was made, found no room and was dropped. */
  readonly #postponedBodyBytes = new Map<string, number>();
  /** Of the records of queued deliveries. */
  #recordBytes = 0;
  #reservedBytes = 0;

  constructor(
    store: Store, eventUse: Pick<EventUse, 'queuedBytes' | 'isQueued'>,
    limits: { readonly pendingMax: number; readonly bytesMax: number },
  ) {
    this.#eventUse = eventUse;
    this.#delayedEvents = store.collection(delayedEventCollection.name);
    this.#pendingMax = limits.pendingMax;
    this.#bytesMax = limits.bytesMax;
    const deliveries = store.collection(deliveryCollection.name);
    this.#unfollow = followRecords(deliveries, ({ id, before, after }) => {
      if (isRouteDeliveryId(id)) return;
      this.#recordBytes += countQueuedBytes(after) - countQueuedBytes(before);
      if (after === null || deliveryHead.readStatus(after) !== 'pending') {
        this.#postponedBodyBytes.delete(id);
      }
    });
  }

  /** The bytes of the pending and the failed deliveries, with their events and bodies. */
  get bytes(): number {
    return this.#recordBytes + this.#eventUse.queuedBytes;
  }

  /** Whether the bytes of an event count already. */
  isEventQueued(eventId: string): boolean {
    return this.#eventUse.isQueued(eventId);
  }

  /** Reserves bytes while `accept` runs, whether or not there is room. */
  async reserveWhile<T>(bytes: number, accept: () => Promise<T>): Promise<T> {
    this.#reservedBytes += bytes;
    try {
      return await accept();
    } finally {
      this.#reservedBytes -= bytes;
    }
  }

  /**
   * Throws `unavailable` when `count` more deliveries of a payload of `bytes` have no room beside
   * the `pending` ones and the events that have not begun. `reserved` of these bytes are reserved
   * already.
   */
  assertRoom(pending: number, count: number, bytes: number, reserved = 0): void {
    const delayedCount = this.#delayedEvents.size + this.#stagedSeeds.size;
    if (pending + delayedCount + count > this.#pendingMax) {
      throw queueFullError(`${this.#pendingMax} wait (outgoing.maxPending)`);
    }
    this.assertFits(count, bytes);
    const usedBytes = this.bytes + this.#reservedBytes - reserved;
    if (bytes === 0 || usedBytes + bytes + count * RECORD_BYTES <= this.#bytesMax) return;
    throw queueFullError(`${this.bytes} bytes wait or have failed and are kept `
      + `(outgoing.maxPendingBytes: ${this.#bytesMax})`);
  }

  /** Throws `NeverFitsError` when the deliveries have no room even if none waits. */
  assertFits(count: number, bytes: number): void {
    if (bytes === 0 || bytes + count * RECORD_BYTES <= this.#bytesMax) return;
    throw new NeverFitsError(`${bytes} bytes at once are more than ${this.#bytesMax}, which is `
      + 'outgoing.maxPendingBytes or an eighth of --max-memory: raise that, or send less at once');
  }

  /**
   * Does the same as `assertRoom` for one delayed event, which counts from now on; `seed` is that
   * of its emission. The caller must call `forgetStaged` when the transaction has ended, which may
   * run again.
   */
  assertRoomForDelayed(seed: string, pending: number, bytes: number, reserved: number): void {
    this.#stagedSeeds.delete(seed);
    this.assertRoom(pending, 1, bytes, reserved);
    this.#stagedSeeds.add(seed);
  }

  forgetStaged(seed: string): void {
    this.#stagedSeeds.delete(seed);
  }

  /** Whether a body may be made now. One that found no room is not made before there is room. */
  mayMakeBody(delivery: string): boolean {
    return this.#isFree(this.#postponedBodyBytes.get(delivery) ?? 0);
  }

  /** Checks whether a body of `bytes` can be stored beside its payload of `payloadBytes`. */
  checkBodyRoom(delivery: string, bytes: number, payloadBytes: number): BodyRoom {
    this.#postponedBodyBytes.delete(delivery);
    if (bytes + payloadBytes > this.#bytesMax * BODIES_FACTOR) return 'never';
    if (this.#isFree(bytes)) return 'free';
    this.#postponedBodyBytes.set(delivery, bytes);
    return 'later';
  }

  close(): void {
    this.#unfollow();
  }

  #isFree(bytes: number): boolean {
    return this.bytes + this.#reservedBytes + bytes <= this.#bytesMax * BODIES_FACTOR;
  }
}

function countQueuedBytes(delivery: Buffer | null): number {
  if (delivery === null) return 0;
  return countsAsQueued(deliveryHead.readStatus(delivery)) ? delivery.length : 0;
}

function queueFullError(reason: string): AppError {
  return new AppError('unavailable', `the queue of deliveries is full: ${reason}`, {
    retryAfterS: RETRY_AFTER_FULL_S,
  });
}
