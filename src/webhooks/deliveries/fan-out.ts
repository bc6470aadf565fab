/**
 * A fan-out: an event for so many webhooks that writing all its deliveries at once would delay
 * other requests (measured with 5000 webhooks, the slowest request beside it took 61 ms in the
 * median, and 24 ms with chunks). The event and the list of its webhooks are committed with the
 * event's cause. The deliveries are made from these alone, one chunk in each transaction, also
 * after a crash. Until they are written they count as accepted and pending, and no attempt starts,
 * because the delivery of a later event must not overtake them.
 *
 * A fan-out is a record of the `fan-outs` collection, `{"identifier": <the event's>, "seed",
 * "createdAt", "event", "hooks", "queuedAt"?}`. Once there is progress, a record `{"identifier":
 * "<the same>~", "written": <how many deliveries>}` stands beside it. Both are deleted with the
 * last chunk.
 */
import { isTemporary } from '../../base/errors.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { Change, FindRecord, Transaction } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { createDeliveries, deriveDeliveryIds } from './delivery.ts';
import { CHUNK_ITEMS_MAX } from '../work/item-spec.ts';
import { retryUntilWritten } from '../work/write-retry.ts';
import type { RelayContext } from '../relay-context.ts';
import { fanOutCollection, stageDelivery } from './delivery-changes.ts';

type FanOut = {
  readonly identifier: string;
  /** Derives the ids of deliveries, in order; the event's id, or another if it was delayed. */
  readonly seed: string;
  /** When the deliveries were accepted: later than a delayed event. */
  readonly createdAt: string;
  readonly event: string;
  readonly hooks: readonly string[];
  /** The place of the deliveries of a delayed event: its time. */
  readonly queuedAt?: string;
};

/** `writtenCount` only serves `unwrittenCount`: `writeFanOutChunk` reads the progress record. */
type OpenFanOut = { readonly fanOut: FanOut; writtenCount: number };
type Waiter = { readonly eventId: string; readonly resolve: () => void };

const PROGRESS_SUFFIX = '~';

export function isFannedOut(deliveryCount: number): boolean {
  return deliveryCount > CHUNK_ITEMS_MAX;
}

/**
 * Stages the deliveries of an event, or the fan-out that makes them if they are too many for one
 * transaction, and returns their ids. The event is stored, or staged before. `isImplied`: its
 * record implies them, unless they are fanned out.
 */
export function stageDeliveries(
  transaction: Transaction, fanOut: FanOut, isImplied = false,
): readonly string[] {
  const { identifier, seed, hooks } = fanOut;
  if (!isFannedOut(hooks.length)) return stageChunk(transaction, fanOut, 0, isImplied);
  transaction.put(fanOutCollection.name, identifier, JSON.stringify(fanOut));
  return deriveDeliveryIds(seed, hooks);
}

function stageChunk(
  transaction: Transaction,
  { identifier: eventId, seed, createdAt, event, hooks, queuedAt }: FanOut, start: number,
  isImplied = false,
): readonly string[] {
  const webhookIds = hooks.slice(start, start + CHUNK_ITEMS_MAX);
  const deliveries = createDeliveries(
    deriveIds(seed, start), webhookIds, { event, eventId, queuedAt }, createdAt);
  for (const delivery of deliveries) stageDelivery(transaction, delivery, isImplied);
  return deliveries.map(({ identifier }) => identifier);
}

export class FanOuts {
  readonly #context: RelayContext;
  readonly #unfollow: () => void;
  /** By event, in the order of commit. */
  readonly #openFanOuts = new Map<string, OpenFanOut>();
  readonly #idleListeners: (() => void)[] = [];
  #waiters: Waiter[] = [];
  #running: Promise<void> | null = null;
  #isFailing = false;
  readonly #closing = new AbortController();
  #isCutOff = false;

  constructor(context: RelayContext) {
    this.#context = context;
    const collection = context.store.collection(fanOutCollection.name);
    this.#unfollow = followRecords(collection, (change) => this.#applyChange(change));
  }

  get unwrittenCount(): number {
    let count = 0;
    for (const { fanOut, writtenCount } of this.#openFanOuts.values()) {
      count += fanOut.hooks.length - writtenCount;
    }
    return count;
  }

  onIdle(listener: () => void): void {
    this.#idleListeners.push(listener);
  }

