/**
 * Kept requests as a kind of work. A body that has its own record is written with its request, and
 * goes with it.
 */
import { assert } from '../../base/assert.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import type { RelatedRecords, QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsRecord } from '../durable-queue/queue-totals.ts';
import { UnitOfWork } from '../durable-queue/unit-of-work.ts';
import { encodeBodyRecord } from './request-body.ts';
import { decodeRequest, encodeRequest, readStatus, readUpdatedMs } from './request-codec.ts';
import { deleteEventId } from './event-ids.ts';
import {
  requestBodyCollection, requestCollection, type StoredRequest, type RequestStatus,
} from './stored-request.ts';

/** A status of a request that is on disk. */
export type StoredStatus = Exclude<RequestStatus, 'rejected'>;
/** How a request leaves besides being too old: somebody deleted it. */
export type RequestRemoval = 'deleted';

const STORED_STATUSES: readonly StoredStatus[] = [
  'pending', 'done', 'failed', 'filtered', 'duplicate',
];

export const requestQueue: QueueSpec<StoredRequest, StoredStatus, RequestRemoval> = {
  noun: 'requests',
  collection: requestCollection,
  totals: new TotalsRecord<StoredStatus, RequestRemoval>(
    'request-totals', STORED_STATUSES, ['deleted']),
  idOf: ({ id }) => id,
  decode: decodeRequest,
  encode: encodeRequest,
  statusOf: ({ status }) => toStoredStatus(status),
  readStatus: (bytes) => toStoredStatus(readStatus(bytes)),
  readUpdatedMs,
  openRelatedRecords: (transaction) => new RequestRelatedRecords(transaction),
};

/** Runs `work` as one unit: the totals follow its changes once. */
export function changeRequests<T>(
  transaction: Transaction, makeChanges: (unit: RequestUnit) => T,
): T {
  const unit = new RequestUnit(transaction);
  const result = makeChanges(unit);
  unit.complete();
  return result;
}

/** The same in a transaction of its own. */
export function commitRequests<T>(
  store: Store, makeChanges: (unit: RequestUnit, transaction: Transaction) => T,
): Promise<T> {
  return store.transact((transaction) =>
    changeRequests(transaction, (unit) => makeChanges(unit, transaction)));
}

export class RequestUnit extends UnitOfWork<StoredRequest, StoredStatus, RequestRemoval> {
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    super(requestQueue, transaction);
    this.#transaction = transaction;
  }

  /** Stages a new request, its body too where that has a record of its own. Its bytes. */
  add(request: StoredRequest, body: Buffer): Buffer {
    const { id, inlineBody } = request;
    // The body first: whoever sees a request applied finds its body there.
    if (inlineBody === null) {
      this.#transaction.put(requestBodyCollection.name, id, encodeBodyRecord(id, body));
    }
    return this.accept(request);
  }

  /** Deletes a request, whatever became of it; false when it is gone. */
  delete(id: string): boolean {
    return this.remove(id, 'deleted', () => true);
  }
}

/** What has a record of its own goes with its request: a body, the id of an event not done. */
class RequestRelatedRecords implements RelatedRecords<StoredRequest, StoredStatus, RequestRemoval> {
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  onStatusChange(
    id: string, from: StoredStatus, to: StoredStatus | RequestRemoval | 'agedOut',
    item: () => StoredRequest,
  ): void {
    if (to !== 'deleted' && to !== 'agedOut') return;
    this.#transaction.delete(requestBodyCollection.name, id);
    if (from === 'failed' || from === 'pending') deleteEventId(this.#transaction, item());
  }

  stage(): void {}
}

function toStoredStatus(status: RequestStatus): StoredStatus {
  assert(status !== 'rejected', 'rejected requests are never stored');
  return status;
}
