/** The operations on stored requests beside their list: find, pin, delete and replay. */
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Precondition } from '../../resources/repository.ts';
import { RemovedRecords } from '../../resources/removed-records.ts';
import { Representation } from '../../resources/representation.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { isRouteDeliveryId, parseRequestId } from '../deliveries/route-delivery-id.ts';
import { changeItem, removeItems } from '../work/change-items.ts';
import { findOrphans, reportProblems } from '../work/queue-reconciliation.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import { addAccepted, readRemovals, stageRemovals } from '../records/removals.ts';
import type { WebhookDirectory } from '../members/directory.ts';
import type { RelayContext } from '../relay-context.ts';
import { getRequestBody, readBodyStart } from './request-body.ts';
import {
  countWrittenDeliveries, decodeRequestHead, findRequest, hasBodyRecord, listDeliveryRecords,
  requestCollection,
} from './request-codec.ts';
import type { RejectedRing } from './rejected-requests.ts';
import { RequestList } from './request-list.ts';
import {
  toPublicRequest, type PublicRequest, type RequestReconciliation,
} from './request-schema.ts';
import {
  chooseRoutes, copyRequest, retryRequest, type AvailableRoutes, type ReplayOptions,
} from './replay.ts';
import {
  requestBodyCollection, withUpdatedAt, type InlineBody, type StoredRequest,
} from '../incoming/stored-request.ts';
import type { CreateRequestFacts } from './request-search.ts';
import { requestResource } from './request-resource.ts';
import { addRequest, requestSpec } from './request-changes.ts';
import type { RequestStates, RequestTotals } from './request-states.ts';

/** Values drawn before a transaction, which may run again. `id` is for a copy. */
type ReplayInputs = { readonly nowMs: number; readonly id: string };

type InboxParts = {
  readonly states: RequestStates;
  readonly rejected: RejectedRing;
  readonly webhooks: Pick<WebhookDirectory, 'find'>;
  /** Finds the routes of the request's webhook; null when the webhook was removed. */
  readonly findRoutes: (request: StoredRequest, body: () => Buffer) => AvailableRoutes | null;
  readonly createFacts: CreateRequestFacts;
  /** Reserves room for a new request. Throws `unavailable` when there is none. */
  readonly reserveRoom: (transaction: Transaction, request: StoredRequest) => void;
};

export class RequestService {
  readonly list: RequestList;
  readonly #context: RelayContext;
  readonly #parts: InboxParts;
  readonly #removedRecords: RemovedRecords;

  constructor(context: RelayContext, parts: InboxParts) {
    this.#removedRecords = new RemovedRecords(requestResource.noun, context.clock);
    this.#context = context;
    this.#parts = parts;
    this.list =
      new RequestList(context.store, parts.states, parts.rejected, parts.createFacts);
  }