  /**
   * Resolves when all deliveries accepted so far are written, the store takes no writes, or the
   * time to write while closing is over.
   */
  whenWritten(): Promise<void> {
    const eventId = [...this.#openFanOuts.keys()].at(-1);
    if (eventId === undefined || this.#isFailing || this.#isCutOff) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ eventId, resolve }));
  }

  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    const timer = this.#context.clock.startTimer(graceMs, () => {
      this.#isCutOff = true;
    });
    await this.#running;
    timer.cancel();
    this.#unfollow();
    this.#resolveWaiters(() => true);
  }

  #applyChange({ id, after }: Change): void {
    if (id.endsWith(PROGRESS_SUFFIX)) {
      const open = this.#openFanOuts.get(id.slice(0, -PROGRESS_SUFFIX.length));
      if (open !== undefined && after !== null) open.writtenCount = decodeWritten(after);
    } else if (after === null) {
      this.#end(id);
    } else {
      this.#openFanOuts.set(id, { fanOut: decodeFanOut(after), writtenCount: 0 });
      // Not at once: the rest of this transaction is still to be applied.
      this.#running ??= Promise.resolve().then(() => this.#writeAll());
    }
  }

  #end(eventId: string): void {
    this.#openFanOuts.delete(eventId);
    this.#resolveWaiters((waiter) => waiter.eventId === eventId);
    if (this.#openFanOuts.size === 0) for (const listener of this.#idleListeners) listener();
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#closing;
    while (!this.#isCutOff && !(signal.aborted && this.#isFailing)) {
      const [open] = this.#openFanOuts.values();
      if (open === undefined) break;
      await retryUntilWritten(this.#context, signal,
        'the deliveries of an event wait to be written', {}, () => this.#writeNext(open.fanOut));
    }
    this.#running = null;
  }

  /** Rejects with a temporary error alone: the chunk is still to be written then. */
  async #writeNext(fanOut: FanOut): Promise<void> {
    try {
      await this.#context.store.transact((transaction) => writeFanOutChunk(transaction, fanOut));
      this.#isFailing = false;
    } catch (thrown) {
      if (!isTemporary(thrown)) return this.#leave(fanOut.identifier, thrown);
      this.#isFailing = true;
      this.#resolveWaiters(() => true);
      throw thrown;
    }
  }

  /** After a bug a fan-out is left to the next start: those behind it must not wait. */
  #leave(eventId: string, error: unknown): void {
    this.#context.log.error('the deliveries of an event cannot be written until the next start',
      { event: eventId, error });
    this.#isFailing = false;
    this.#end(eventId);
  }

  #resolveWaiters(isDone: (waiter: Waiter) => boolean): void {
    const waitersDone = this.#waiters.filter(isDone);
    this.#waiters = this.#waiters.filter((waiter) => !waitersDone.includes(waiter));
    for (const { resolve } of waitersDone) resolve();
  }
}

/**
 * Stages the next deliveries of a fan-out, and its progress. Each of several nodes tries each
 * chunk: the progress record, as this transaction reads it, decides which chunk is next, so none is
 * written twice. Stages nothing when another node has written the last chunk.
 */
function writeFanOutChunk(transaction: Transaction, fanOut: FanOut): void {
  const { identifier: eventId, hooks } = fanOut;
  const collection = fanOutCollection.name;
  if (transaction.find(collection, eventId) === undefined) return;
  const progressId = `${eventId}${PROGRESS_SUFFIX}`;
  const bytes = transaction.find(collection, progressId);
  const start = bytes === undefined ? 0 : decodeWritten(bytes);
  stageChunk(transaction, fanOut, start);
  const end = start + CHUNK_ITEMS_MAX;
  if (end < hooks.length) {
    const json = JSON.stringify({ identifier: progressId, written: end });
    transaction.put(collection, progressId, json);
  } else {
    transaction.delete(collection, progressId);
    transaction.delete(collection, eventId);
  }
}

/** Empty if all deliveries of the event are written. */
export function findFanOutWebhookIds(find: FindRecord, eventId: string): readonly string[] {
  const bytes = find(fanOutCollection.name, eventId);
  return bytes === undefined ? [] : decodeFanOut(bytes).hooks;
}

/** Throws `damaged` for a record that is not of the format. */
function decodeFanOut(bytes: Buffer): FanOut {
  return decodeRecordAs<FanOut>(bytes, ({ seed, createdAt, event, hooks }) =>
    typeof seed === 'string' && typeof createdAt === 'string' && typeof event === 'string'
    && Array.isArray(hooks));
}

function decodeWritten(bytes: Buffer): number {
  return decodeRecordAs<{ written: number }>(bytes, ({ written }) =>
    Number.isSafeInteger(written)).written;
}
