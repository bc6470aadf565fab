/** The operations on stored requests: list, find, pin, delete and replay. */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Precondition } from '../../resources/repository.ts';
import { Representation } from '../../resources/representation.ts';
import { findCommitted, findStaged } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { changeItem, removeItems } from '../durable-queue/change-items.ts';
import { addAccepted, readRemovals } from '../durable-queue/removals.ts';
import type { WebhookDirectory } from '../naming/directory.ts';
import type { Facts } from '../filters/facts.ts';
import type { SearchWalk } from '../search/searches.ts';
import { getRequestBody } from './request-body.ts';
import { decodeRequestHead, decodeRequest, findCommittedRequest } from './request-codec.ts';
import type { RequestFilter } from './request-fields.ts';
import { RequestList, type RejectedRequests } from './request-list.ts';
import type { RequestReconciliation } from './request-reconciliation.ts';
import {
  chooseRoutes, copyRequest, retryRequest, type AvailableRoutes, type ReplayOptions,
} from './replay.ts';
import {
  requestBodyCollection, requestCollection, toPublicRequest, withUpdatedAt, type PublicRequest,
  type StoredRequestHead, type StoredRequest,
} from './stored-request.ts';
import { RequestSearchWalk } from './request-search.ts';
import { requestResource } from './request-resource.ts';
import { addRequest, requestQueue } from './request-changes.ts';
import type { RequestStates, RequestTotals } from './request-states.ts';

export interface RequestService {
  /** Lists up to `limit` requests older than the one with the id `before`, newest first. */
  list(filter: RequestFilter, before: string | null, limit: number): Promise<StoredRequest[]>;
  /** Opens a search through the requests that match, from behind the id `before`. */
  openSearch(filter: RequestFilter, before: string | null): Promise<SearchWalk<StoredRequest>>;
  /** Counts the requests that match, on all pages. */
  count(filter: RequestFilter): Promise<number>;
  /** Returns the request as callers see it, with its webhook's present name. */
  toPublic(request: StoredRequest): PublicRequest;
  /** Returns the request as callers see it, with its version. */
  represent(request: StoredRequest): Representation;
  /** Finds a stored or a rejected request. */
  find(id: string): StoredRequest | undefined;
  /** Returns what was kept of the body; null when there is no such request. */
  findBody(id: string): Buffer | null;
  /**
   * Pins or unpins a request; null changes nothing. Throws `not_found`, `conflict` for a rejected
   * request, and what `expect` throws.
   */
  pin(id: string, pinned: boolean | null, expect?: Precondition): Promise<StoredRequest>;
  /**
   * Deletes a request. Throws like `pin`, and `conflict` also for a pending request, because its
   * sender was told that it will be handled.
   */
  remove(id: string, expect?: Precondition): Promise<void>;
  /**
   * Makes a request due, or a copy of it. Throws `not_found`, `conflict`, `invalid`, and
   * `unavailable` when there is no room for a copy. What `stageMore` stages is committed with it.
   */
  replay(
    id: string, options: ReplayOptions,
    stageMore?: (transaction: Transaction, request: StoredRequest) => void,
  ): Promise<StoredRequest>;
  /** Does what `replay` does within another transaction, with inputs drawn before it. */
  stageReplay(
    transaction: Transaction, id: string, options: ReplayOptions, inputs: ReplayInputs,
  ): StoredRequest;
  reconcile(): Promise<RequestReconciliation>;
  totals(): RequestTotals;
  close(): void;
}

/** Values drawn before a transaction, which may run again. `id` is for a copy. */
type ReplayInputs = { readonly nowMs: number; readonly id: string };

type RequestServiceDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly states: RequestStates;
  readonly rejected: RejectedRequests;
  readonly webhooks: Pick<WebhookDirectory, 'find'>;
  /** Finds the routes of the request's webhook; null when the webhook was removed. */
  readonly findRoutes: (request: StoredRequest, body: () => Buffer) => AvailableRoutes | null;
  /** The facts of a request as its webhook would have them. */
  readonly createFacts: (request: StoredRequestHead, body: Buffer) => Facts;
  /** Reserves room for a new request. Throws `unavailable` when there is none. */
  readonly reserveRoom: (transaction: Transaction, request: StoredRequest) => void;
};

const loadReconciliation = lazyImport(() => import('./request-reconciliation.ts'));

