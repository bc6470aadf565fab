/**
 * Kept requests as a kind of work. A body that has its own record is written with its request, and
 * goes with it.
 */
import { assert } from '../../base/assert.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import type { RelatedRecords, QueueSpec } from '../durable-queue/queue-spec.ts';
import { TotalsRecord } from '../durable-queue/queue-totals.ts';
import { UnitOfWork } from '../durable-queue/unit-of-work.ts';
import { encodeBodyRecord } from './body.ts';
import { decodeRequest, encodeRequest, statusOf, updatedMsOf } from './codec.ts';
import { forgetEvent } from './event-ids.ts';
import {
  requestBodyCollection, requestCollection, type KeptRequest, type RequestStatus,
} from './request.ts';

/** A status of a request that is on disk. */
export type KeptStatus = Exclude<RequestStatus, 'rejected'>;
/** How a request leaves besides being too old: somebody deleted it. */
export type RequestGone = 'deleted';

const KEPT_STATUSES: readonly KeptStatus[] = ['pending', 'done', 'failed', 'filtered', 'duplicate'];

export const requestKind: QueueSpec<KeptRequest, KeptStatus, RequestGone> = {
  noun: 'requests',
  collection: requestCollection,
  totals: new TotalsRecord<KeptStatus, RequestGone>('request-totals', KEPT_STATUSES, ['deleted']),
  idOf: ({ id }) => id,
  decode: decodeRequest,
  encode: encodeRequest,
  statusOf: ({ status }) => keptStatus(status),
  readStatus: (bytes) => keptStatus(statusOf(bytes)),
  readUpdatedMs: updatedMsOf,
  openRelatedRecords: (transaction) => new Remover(transaction),
};

/** Runs `work` as one unit: the totals follow its changes once. */
export function changeRequests<T>(transaction: Transaction, work: (unit: RequestUnit) => T): T {
  const unit = new RequestUnit(transaction);
  const result = work(unit);
  unit.complete();
  return result;
}

/** The same in a transaction of its own. */
export function commitRequests<T>(
  store: Store, work: (unit: RequestUnit, transaction: Transaction) => T,
): Promise<T> {
  return store.transact((transaction) =>
    changeRequests(transaction, (unit) => work(unit, transaction)));
}

export class RequestUnit extends UnitOfWork<KeptRequest, KeptStatus, RequestGone> {
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    super(requestKind, transaction);
    this.#transaction = transaction;
  }

  /** Stages a new request, its body too where that has a record of its own. Its bytes. */
  add(request: KeptRequest, body: Buffer): Buffer {
    const { id, carried } = request;
    // The body first: whoever sees a request applied finds its body there.
    if (carried === null) {
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
class Remover implements RelatedRecords<KeptRequest, KeptStatus, RequestGone> {
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  onStatusChange(
    id: string, from: KeptStatus, to: KeptStatus | RequestGone | 'agedOut',
    item: () => KeptRequest,
  ): void {
    if (to !== 'deleted' && to !== 'agedOut') return;
    this.#transaction.delete(requestBodyCollection.name, id);
    if (from === 'failed' || from === 'pending') forgetEvent(this.#transaction, item());
  }

  stage(): void {}
}

function keptStatus(status: RequestStatus): KeptStatus {
  assert(status !== 'rejected', 'rejected requests are never stored');
  return status;
}
