/**
 * Limits how much the inbox holds. Retention removes the oldest finished requests to make room, so
 * the limits apply to what cannot be removed: pending and pinned requests. A request above a limit
 * is rejected before it is accepted. Committed requests are counted as their changes are applied.
 * Room for a request that is being accepted is reserved by its transaction, or while its actions
 * run, so that concurrent requests do not all count on the same room.
 *
 * The bytes of a request are those that it takes in the store: its record, that of its body, and
 * its deliveries (request-states.ts). Those of a request that is being accepted are estimated from
 * its headers and its body (`estimateRequestBytes`).
 */
import { AppError } from '../../base/errors.ts';
import type { Collection, Store, Transaction } from '../../store/store-port.ts';
import type { RequestState, RequestStates } from './request-states.ts';
import { requestCollection } from './request-codec.ts';

const RETRY_AFTER_FULL_S = 10;
/** The wait while retention removes old requests. */
const RETRY_AFTER_BEHIND_S = 1;
/** Requests that retention has not removed yet may pass a limit by this factor. */
const BEHIND_FACTOR = 1.25;
/** The resources that transactions reserve for new requests. */
const NEW_REQUESTS = 'new requests';
const NEW_REQUEST_BYTES = 'bytes of new requests';

/** What transactions have reserved. */
type StagedRoom = { readonly count: number; readonly bytes: number };

const NOTHING_STAGED: StagedRoom = { count: 0, bytes: 0 };

export class InboxCapacity {
  readonly #limits: { readonly maxCount: number; readonly maxBytes: number };
  readonly #requests: Collection;
  readonly #states: RequestStates;
  /** The pending and pinned requests, which retention must not remove. */
  #unremovable = { count: 0, bytes: 0 };
  #reservedCount = 0;
  #reservedBytes = 0;
  /** The bytes of the last request that was refused. */
  #refusedBytes = 1;

  constructor(
    store: Store, states: RequestStates,
    limits: { readonly maxCount: number; readonly maxBytes: number },
  ) {
    this.#limits = limits;
    this.#requests = store.collection(requestCollection.name);
    this.#states = states;
    states.follow(({ before, after }) => {
      if (before !== null) this.#countUnremovable(before, -1);
      if (after !== null) this.#countUnremovable(after, 1);
    });
  }

  /**
   * Reserves room for a request that takes `bytes` in the store, until the transaction is applied
   * or discarded. Throws `unavailable` when there is none, and `too_large` when there never will
   * be.
   */
  reserve(transaction: Transaction, bytes: number): void {
    this.#assertRoom(bytes, {
      count: transaction.countReserved(NEW_REQUESTS),
      bytes: transaction.countReserved(NEW_REQUEST_BYTES),
    });
    transaction.reserve(NEW_REQUESTS, 1);
    transaction.reserve(NEW_REQUEST_BYTES, bytes);
  }

  /**
   * Reserves room for a request that takes `bytes` in the store while `accept` runs. Throws like
   * `reserve`, and throws or rejects like `accept`.
   */
  reserveWhile<T>(bytes: number, accept: () => Promise<T>): Promise<T> {
    this.#assertRoom(bytes, NOTHING_STAGED);
    const reserve = (count: 1 | -1): void => {
      this.#reservedCount += count;
      this.#reservedBytes += count * bytes;
    };
    reserve(1);
    const release = (): void => reserve(-1);
    try {
      const accepting = accept();
      accepting.then(release, release);
      return accepting;
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Why the inbox refused what came last, and would refuse it again; null: it takes more. */
  get fullReason(): string | null {
    return this.#findShortage(this.#refusedBytes, NOTHING_STAGED);
  }

  #assertRoom(bytes: number, staged: StagedRoom): void {
    const { maxCount, maxBytes } = this.#limits;
    if (bytes > maxBytes) {
      throw new AppError('too_large',
        `its ${bytes} bytes are more than the inbox may hold (inbox.maxBytes: ${maxBytes})`);
    }
    const shortage = this.#findShortage(bytes, staged);
    if (shortage !== null) {
      this.#refusedBytes = bytes;
      throw new AppError('unavailable', `the inbox is full: ${shortage}`,
        { retryAfterS: RETRY_AFTER_FULL_S });
    }
    const addedCount = 1 + this.#reservedCount + staged.count;
    const otherBytes = this.#reservedBytes + staged.bytes;
    // The request's own bytes do not count here: retention stops at the limits, so a large request
    // would never find room.
    const totalBytes = this.#states.bytesTotal + otherBytes;
    if (this.#requests.size + addedCount > Math.ceil(maxCount * BEHIND_FACTOR)
      || totalBytes > maxBytes * BEHIND_FACTOR) {
      throw new AppError('unavailable', 'the inbox is full, and old requests are being removed',
        { retryAfterS: RETRY_AFTER_BEHIND_S });
    }
  }

  /** Why what retention must not remove leaves no room for a request; null: there is room. */
  #findShortage(bytes: number, staged: StagedRoom): string | null {
    const { maxCount, maxBytes } = this.#limits;
    const { count: unremovableCount, bytes: unremovableBytes } = this.#unremovable;
    if (unremovableCount + 1 + this.#reservedCount + staged.count > maxCount) {
      return `${unremovableCount} requests are pending or pinned (inbox.maxCount)`;
    }
    if (unremovableBytes + this.#reservedBytes + staged.bytes + bytes > maxBytes) {
      return `${unremovableBytes} bytes are pending or pinned, and ${bytes} more do not fit `
        + `(inbox.maxBytes: ${maxBytes})`;
    }
    return null;
  }

  #countUnremovable({ status, isPinned, bytes }: RequestState, by: 1 | -1): void {
    if (status !== 'pending' && !isPinned) return;
    this.#unremovable.count += by;
    this.#unremovable.bytes += by * bytes;
  }
}
