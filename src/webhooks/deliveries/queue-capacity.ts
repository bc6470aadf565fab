/**
 * Counts what the queue of deliveries holds, and limits it: how many may be pending, and how many
 * bytes the pending and the failed ones take, with the events that they share. These bytes are in
 * memory, so the limit also counts what is being accepted, and the bodies that are made.
 *
 * Committed deliveries are counted as their changes are applied, and their events by `EventUse`.
 * The transaction that stages deliveries reserves their number and their bytes, so that
 * transactions do not all count on the same room. Bodies are made outside of transactions:
 * `reserveBodyWhile`.
 *
 * Failed deliveries give way before the room ends: `onFull` tells how many bytes are missing.
 *
 * A webhook whose target is down must not get the room of all others. So none has more waiting than
 * the queue has left, as soon as there is another: the first that takes nothing gets half of the
 * queue, two get a third each. A webhook for which nothing waits has room as long as the queue has.
 * Only new events are limited so: a resend or a backfill fills the queue as its operator wills.
 */
import { AppError } from '../../base/errors.ts';
import type { Collection, Store, Transaction } from '../../store/store-port.ts';
import { decodeOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import { outgoingCollection } from '../outgoing/outgoing-webhook.ts';
import { formatWebhookLabel } from '../webhook-label.ts';
import { delayedEventCollection } from './delayed-events.ts';
import { WAITING, followDeliveries } from './delivery-changes.ts';
import { outgoingHead, readEventId, readWebhookId } from './delivery-codec.ts';
import { countsAsQueued, type OutgoingStatus } from './delivery.ts';
import { eventCollection } from './event-record.ts';
import type { EventUse } from './event-use.ts';
import { isFannedOut, type FanOuts } from './fan-out.ts';

/** Retry-After while the queue is full. */
const RETRY_AFTER_FULL_S = 10;
const RECORD_BYTES = 256;
/** Bodies of accepted payloads may pass the limit by this factor: else none could be sent. */
const BODIES_FACTOR = 1.5;
/** Room is asked for once less than this is left: else a call would be refused for it. */
const ROOM_LEFT_SHARE = 1 / 16;
/** So much more room is asked for than is missing: else each next call would ask again. */
const ROOM_AHEAD_SHARE = 1 / 8;
/** Transactions reserve the bytes of what they accept, with its records. */
const PAYLOAD_BYTES = 'bytes of waiting payloads';

/** The share that callers may fill whose tokens are bound to webhooks. The rest is for others. */
const BOUND_SHARE = 0.5;

type StatusCounts = { readonly [Status in OutgoingStatus]: number };

/** The limits of the queue, and what counts towards them. */
export type QueueRoom = {
  readonly pendingMax: number;
  readonly bytes: number;
  readonly bytesMax: number;
  /** Why the queue refused what came last, and would refuse it again; null: it takes more. */
  readonly fullReason: string | null;
  /** Webhooks whose next event is refused, so that others have room. */
  readonly fullWebhooks: readonly FullWebhook[];
};

/** A webhook that has as much waiting as is left. `webhook` is its label. */
type FullWebhook =
  { readonly hook: string; readonly webhook: string; readonly pending: number };

/** What waits for a webhook, with its events. */
type WaitingAmount = { count: number; bytes: number };

type ReserveOptions = {
  /** The caller's token is bound to webhooks. */
  readonly isBound?: boolean;
  /** The webhooks of a new event; empty for what is sent again. */
  readonly webhookIds?: readonly string[];
};

/** One more delivery, however small. */
const LEAST_DEMAND = { count: 1, bytes: 1 };
const NOTHING: Readonly<WaitingAmount> = { count: 0, bytes: 0 };
const FULL_WEBHOOKS_MAX = 5;

/** Room for the body of a delivery: now, when other deliveries have left, or never. */
type BodyRoom = 'free' | 'later' | 'never';

/** Thrown when an empty queue would have no room either. */
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
  readonly #fanOuts: Pick<FanOuts, 'unwrittenCount'>;
  readonly #delayedEvents: Collection;
  readonly #counts = { pending: 0, delivered: 0, failed: 0, cancelled: 0 };
  readonly #events: Collection;
  readonly #webhooks: Collection;
  readonly #waitingByWebhook = new Map<string, WaitingAmount>();
  /** Their sum: an event for several webhooks counts for each. */
  readonly #waitingForAll: WaitingAmount = { count: 0, bytes: 0 };
  /** By delivery, the bytes of a body that found no room and was dropped. */
  readonly #postponedBodyBytes = new Map<string, number>();
  /** The last demand, where it was refused. */
  #refusedDemand = LEAST_DEMAND;
  #fullListener: (missingBytes: number) => void = () => {};
  #recordBytes = 0;
  #bodyBytes = 0;

  constructor(
    store: Pick<Store, 'collection'>, eventUse: Pick<EventUse, 'queuedBytes' | 'isQueued'>,
    fanOuts: Pick<FanOuts, 'unwrittenCount'>,
    limits: { readonly pendingMax: number; readonly bytesMax: number },
  ) {
    this.#eventUse = eventUse;
    this.#fanOuts = fanOuts;
    this.#delayedEvents = store.collection(delayedEventCollection.name);
    this.#pendingMax = limits.pendingMax;
    this.#bytesMax = limits.bytesMax;
    this.#events = store.collection(eventCollection.name);
    this.#webhooks = store.collection(outgoingCollection.name);
    followDeliveries(store, ({ id, before, after }) => {
      if (before !== null) this.#count(before, -1);
      const status = after === null ? null : this.#count(after, 1);
      if (status !== 'pending') this.#postponedBodyBytes.delete(id);
    });
  }

  get writtenCounts(): StatusCounts {
    return this.#counts;
  }

  /** Counts also deliveries that are accepted and not written yet. */
  countByStatus(): StatusCounts {
    return { ...this.#counts, pending: this.#counts.pending + this.#fanOuts.unwrittenCount };
  }

  get room(): QueueRoom {
    const { count, bytes } = this.#refusedDemand;
    return {
      pendingMax: this.#pendingMax, bytes: this.#bytes, bytesMax: this.#bytesMax,
      fullReason: this.#findShortage(count, bytes),
      fullWebhooks: this.#listFullWebhooks(),
    };
  }

  /** Calls `listener` when little room is left, with the bytes that are to be freed. */
  onFull(listener: (missingBytes: number) => void): void {
    this.#fullListener = listener;
  }

  isEventQueued(eventId: string): boolean {
    return this.#eventUse.isQueued(eventId);
  }

  /** Reserves the bytes of a body while `work` runs, whether or not there is room. */
  async reserveBodyWhile<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    this.#bodyBytes += bytes;
    try {
      return await work();
    } finally {
      this.#bodyBytes -= bytes;
    }
  }

  /**
   * Reserves `count` deliveries, whose payloads take `bytes` in all, until the transaction is
   * applied or discarded. 0 bytes: their records count already. Throws as `assertRoom` does, and
   * when one of the webhooks would get the room of all others.
   */
  reserve(
    transaction: Transaction, count: number, bytes: number,
    { isBound = false, webhookIds = [] }: ReserveOptions = {},
  ): void {
    const reserved = {
      count: transaction.countReserved(WAITING), bytes: transaction.countReserved(PAYLOAD_BYTES),
    };
    this.assertRoom(count, bytes, reserved, isBound);
    // A webhook takes the room of others only where there are others.
    if (this.#webhooks.size > 1 && !isFannedOut(webhookIds.length)) {
      this.#reserveFor(transaction, webhookIds, bytes, reserved);
    }
    transaction.reserve(WAITING, count);
    if (bytes > 0) transaction.reserve(PAYLOAD_BYTES, bytes + count * RECORD_BYTES);
  }

  /**
   * Throws `unavailable` when `count` more deliveries, whose payloads take `bytes` in all, have no
   * room beside pending ones, events that have not begun, and what transactions have reserved.
   */
  assertRoom(
    count: number, bytes: number, reserved = NOTHING, isBound = false,
  ): void {
    this.assertFits(count, bytes);
    const reason = this.#findShortage(count, bytes, reserved, isBound);
    // The share of a customer may be full alone; he must not remove the failed ones of others.
    if (!isBound) {
      this.#refusedDemand = reason === null ? LEAST_DEMAND : { count, bytes };
      if (bytes > 0) {
        this.#askForRoom(this.#computeMissingBytes(
          count, bytes, reserved.bytes, this.#bytesMax * (1 - ROOM_LEFT_SHARE)));
      }
    }
    if (reason !== null) throw createFullError(reason);
  }

  /**
   * Reserves a delivery of `bytes` to each webhook. Throws `unavailable` when one of them would get
   * the room of all others.
   */
  #reserveFor(
    transaction: Transaction, webhookIds: readonly string[], bytes: number,
    reserved: Readonly<WaitingAmount>,
  ): void {
    const room = this.#computeRoom();
    const countLeft = room.count - reserved.count;
    const bytesLeft = room.bytes - reserved.bytes;
    for (const webhookId of webhookIds) {
      const amount = this.#waitingByWebhook.get(webhookId) ?? NOTHING;
      const count = amount.count + transaction.countReserved(`deliveries to ${webhookId}`);
      const ownBytes = amount.bytes + transaction.countReserved(`bytes to ${webhookId}`);
      if (count + 1 <= countLeft && ownBytes + bytes <= bytesLeft) continue;
      throw createFullError(`${count} wait for webhook ${this.#formatLabel(webhookId)}, and no `
        + 'more are left to all others (outgoing.maxPending, outgoing.maxPendingBytes)');
    }
    for (const webhookId of webhookIds) {
      transaction.reserve(`deliveries to ${webhookId}`, 1);
      transaction.reserve(`bytes to ${webhookId}`, bytes);
    }
  }

  /** Computes the room that is left: no webhook may have more waiting than that. */
  #computeRoom(): Readonly<WaitingAmount> {
    const { count, bytes } = this.#waitingForAll;
    // Failed deliveries give way, and an event that webhooks share is in the queue once.
    const waitingBytes = Math.min(this.#bytes, bytes);
    return { count: this.#pendingMax - count, bytes: this.#bytesMax - waitingBytes };
  }

  /** Those with most waiting first. */
  #listFullWebhooks(): readonly FullWebhook[] {
    if (this.#webhooks.size < 2) return [];
    const room = this.#computeRoom();
    return [...this.#waitingByWebhook]
      .filter(([, { count, bytes }]) => count + 1 > room.count || bytes + 1 > room.bytes)
      .sort(([, left], [, right]) => right.count - left.count).slice(0, FULL_WEBHOOKS_MAX)
      .map(([hook, { count }]) => ({ hook, webhook: this.#formatLabel(hook), pending: count }));
  }

  #formatLabel(webhookId: string): string {
    const bytes = this.#webhooks.findBytes(webhookId);
    return bytes === undefined ? webhookId : formatWebhookLabel(decodeOutgoingWebhook(bytes));
  }

  /** Says why there is no room; null: there is. */
  #findShortage(
    count: number, bytes: number, reserved = NOTHING, isBound = false,
  ): string | null {
    const waitingCount =
      this.#counts.pending + this.#fanOuts.unwrittenCount + this.#delayedEvents.size;
    const share = isBound ? BOUND_SHARE : 1;
    const pendingMax = Math.floor(this.#pendingMax * share);
    if (waitingCount + reserved.count + count > pendingMax) {
      return `${pendingMax} wait (${isBound ? 'half of ' : ''}outgoing.maxPending)`;
    }
    const missingBytes =
      this.#computeMissingBytes(count, bytes, reserved.bytes, this.#bytesMax * share);
    if (bytes === 0 || missingBytes <= 0) return null;
    // The sum tells what waits for others.
    return isBound ? `half of outgoing.maxPendingBytes (${this.#bytesMax}) is taken`
      : `${this.#bytes} bytes wait or have failed and are kept `
        + `(outgoing.maxPendingBytes: ${this.#bytesMax})`;
  }

  #computeMissingBytes(
    count: number, bytes: number, reservedBytes: number, bytesMax: number,
  ): number {
    const usedBytes = this.#bytes + this.#bodyBytes + reservedBytes;
    return usedBytes + bytes + count * RECORD_BYTES - bytesMax;
  }

  /** Throws `NeverFitsError` when an empty queue would have no room. */
  assertFits(count: number, bytes: number): void {
    if (bytes === 0 || bytes + count * RECORD_BYTES <= this.#bytesMax) return;
    throw new NeverFitsError(`${bytes} bytes at once are more than ${this.#bytesMax}, which is `
      + 'outgoing.maxPendingBytes or an eighth of --max-memory: raise that, or send less at once');
  }

  /** A body that found no room is not made before there is room. */
  mayMakeBody(delivery: string): boolean {
    return this.#isFree(this.#postponedBodyBytes.get(delivery) ?? 0);
  }

  checkBodyRoom(delivery: string, bytes: number, payloadBytes: number): BodyRoom {
    this.#postponedBodyBytes.delete(delivery);
    if (bytes + payloadBytes > this.#bytesMax * BODIES_FACTOR) return 'never';
    if (this.#isFree(bytes)) return 'free';
    this.#postponedBodyBytes.set(delivery, bytes);
    return 'later';
  }

  #count(delivery: Buffer, by: 1 | -1): OutgoingStatus {
    const status = outgoingHead.readStatus(delivery);
    this.#counts[status] += by;
    if (countsAsQueued(status)) this.#recordBytes += by * delivery.length;
    const webhookId = status === 'pending' ? readWebhookId(delivery) : null;
    if (webhookId === null) return status;
    const amount = this.#waitingByWebhook.get(webhookId) ?? { count: 0, bytes: 0 };
    this.#waitingByWebhook.set(webhookId, amount);
    const bytes = by * (this.#events.findBytes(readEventId(delivery))?.length ?? 0);
    for (const counted of [amount, this.#waitingForAll]) {
      counted.count += by;
      counted.bytes += bytes;
    }
    if (amount.count === 0) {
      // An event that went before its delivery has left its bytes.
      this.#waitingForAll.bytes -= amount.bytes;
      this.#waitingByWebhook.delete(webhookId);
    }
    return status;
  }

  #isFree(bytes: number): boolean {
    const missingBytes =
      this.#bytes + this.#bodyBytes + bytes - this.#bytesMax * BODIES_FACTOR;
    this.#askForRoom(missingBytes);
    return missingBytes <= 0;
  }

  #askForRoom(missingBytes: number): void {
    if (missingBytes > 0) this.#fullListener(missingBytes + this.#bytesMax * ROOM_AHEAD_SHARE);
  }

  get #bytes(): number {
    return this.#recordBytes + this.#eventUse.queuedBytes;
  }
}

function createFullError(reason: string): AppError {
  return new AppError('unavailable', `the queue of deliveries is full: ${reason}`,
    { retryAfterS: RETRY_AFTER_FULL_S });
}
