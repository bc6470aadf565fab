/**
 * Every change of kept requests goes through here, inside a transaction, together with the totals.
 * A body that has its own record is written with its request, and goes with it.
 */
import { assert } from '../../base/assert.ts';
import type { Store, Transaction } from '../../store/port.ts';
import {
  decodeRequest, encodeBodyRecord, encodeRequest, isBodyApart, isPinned, statusOf, updatedMsOf,
} from './codec.ts';
import {
  requestBodyCollection, requestCollection, type KeptRequest, type KnownRequest,
} from './request.ts';
import {
  readRequestTotals, writeRequestTotals, type KeptStatus, type RequestTotals,
} from './totals.ts';

/** Makes of a request what it becomes; null leaves it as it is. */
export type RequestChange = (before: KeptRequest) => KeptRequest | null;

/** Runs `work` as one unit: the totals follow its changes once. */
export function changeRequests<T>(transaction: Transaction, work: (unit: RequestUnit) => T): T {
  const unit = new RequestUnit(transaction);
  const result = work(unit);
  unit.complete();
  return result;
}

/** The same in a transaction of its own. */
export function commitRequests<T>(store: Store, work: (unit: RequestUnit) => T): Promise<T> {
  return store.transact((transaction) => changeRequests(transaction, work));
}

export class RequestUnit {
  readonly #transaction: Transaction;
  readonly #totals: Record<keyof RequestTotals, number>;
  #hasMoved = false;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
    this.#totals = { ...readRequestTotals(transaction) };
  }

  /** Stages a new request; its body too where that has a record of its own. */
  add(request: KeptRequest, body: Buffer): void {
    const { id, bodyBytes } = request;
    // The body first: whoever sees a request applied finds its body there.
    if (isBodyApart(bodyBytes)) {
      this.#transaction.put(requestBodyCollection.name, id, encodeBodyRecord(id, body));
    }
    this.#put(request);
    this.#move('accepted', 1);
    this.#move(keptStatus(request), 1);
  }

  /**
   * Stages a request as `change` makes it; undefined when it is gone or stays as it is. `known` is
   * not decoded again while its bytes are still the record's.
   */
  change(
    id: string, change: RequestChange, known: KnownRequest | null = null,
  ): KeptRequest | undefined {
    const bytes = this.#transaction.find(requestCollection.name, id);
    if (bytes === undefined) return undefined;
    const before = known !== null && isSame(known.bytes, bytes)
      ? known.request : decodeRequest(bytes);
    const after = change(before);
    if (after === null) return undefined;
    this.#put(after);
    if (after.status !== before.status) {
      this.#move(keptStatus(before), -1);
      this.#move(keptStatus(after), 1);
    }
    return after;
  }

  /**
   * Deletes a finished request that is too old to keep, unless it is pinned or was written since
   * `atMs`.
   */
  ageOut(id: string, atMs: number): void {
    const bytes = this.#transaction.find(requestCollection.name, id);
    if (bytes === undefined || updatedMsOf(bytes) !== atMs || isPinned(bytes)) return;
    if (statusOf(bytes) !== 'pending') this.#remove(bytes, id, 'agedOut');
  }

  /** Deletes a request, whatever became of it; false when it is gone. */
  delete(id: string): boolean {
    const bytes = this.#transaction.find(requestCollection.name, id);
    if (bytes === undefined) return false;
    this.#remove(bytes, id, 'deleted');
    return true;
  }

  complete(): void {
    if (this.#hasMoved) writeRequestTotals(this.#transaction, this.#totals);
  }

  #remove(bytes: Buffer, id: string, why: 'agedOut' | 'deleted'): void {
    this.#transaction.delete(requestCollection.name, id);
    this.#transaction.delete(requestBodyCollection.name, id);
    const status = statusOf(bytes);
    assert(status !== 'rejected', 'rejected requests are never stored');
    this.#move(status, -1);
    this.#move(why, 1);
  }

  #put(request: KeptRequest): void {
    this.#transaction.put(requestCollection.name, request.id, encodeRequest(request));
  }

  #move(name: keyof RequestTotals, by: 1 | -1): void {
    this.#totals[name] += by;
    this.#hasMoved = true;
  }
}

function keptStatus({ status }: KeptRequest): KeptStatus {
  assert(status !== 'rejected', 'rejected requests are never stored');
  return status;
}

/** Whether both are one place in memory; what lies there never changes. */
function isSame(left: Buffer, right: Buffer): boolean {
  return left.buffer === right.buffer && left.byteOffset === right.byteOffset
    && left.length === right.length;
}
