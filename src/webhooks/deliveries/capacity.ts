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
import { statusOf } from './codec.ts';
import { deliveryCollection, isQueued } from './delivery.ts';
import { eventCollection, idleBytesOf, isIdleId } from './message.ts';

/** Seconds that a caller who found the queue full is told to wait. */
const FULL_RETRY_S = 10;
/** Bytes that a delivery's record takes besides its payload, about. */
const RECORD_BYTES = 256;
/** Bodies made of accepted payloads may pass the limit by this factor, or nothing could leave. */
const BODIES_FACTOR = 1.5;

/**
 * Room for a body that is made for a delivery: there is; there will be, once others have left; or
 * there never can be.
 */
type BodyRoom = 'free' | 'later' | 'never';

export class Capacity {
  readonly #pendingMax: number;
  readonly #bytesMax: number;
  readonly #unfollow: readonly (() => void)[];
  /** Bytes of bodies that were made, found no room and were dropped, by delivery. */
  readonly #heldBodies = new Map<string, number>();
  #bytes = 0;
  #reservedBytes = 0;

  constructor(store: Store, limits: { readonly pendingMax: number; readonly bytesMax: number }) {
    this.#pendingMax = limits.pendingMax;
    this.#bytesMax = limits.bytesMax;
    this.#unfollow = [
      this.#count(store.collection(deliveryCollection.name), keptBytes),
      followRecords(store.collection(deliveryCollection.name), ({ id, after }) => {
        if (after === null || statusOf(after) !== 'pending') this.#heldBodies.delete(id);
      }),
      this.#count(store.collection(eventCollection.name), queuedBytes),
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
  check(pending: number, count: number, bytes: number, reserved = 0): void {
    if (pending + count > this.#pendingMax) {
      throw full(`${this.#pendingMax} wait (outgoing.maxPending)`);
    }
    const taken = this.#bytes + this.#reservedBytes - reserved;
    if (bytes === 0 || taken + bytes + count * RECORD_BYTES <= this.#bytesMax) return;
    throw full(`${this.#bytes} bytes wait or have failed and are kept `
      + `(outgoing.maxPendingBytes: ${this.#bytesMax})`);
  }

  /** Whether a delivery's body can be made now: one that found no room before is not made again. */
  mayMakeBody(delivery: string): boolean {
    return this.#isFree(this.#heldBodies.get(delivery) ?? 0);
  }

  /** Whether a body of `bytes` can be stored beside its payload of `payloadBytes`. */
  roomForBody(delivery: string, bytes: number, payloadBytes: number): BodyRoom {
    this.#heldBodies.delete(delivery);
    if (bytes + payloadBytes > this.#bytesMax * BODIES_FACTOR) return 'never';
    if (this.#isFree(bytes)) return 'free';
    this.#heldBodies.set(delivery, bytes);
    return 'later';
  }

  close(): void {
    for (const unfollow of this.#unfollow) unfollow();
  }

  #isFree(bytes: number): boolean {
    return this.#bytes + this.#reservedBytes + bytes <= this.#bytesMax * BODIES_FACTOR;
  }

  #count(collection: Collection, bytesOf: (record: Buffer, id: string) => number): () => void {
    return followRecords(collection, ({ id, before, after }) => {
      if (before !== null) this.#bytes -= bytesOf(before, id);
      if (after !== null) this.#bytes += bytesOf(after, id);
    });
  }
}

function keptBytes(delivery: Buffer): number {
  return isQueued(statusOf(delivery)) ? delivery.length : 0;
}

function queuedBytes(message: Buffer, id: string): number {
  return isIdleId(id) ? -idleBytesOf(message) : message.length;
}

function full(why: string): AppError {
  return new AppError('unavailable', `the queue of deliveries is full: ${why}`, {
    retryAfterS: FULL_RETRY_S,
  });
}
