/**
 * The state of each stored request, by its slot: its status, which follows from its deliveries,
 * whether it is pinned, when it last changed and how many bytes it takes. It is computed when a
 * record of the request or of one of its deliveries is applied, so that lists, limits and retention
 * need not read the records. A change of a request's one delivery is enough to compute it; where
 * there are several, all are read.
 */
import { assert } from '../../base/assert.ts';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Change, Collection, FindRecord, Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { deliveryHead } from '../deliveries/delivery-codec.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { isRouteDeliveryId, parseRequestId } from '../deliveries/route-delivery-id.ts';
import type { Removal } from '../records/removals.ts';
import {
  countWrittenDeliveries, hasBodyRecord, listDeliveryRecords, readIsPinned, readRequestId,
  readRequestUpdatedMs, readStatusWithDeliveries, requestCollection,
} from './request-codec.ts';
import {
  STORED_STATUSES, combineStatuses, requestBodyCollection, type StoredStatus,
} from '../incoming/stored-request.ts';

export type RequestTotals =
  { readonly [Name in StoredStatus | Removal | 'accepted']: number };

export type RequestState = {
  readonly status: StoredStatus;
  readonly isPinned: boolean;
  readonly hasOneDelivery: boolean;
  readonly updatedMs: number;
  /** The bytes of its record, its body and its deliveries. */
  readonly bytes: number;
};

/** null: there is no request, or not all of its deliveries are applied yet. */
type RequestStateChange = {
  readonly id: string;
  readonly before: RequestState | null;
  readonly after: RequestState | null;
};

const SLOTS_MIN = 1024;
/** The code of a slot without a state. The others are the number of a status, and two flags. */
const EMPTY = 0;
const PINNED = 0x80;
const ONE_DELIVERY = 0x40;
const STATUS_MASK = 0x3f;

export class RequestStates {
  readonly #requests: Collection;
  readonly #find: FindRecord;
  readonly #listeners: ((change: RequestStateChange) => void)[] = [];
  #codes = new Uint8Array(0);
  #updatedMs = new Float64Array(0);
  #bytes = new Float64Array(0);
  #bytesTotal = 0;
  readonly #counts: Record<StoredStatus, number> = {
    pending: 0, done: 0, failed: 0, filtered: 0, duplicate: 0,
  };

  constructor(store: Pick<Store, 'collection'>) {
    this.#requests = store.collection(requestCollection.name);
    this.#find = findCommitted(store);
    followRecords(this.#requests, ({ id, after }, slot) =>
      this.#set(id, slot, after === null ? null : readRequestState(after, this.#find)));
    // The deliveries that are there already are read with their requests. Those of a new request
    // are applied after it, and its state is that of all of them.
    store.collection(deliveryCollection.name).onChange((change) => {
      if (isRouteDeliveryId(change.id)) this.#applyDelivery(change);
    });
  }

  get bytesTotal(): number {
    return this.#bytesTotal;
  }

  /** null: no request is in the slot yet. */
  statusAt(slot: number): StoredStatus | null {
    const code = this.#codes[slot] ?? EMPTY;
    return code === EMPTY ? null : decodeStatus(code);
  }

  countByStatus(): Readonly<Record<StoredStatus, number>> {
    return { ...this.#counts };
  }

  find(id: string): RequestState | null {
    return this.#read(this.#requests.findSlot(id));
  }

  /** Calls `listener` for every request there is, then for every change. */
  follow(listener: (change: RequestStateChange) => void): void {
    for (let slot = 0; slot < this.#codes.length; slot += 1) {
      const after = this.#read(slot);
      if (after === null) continue;
      listener({ id: this.#requests.idAt(slot) ?? '', before: null, after });
    }
    this.#listeners.push(listener);
  }

  #applyDelivery({ id, before, after }: Change): void {
    const requestId = parseRequestId(id);
    const slot = this.#requests.findSlot(requestId);
    const bytes = this.#requests.bytesAt(slot);
    // A delivery may be removed after its request.
    if (bytes === undefined) return;
    const state = this.#read(slot);
    if (state?.hasOneDelivery !== true || before === null || after === null) {
      return this.#set(requestId, slot, readRequestState(bytes, this.#find));
    }
    this.#set(requestId, slot, {
      status: combineStatuses([deliveryHead.readStatus(after)]), isPinned: state.isPinned,
      hasOneDelivery: true,
      updatedMs: Math.max(state.updatedMs, deliveryHead.readUpdatedMs(after)),
      bytes: state.bytes + after.length - before.length,
    });
  }

  #set(id: string, slot: number, after: RequestState | null): void {
    const before = this.#read(slot);
    if (before === null && after === null) return;
    if (slot >= this.#codes.length) this.#grow(slot + 1);
    this.#codes[slot] = after === null ? EMPTY : encodeState(after);
    this.#updatedMs[slot] = after?.updatedMs ?? 0;
    this.#bytes[slot] = after?.bytes ?? 0;
    this.#bytesTotal += (after?.bytes ?? 0) - (before?.bytes ?? 0);
    if (before !== null) this.#counts[before.status] -= 1;
    if (after !== null) this.#counts[after.status] += 1;
    for (const listener of this.#listeners) listener({ id, before, after });
  }

  #read(slot: number): RequestState | null {
    const code = this.#codes[slot] ?? EMPTY;
    if (code === EMPTY) return null;
    return {
      status: decodeStatus(code), isPinned: (code & PINNED) !== 0,
      hasOneDelivery: (code & ONE_DELIVERY) !== 0,
      updatedMs: this.#updatedMs[slot] ?? 0, bytes: this.#bytes[slot] ?? 0,
    };
  }

  #grow(count: number): void {
    const length = Math.max(SLOTS_MIN, count, this.#codes.length * 2);
    this.#codes = copyInto(new Uint8Array(length), this.#codes);
    this.#updatedMs = copyInto(new Float64Array(length), this.#updatedMs);
    this.#bytes = copyInto(new Float64Array(length), this.#bytes);
  }
}

/**
 * Reads the state of a request from its record and those that `find` finds beside it; null: not
 * all of its deliveries, from which its status follows, are there.
 */
export function readRequestState(bytes: Buffer, find: FindRecord): RequestState | null {
  const id = readRequestId(bytes);
  const deliveries = listDeliveryRecords(id, find);
  if (deliveries.length < countWrittenDeliveries(bytes)) return null;
  const deliveryBytes = deliveries.reduce((sum, { length }) => sum + length, 0);
  const bodyBytes = hasBodyRecord(bytes) ? find(requestBodyCollection.name, id)?.length ?? 0 : 0;
  return {
    status: readStatusWithDeliveries(bytes, deliveries), isPinned: readIsPinned(bytes),
    hasOneDelivery: deliveries.length === 1,
    updatedMs: readRequestUpdatedMs(bytes, deliveries),
    bytes: bytes.length + bodyBytes + deliveryBytes,
  };
}

function encodeState({ status, isPinned, hasOneDelivery }: RequestState): number {
  return (STORED_STATUSES.indexOf(status) + 1) | (isPinned ? PINNED : 0)
    | (hasOneDelivery ? ONE_DELIVERY : 0);
}

function decodeStatus(code: number): StoredStatus {
  const status = STORED_STATUSES[(code & STATUS_MASK) - 1];
  assert(status !== undefined, 'a slot has no status');
  return status;
}