  /** Returns the request as callers see it, with its webhook's present name. */
  toPublic(request: StoredRequest): PublicRequest {
    return toPublicRequest(request, {
      hookName: this.#parts.webhooks.find(request.hook)?.name ?? null,
      bodyStart: readBodyStart(request.inlineBody ?? this.#findBodyApart(request)),
    });
  }

  /** Returns the request as callers see it, with its version. */
  represent(request: StoredRequest): Representation {
    const bytes = Buffer.from(encodeJson(this.toPublic(request)));
    return new Representation(request.id, bytes, Date.parse(request.updatedAt));
  }

  find(id: string): StoredRequest | undefined {
    return findRequest(findCommitted(this.#context.store), id)
      ?? this.#parts.rejected.find(id)?.request;
  }

  /** Returns what is stored of the body; null: there is no such request. */
  findBody(id: string): Buffer | null {
    const find = findCommitted(this.#context.store);
    const bytes = find(requestCollection.name, id);
    return bytes === undefined ? this.#parts.rejected.find(id)?.body ?? null
      : getRequestBody(decodeRequestHead(bytes), find);
  }

  /**
   * Pins or unpins a request; null changes nothing. Throws `not_found`, `conflict` for a rejected
   * request, and what `expect` throws.
   */
  pin(id: string, pinned: boolean | null, expect?: Precondition): Promise<StoredRequest> {
    const nowMs = this.#context.clock.now();
    return this.#change(id, expect, (transaction, before) => {
      if (pinned === null || before.pinned === pinned) return before;
      const change = changeItem(requestSpec, transaction, id, (request) =>
        ({ ...withUpdatedAt(request, nowMs), pinned }));
      return change?.after ?? before;
    });
  }

  /**
   * Deletes a request. Throws like `pin`, and `conflict` also for a pending request, because its
   * sender was told that it will be handled.
   */
  async remove(id: string, expect?: Precondition): Promise<void> {
    const removedRecords = await this.#change(id, expect, (transaction, { status }) => {
      if (status === 'pending') throw stillPendingError(id);
      removeItems(requestSpec, transaction, [id], 'deleted');
      return transaction.listRemoved();
    });
    this.#removedRecords.add(id, removedRecords);
  }

  /**
   * Puts a request back that `remove` has removed here lately (removed-records.ts). Throws
   * `not_found`, `conflict` when its event has come again, and `unavailable` when there is no room.
   */
  async restore(id: string): Promise<StoredRequest> {
    const removedRecords = this.#removedRecords.get(id);
    const { rejected, reserveRoom } = this.#parts;
    const request = await this.#context.store.transact((transaction) => {
      const hasRecord = (record: (typeof removedRecords)[number]): boolean =>
        transaction.find(record.collection, record.id) !== undefined;
      if (removedRecords.some(hasRecord)) {
        throw new AppError('conflict', `request ${id} is there, or its event has come again`);
      }
      for (const { collection, id: recordId, bytes } of removedRecords) {
        transaction.put(collection, recordId, bytes);
      }
      stageRemovals(transaction, requestSpec.noun, 'deleted', -1);
      const restoredRequest = getStaged(transaction, id, rejected);
      reserveRoom(transaction, restoredRequest);
      return restoredRequest;
    });
    this.#removedRecords.forget(id);
    return request;
  }

  /**
   * Makes a request due, or a copy of it. Throws `not_found`, `conflict`, `invalid`, and
   * `unavailable` when there is no room for a copy. What `stageMore` stages is committed with it.
   */
  async replay(
    id: string, options: ReplayOptions,
    stageMore?: (transaction: Transaction, request: StoredRequest) => void,
  ): Promise<StoredRequest> {
    const { store, clock, makeId } = this.#context;
    const inputs = { nowMs: clock.now(), id: makeId() };
    return store.transact((transaction) => {
      const request = this.stageReplay(transaction, id, options, inputs);
      stageMore?.(transaction, request);
      return request;
    });
  }

  /** Does what `replay` does within another transaction, with inputs drawn before it. */
  stageReplay(
    transaction: Transaction, id: string, { routes, isNew }: ReplayOptions, inputs: ReplayInputs,
  ): StoredRequest {
    const { rejected, findRoutes, reserveRoom } = this.#parts;
    const { request, body, isStored } = getReplaySource(transaction, id, rejected);
    const available = findRoutes(request, body);
    if (available === null) {
      throw new AppError('conflict',
        `the webhook of request ${id} is gone: it cannot be run again`);
    }
    const names = chooseRoutes(request, available, routes);
    if (isStored && !isNew) {
      const change = changeItem(requestSpec, transaction, id, (before) =>
        retryRequest(before, names, inputs.nowMs));
      return change?.after ?? request;
    }
    const bytes = body();
    const copy = copyRequest(request, bytes, names, inputs);
    reserveRoom(transaction, copy);
    addRequest(transaction, copy, bytes);
    return copy;
  }

  /** Checks that each stored request has its body and deliveries, and each of these its request. */
  async reconcile(): Promise<RequestReconciliation> {
    const { store } = this.#context;
    const problems = [
      ...await findOrphans(store, requestBodyCollection, requestCollection, (id) =>
        `body ${id} belongs to no request`),
      ...await findOrphans(store, deliveryCollection, requestCollection, (id) =>
        `delivery ${id} belongs to no request`,
        (id) => isRouteDeliveryId(id) ? parseRequestId(id) : null),
      ...await findIncompleteRequests(store),
    ];
    return reportProblems(this.totals(), problems);
  }

  totals(): RequestTotals {
    const removals = readRemovals(findCommitted(this.#context.store), requestSpec.noun);
    return addAccepted({ ...this.#parts.states.countByStatus(), ...removals });
  }

  /** Finds the stored body of a request that is not in its record. */
  #findBodyApart({ id, status }: StoredRequest): InlineBody | undefined {
    if (status === 'rejected') {
      const body = this.#parts.rejected.find(id)?.body;
      return body && { bytes: body, isEncoded: false };
    }
    const bytes = this.#context.store.collection(requestBodyCollection.name).findBytes(id);
    return bytes && { bytes, isEncoded: true };
  }

  #change<T>(
    id: string, expect: Precondition | undefined,
    apply: (transaction: Transaction, before: StoredRequest) => T,
  ): Promise<T> {
    return this.#context.store.transact((transaction) => {
      const before = getStaged(transaction, id, this.#parts.rejected);
      expect?.(this.represent(before));
      return apply(transaction, before);
    });
  }
}

