/**
 * The durable queue of stored requests, and every change of one. A body with a record of its own is
 * written and deleted together with its request.
 */
import { assert } from '../../base/assert.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { isSameMemory, type RelatedRecords, type QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsAccess } from '../durable-queue/queue-totals.ts';
import { UnitOfWork } from '../durable-queue/unit-of-work.ts';
import { encodeBodyRecord } from './request-body.ts';
import { decodeRequest, encodeRequest, readStatus } from './request-codec.ts';
import { deleteEventId } from './event-ids.ts';
import {
  requestBodyCollection, requestCollection, type StoredRequest, type RequestStatus,
} from './stored-request.ts';

/** The status of a request that is on disk. */
export type StoredStatus = Exclude<RequestStatus, 'rejected'>;
/** The way a request leaves besides ageing out: somebody deletes it. */
export type RequestRemoval = 'deleted';

const STORED_STATUSES: readonly StoredStatus[] = [
  'pending', 'done', 'failed', 'filtered', 'duplicate',
];

export const requestQueue: QueueSpec<StoredRequest, StoredStatus, RequestRemoval> = {
  noun: 'requests',
  collection: requestCollection,
  totals: new TotalsAccess<StoredStatus, RequestRemoval>(
    'request-totals', STORED_STATUSES, ['deleted']),
  idOf: ({ id }) => id,
  read: decodeRequest,
  isCurrent: (stored, bytes) => isSameMemory(stored.bytes, bytes),
  stage(transaction, request) {
    const before = transaction.find(requestCollection.name, request.id) ?? null;
    const record = encodeRequest(request, before);
    const { bytes } = transaction.put(requestCollection.name, request.id, record);
    return { bytes, item: request };
  },
  stageRemoval(transaction, id) {
    transaction.delete(requestCollection.name, id);
  },
  statusOf: ({ status }) => toStoredStatus(status),
  readStatus: (bytes) => toStoredStatus(readStatus(bytes)),
  openRelatedRecords: (transaction) => new RequestRelatedRecords(transaction),
};

/** Runs `makeChanges` as one unit: the totals are written once for all its changes. */
export function changeRequests<T>(
  transaction: Transaction, makeChanges: (unit: RequestUnit) => T,
): T {
  const unit = new RequestUnit(transaction);
  const result = makeChanges(unit);
  unit.complete();
  return result;
}

/** Runs `makeChanges` as one unit, in a transaction of its own. */
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

  /** Stages a new request, and its body if that has a record of its own. Returns its bytes. */
  add(request: StoredRequest, body: Buffer): Buffer {
    const { id, inlineBody } = request;
    // The body comes first: when the request is applied, its body must be there.
    if (inlineBody === null) {
      this.#transaction.put(requestBodyCollection.name, id, encodeBodyRecord(id, body));
    }
    return this.accept(request).bytes;
  }

  /** Deletes a request, whatever its status. Returns false when it is gone. */
  delete(id: string): boolean {
    return this.remove(id, 'deleted', () => true);
  }
}

/** Deletes a removed request's body, and its event id if the event was not handled. */
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
