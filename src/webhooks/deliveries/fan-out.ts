/**
 * An event for so many hooks that writing all its deliveries at once would hold up other requests
 * (measured with 5000 hooks, the slowest request beside it: 61 ms in the median, 24 ms in chunks).
 * The event and the list of its hooks are committed with what caused it; that is all that its
 * deliveries are made from. They follow, a chunk a transaction, also after a crash. Until then they
 * count as accepted and pending, and no attempt starts: a later event's delivery must not overtake
 * them.
 *
 * A fan-out is a record of the `fan-outs` collection, `{"identifier": <the message's>, "seed",
 * "createdAt", "event", "hooks"}`; beside it stands, once there is progress,
 * `{"identifier": "<the same>~", "written": <how many deliveries>}`. Both go with the last chunk.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { Change, Store, Transaction } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { createDelivery } from './delivery.ts';
import { CHUNK_ITEMS_MAX } from '../durable-queue/queue-spec.ts';
import { fanOutCollection, putDelivery } from './delivery-changes.ts';

type FanOut = {
  /** Of the message. */
  readonly identifier: string;
  /** What the identifiers of the deliveries are derived from, in the order of the hooks. */
  readonly seed: string;
  readonly createdAt: string;
  readonly event: string;
  readonly hooks: readonly string[];
};

type OpenFanOut = { readonly fanOut: FanOut; written: number };
type Waiter = { readonly identifier: string; readonly resolve: () => void };

const RETRY_MS = 1000;
const PROGRESS_SUFFIX = '~';

/** To be written with the event, whose deliveries have been accepted. */
export function putFanOut(transaction: Transaction, fanOut: FanOut): void {
  transaction.put(fanOutCollection.name, fanOut.identifier, JSON.stringify(fanOut));
}

export class FanOuts {
  readonly #deps: { readonly store: Store; readonly clock: Clock; readonly log: Logger };
  readonly #unfollow: () => void;
  /** In order of commit. */
  readonly #openFanOuts = new Map<string, OpenFanOut>();
  readonly #idleListeners: (() => void)[] = [];
  #waiters: Waiter[] = [];
  #running: Promise<void> | null = null;
  #isFailing = false;
  #isClosing = false;
  #isCutOff = false;

  constructor(deps: { readonly store: Store; readonly clock: Clock; readonly log: Logger }) {
    this.#deps = deps;
    const collection = deps.store.collection(fanOutCollection.name);
    this.#unfollow = followRecords(collection, (applied) => this.#apply(applied));
  }

  /** Deliveries that are accepted and not written yet. */
  get unwrittenCount(): number {
    let count = 0;
    for (const { fanOut, written } of this.#openFanOuts.values()) {
      count += fanOut.hooks.length - written;
    }
    return count;
  }

  /** `listener` is called when all deliveries are written. */
  onIdle(listener: () => void): void {
    this.#idleListeners.push(listener);
  }

  /** Resolves when what is accepted now is written, or the store takes no writes at present. */
  whenWritten(): Promise<void> {
    const identifier = [...this.#openFanOuts.keys()].at(-1);
    if (identifier === undefined || this.#isFailing) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ identifier, resolve }));
  }

  /** Goes on writing for `graceMs`; the next start does the rest. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = this.#deps.clock.startTimer(graceMs, () => {
      this.#isCutOff = true;
    });
    await this.#running;
    timer.cancel();
    this.#unfollow();
    this.#resolveWaiters(() => true);
  }

  #apply({ id, after }: Change): void {
    if (id.endsWith(PROGRESS_SUFFIX)) {
      const open = this.#openFanOuts.get(id.slice(0, -PROGRESS_SUFFIX.length));
      if (open !== undefined && after !== null) open.written = decodeWritten(after);
    } else if (after === null) {
      this.#openFanOuts.delete(id);
      this.#resolveWaiters(({ identifier }) => identifier === id);
      if (this.#openFanOuts.size === 0) for (const listener of this.#idleListeners) listener();
    } else {
      this.#openFanOuts.set(id, { fanOut: decodeFanOut(after), written: 0 });
      // Not at once: the rest of this transaction is not applied yet.
      this.#running ??= Promise.resolve().then(() => this.#writeAll());
    }
  }

  async #writeAll(): Promise<void> {
    while (!this.#isCutOff) {
      const [open] = this.#openFanOuts.values();
      if (open === undefined) break;
      try {
        await this.#deps.store.transact((transaction) =>
          writeFanOutChunk(transaction, open.fanOut));
        this.#isFailing = false;
      } catch (thrown) {
        if (!this.#isFailing) {
          this.#deps.log.error('the deliveries of an event wait to be written', { error: thrown });
        }
        this.#isFailing = true;
        this.#resolveWaiters(() => true);
        if (this.#isClosing) break;
        await sleep(this.#deps.clock, RETRY_MS);
      }
    }
    this.#running = null;
  }

  #resolveWaiters(isDone: (waiter: Waiter) => boolean): void {
    const done = this.#waiters.filter(isDone);
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const { resolve } of done) resolve();
  }
}

function writeFanOutChunk(transaction: Transaction, fanOut: FanOut): void {
  const { identifier: eventId, seed, createdAt, event, hooks } = fanOut;
  const collection = fanOutCollection.name;
  if (transaction.find(collection, eventId) === undefined) return;
  const progress = `${eventId}${PROGRESS_SUFFIX}`;
  const bytes = transaction.find(collection, progress);
  const start = bytes === undefined ? 0 : decodeWritten(bytes);
  const nextId = deriveIds(seed, start);
  for (const hook of hooks.slice(start, start + CHUNK_ITEMS_MAX)) {
    const origin = { identifier: nextId(), hook, event, eventId, embeddedEvent: null };
    putDelivery(transaction, createDelivery(origin, createdAt));
  }
  const written = start + CHUNK_ITEMS_MAX;
  if (written < hooks.length) {
    transaction.put(collection, progress, JSON.stringify({ identifier: progress, written }));
  } else {
    transaction.delete(collection, progress);
    transaction.delete(collection, eventId);
  }
}

function decodeFanOut(bytes: Buffer): FanOut {
  return decodeRecordAs<FanOut>(bytes, ({ seed, event, hooks }) =>
    typeof seed === 'string' && typeof event === 'string' && Array.isArray(hooks));
}

function decodeWritten(bytes: Buffer): number {
  return decodeRecordAs<{ written: number }>(bytes, ({ written }) =>
    Number.isSafeInteger(written)).written;
}