type ReplaySource = {
  readonly request: StoredRequest;
  /** Returns the whole body. */
  readonly body: () => Buffer;
  /** False for a rejected request, which is in memory alone. */
  readonly isStored: boolean;
};

function getReplaySource(
  transaction: Transaction, id: string, rejected: RejectedRing,
): ReplaySource {
  const find = findStaged(transaction);
  const storedRequest = findRequest(find, id);
  if (storedRequest !== undefined) {
    const body = (): Buffer => getRequestBody(storedRequest, find);
    return { request: storedRequest, body, isStored: true };
  }
  const rejectedRequest = rejected.find(id);
  if (rejectedRequest === undefined) throw notFoundError(requestResource.noun, id);
  const { request, body, isWhole } = rejectedRequest;
  if (isWhole) return { request, body: () => body, isStored: false };
  throw new AppError('conflict', `request ${id} was rejected, and only ${body.length} bytes of its `
    + 'body were kept: it cannot be run again');
}

function getStaged(
  transaction: Transaction, id: string, rejected: RejectedRing,
): StoredRequest {
  const request = findRequest(findStaged(transaction), id);
  if (request !== undefined) return request;
  if (rejected.find(id) === undefined) throw notFoundError(requestResource.noun, id);
  throw new AppError('conflict', `request ${id} was rejected: it is in memory alone, and goes by `
    + 'itself');
}

function stillPendingError(id: string): AppError {
  return new AppError('conflict', `request ${id} is pending: it was accepted and will be done; `
    + 'delete it once it is done or has failed');
}

/** Finds the requests that have lost their body or a delivery. */
async function findIncompleteRequests(store: Store): Promise<string[]> {
  const records = store.collection(requestCollection.name);
  const bodies = store.collection(requestBodyCollection.name);
  const find = findCommitted(store);
  const problems: string[] = [];
  await visitInSteps(records, (bytes, slot) => {
    const id = records.idAt(slot) ?? '';
    if (hasBodyRecord(bytes) && bodies.findSlot(id) === -1) {
      problems.push(`request ${id} has lost its body`);
    }
    if (listDeliveryRecords(id, find).length < countWrittenDeliveries(bytes)) {
      problems.push(`request ${id} has lost deliveries`);
    }
    return 'searched';
  });
  return problems;
}
