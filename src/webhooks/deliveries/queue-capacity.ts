/**
 * How much the queue of deliveries may hold: how many may be pending, and how many bytes those may
 * take that are pending, or have failed and are kept, with the messages that they share. The bytes
 * lie in memory, so the limit holds for what is accepted, what is being accepted, and what is made
 * of it.
 *
 * What is committed is counted from the applied entries. Whoever is about to accept something
 * reserves its bytes first, so that callers at the same time do not all find the same room.
 */
import { AppError } from '../../base/errors.ts';
import type { Collection, Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { readStatus } from './delivery-codec.ts';
import { deliveryCollection, isQueued } from './delivery.ts';
import { eventCollection, readFinishedBytes, isFinishedMarkId } from './event-record.ts';

/** Seconds that a caller who found the queue full is told to wait. */
const RETRY_AFTER_FULL_S = 10;
/** Bytes that a delivery's record takes besides its payload, about. */
const RECORD_BYTES = 256;
/** Bodies made of accepted payloads may pass the limit by this factor, or nothing could leave. */
const BODIES_FACTOR = 1.5;

/**
 * Room for a body that is made for a delivery: there is; there will be, once others have left; or
 * there never can be.
 */
type BodyRoom = 'free' | 'later' | 'never';

export class QueueCapacity {
  readonly #pendingMax: number;
  readonly #bytesMax: number;
  readonly #unfollow: readonly (() => void)[];
  /** Bytes of bodies that were made, found no room and were dropped, by delivery. */
  readonly #postponedBodyBytes = new Map<string, number>();
  #bytes = 0;
  #reservedBytes = 0;

  constructor(store: Store, limits: { readonly pendingMax: number; readonly bytesMax: number }) {
    this.#pendingMax = limits.pendingMax;
    this.#bytesMax = limits.bytesMax;
    this.#unfollow = [
      this.#followBytes(store.collection(deliveryCollection.name), countDeliveryBytes),
      followRecords(store.collection(deliveryCollection.name), ({ id, after }) => {
        if (after === null || readStatus(after) !== 'pending') this.#postponedBodyBytes.delete(id);
      }),
      this.#followBytes(store.collection(eventCollection.name), countEventBytes),
    ];
  }

  /** Bytes of what is pending, or has failed and is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps bytes reserved for what `accept` is about to accept, whether there is room or not. */
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
   * the `pending` ones. `reserved` of these bytes are reserved already.
   */
  assertRoom(pending: number, count: number, bytes: number, reserved = 0): void {
    if (pending + count > this.#pendingMax) {
      throw queueFullError(`${this.#pendingMax} wait (outgoing.maxPending)`);
    }
    const usedBytes = this.#bytes + this.#reservedBytes - reserved;
    if (bytes === 0 || usedBytes + bytes + count * RECORD_BYTES <= this.#bytesMax) return;
    throw queueFullError(`${this.#bytes} bytes wait or have failed and are kept `
      + `(outgoing.maxPendingBytes: ${this.#bytesMax})`);
  }

  /** Whether a delivery's body can be made now: one that found no room before is not made again. */
  mayMakeBody(delivery: string): boolean {
    return this.#isFree(this.#postponedBodyBytes.get(delivery) ?? 0);
  }

  /** Whether a body of `bytes` can be stored beside its payload of `payloadBytes`. */
  checkBodyRoom(delivery: string, bytes: number, payloadBytes: number): BodyRoom {
    this.#postponedBodyBytes.delete(delivery);
    if (bytes + payloadBytes > this.#bytesMax * BODIES_FACTOR) return 'never';
    if (this.#isFree(bytes)) return 'free';
    this.#postponedBodyBytes.set(delivery, bytes);
    return 'later';
  }

  close(): void {
    for (const unfollow of this.#unfollow) unfollow();
  }

  #isFree(bytes: number): boolean {
    return this.#bytes + this.#reservedBytes + bytes <= this.#bytesMax * BODIES_FACTOR;
  }

  #followBytes(
    collection: Collection, bytesOf: (record: Buffer, id: string) => number,
  ): () => void {
    return followRecords(collection, ({ id, before, after }) => {
      if (before !== null) this.#bytes -= bytesOf(before, id);
      if (after !== null) this.#bytes += bytesOf(after, id);
    });
  }
}

function countDeliveryBytes(delivery: Buffer): number {
  return isQueued(readStatus(delivery)) ? delivery.length : 0;
}

function countEventBytes(record: Buffer, id: string): number {
  return isFinishedMarkId(id) ? -readFinishedBytes(record) : record.length;
}

function queueFullError(reason: string): AppError {
  return new AppError('unavailable', `the queue of deliveries is full: ${reason}`, {
    retryAfterS: RETRY_AFTER_FULL_S,
  });
}