export function createRequestService(deps: RequestServiceDeps): RequestService {
  const { store, clock, makeId, rejected, webhooks } = deps;
  const records = store.collection(requestCollection.name);
  const list = new RequestList(store, deps.states, rejected);
  const totals = (): RequestTotals => addAccepted({
    ...deps.states.countByStatus(), ...readRemovals(findCommitted(store), requestQueue.noun),
  });
  const toPublic = (request: StoredRequest): PublicRequest =>
    toPublicRequest(request, webhooks.find(request.hook)?.name ?? null);
  const represent = (request: StoredRequest): Representation => {
    const bytes = Buffer.from(encodeJson(toPublic(request)));
    return new Representation(request.id, bytes, Date.parse(request.updatedAt));
  };
  const change = <T>(
    id: string, expect: Precondition | undefined,
    apply: (transaction: Transaction, before: StoredRequest) => T,
  ): Promise<T> => store.transact((transaction) => {
    const before = getStaged(transaction, id, rejected);
    expect?.(represent(before));
    return apply(transaction, before);
  });
  const stageReplay: RequestService['stageReplay'] = (transaction, id, options, inputs) =>
    stageReplayedRequest(deps, transaction, id, options, inputs);
  return {
    stageReplay, toPublic, represent,
    list: (filter, before, limit) => list.listPage(filter, before, limit),
    openSearch: async (filter, before) =>
      new RequestSearchWalk(deps, await list.select(filter, before)),
    count: (filter) => list.count(filter),
    find: (id) => findCommittedRequest(store, id) ?? rejected.find(id)?.request,
    findBody(id) {
      const bytes = records.findBytes(id);
      if (bytes === undefined) return rejected.find(id)?.body ?? null;
      const bodies = store.collection(requestBodyCollection.name);
      return getRequestBody(decodeRequestHead(bytes), () => bodies.findBytes(id));
    },
    pin: (id, pinned, expect) => {
      const nowMs = clock.now();
      return change(id, expect, (transaction, before) => {
        if (pinned === null || before.pinned === pinned) return before;
        const after = changeItem(requestQueue, transaction, id, (request) =>
          ({ ...withUpdatedAt(request, nowMs), pinned }));
        return after ?? before;
      });
    },
    remove: (id, expect) => change(id, expect, (transaction, { status }) => {
      if (status === 'pending') throw stillPendingError(id);
      removeItems(requestQueue, transaction, [id], 'deleted');
    }),
    async replay(id, options, stageMore) {
      const inputs = { nowMs: clock.now(), id: makeId() };
      return store.transact((transaction) => {
        const request = stageReplay(transaction, id, options, inputs);
        stageMore?.(transaction, request);
        return request;
      });
    },
    totals,
    reconcile: async () => loadReconciliation(({ reconcileRequests }) =>
      reconcileRequests(store, totals)),
    close: () => list.close(),
  };
}

function stageReplayedRequest(
  { rejected, findRoutes, reserveRoom }: RequestServiceDeps, transaction: Transaction, id: string,
  { routes, isNew }: ReplayOptions, inputs: ReplayInputs,
): StoredRequest {
  const { request, body, isStored } = getReplaySource(transaction, id, rejected);
  const available = findRoutes(request, body);
  if (available === null) {
    throw new AppError('conflict', `the webhook of request ${id} is gone: it cannot be run again`);
  }
  const names = chooseRoutes(request, available, routes);
  if (isStored && !isNew) {
    const after = changeItem(requestQueue, transaction, id, (before) =>
      retryRequest(before, names, inputs.nowMs));
    return after ?? request;
  }
  const bytes = body();
  const copy = copyRequest(request, bytes, names, inputs);
  reserveRoom(transaction, copy);
  addRequest(transaction, copy, bytes);
  return copy;
}

type ReplaySource = {
  readonly request: StoredRequest;
  /** Returns the whole body. */
  readonly body: () => Buffer;
  /** False for a rejected request, which is in memory alone. */
  readonly isStored: boolean;
};

function getReplaySource(
  transaction: Transaction, id: string, rejected: RejectedRequests,
): ReplaySource {
  const bytes = transaction.find(requestCollection.name, id);
  if (bytes !== undefined) {
    const request = decodeRequest(bytes, findStaged(transaction));
    const body = (): Buffer =>
      getRequestBody(request, () => transaction.find(requestBodyCollection.name, id));
    return { request, body, isStored: true };
  }
  const rejectedRequest = rejected.find(id);
  if (rejectedRequest === undefined) throw notFoundError(requestResource.noun, id);
  const { request, body, isWhole } = rejectedRequest;
  if (isWhole) return { request, body: () => body, isStored: false };
  throw new AppError('conflict', `request ${id} was rejected, and only ${body.length} bytes of its `
    + 'body were kept: it cannot be run again');
}

function getStaged(
  transaction: Transaction, id: string, rejected: RejectedRequests,
): StoredRequest {
  const bytes = transaction.find(requestCollection.name, id);
  if (bytes !== undefined) return decodeRequest(bytes, findStaged(transaction));
  if (rejected.find(id) === undefined) throw notFoundError(requestResource.noun, id);
  throw new AppError('conflict', `request ${id} was rejected: it is in memory alone, and goes by `
    + 'itself');
}

function stillPendingError(id: string): AppError {
  return new AppError('conflict', `request ${id} is pending: it was accepted and will be done; `
    + 'delete it once it is done or has failed');
}
