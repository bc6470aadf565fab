/** What people do with kept requests: look at them, pin, delete and run them again. */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Precondition } from '../../resources/repository.ts';
import { Representation } from '../../resources/representation.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import type { WebhookDirectory } from '../naming/directory.ts';
import { bodyIn } from './body.ts';
import { decodeRequest } from './codec.ts';
import type { RequestFilter } from './columns.ts';
import { RequestList, type RejectedRequests } from './list.ts';
import { reconcileRequests, type RequestReconciliation } from './reconciliation.ts';
import {
  chooseRoutes, copiedRequest, retriedRequest, type KnownRoutes, type ReplayOptions,
} from './replay.ts';
import {
  requestBodyCollection, requestCollection, shownRequest, stamped, type KeptRequest,
} from './request.ts';
import { requestResource } from './resource.ts';
import { changeRequests } from './unit-of-work.ts';

export interface RequestService {
  /** Up to `limit` requests that are older than the one with the id `before`, newest first. */
  list(filter: RequestFilter, before: string | null, limit: number): Promise<KeptRequest[]>;
  /** How many match, on all pages. */
  count(filter: RequestFilter): Promise<number>;
  /** As callers see it, by what its webhook is called now. */
  toPublic(request: KeptRequest): object;
  /** The same with its version. */
  represent(request: KeptRequest): Representation;
  /** A rejected one, too. */
  find(id: string): KeptRequest | undefined;
  /** What is kept of its body; null: there is no such request. */
  body(id: string): Buffer | null;
  /**
   * `pinned` null changes nothing. Throws `not_found`, what `expect` throws, and `conflict` for a
   * rejected one, as does the next.
   */
  pin(id: string, pinned: boolean | null, expect?: Precondition): Promise<KeptRequest>;
  /** Throws `conflict` for a pending one, too: whoever sent it was told that it will be done. */
  remove(id: string, expect?: Precondition): Promise<void>;
  /**
   * Makes it due. Throws `not_found`, `conflict`, `invalid`, `unavailable` without room for a new
   * one. `within` runs in the transaction.
   */
  replay(
    id: string, options: ReplayOptions,
    within?: (transaction: Transaction, request: KeptRequest) => void,
  ): Promise<KeptRequest>;
  /** `replay` as part of another transaction: what must not be drawn in it is given. */
  stageReplay(
    transaction: Transaction, id: string, options: ReplayOptions, drawn: DrawnReplay,
  ): KeptRequest;
  reconcile(): Promise<RequestReconciliation>;
  close(): void;
}

/** Drawn before a transaction, which may run again; `id` is for a new request. */
type DrawnReplay = { readonly nowMs: number; readonly id: string };

type RequestServiceParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly rejected: RejectedRequests;
  readonly hooks: Pick<WebhookDirectory, 'find'>;
  /** null: the webhook was removed. */
  readonly routesOf: (request: KeptRequest, body: () => Buffer) => KnownRoutes | null;
  /** Throws `unavailable` when there is no room for the request. */
  readonly checkRoom: (request: KeptRequest) => void;
};

export function createRequestService(parts: RequestServiceParts): RequestService {
  const { store, clock, makeId, rejected, hooks } = parts;
  const records = store.collection(requestCollection.name);
  const list = new RequestList(records, rejected);
  const toPublic = (request: KeptRequest): object =>
    shownRequest(request, hooks.find(request.hook)?.name ?? null);
  const represent = (request: KeptRequest): Representation => {
    const bytes = Buffer.from(JSON.stringify(toPublic(request)));
    return new Representation(request.id, bytes, Date.parse(request.updatedAt));
  };
  const change = <T>(
    id: string, expect: Precondition | undefined,
    apply: (transaction: Transaction, before: KeptRequest) => T,
  ): Promise<T> => store.transact((transaction) => {
    const before = getStaged(transaction, id, rejected);
    expect?.(represent(before));
    return apply(transaction, before);
  });
  const stageReplay: RequestService['stageReplay'] = (transaction, id, options, drawn) =>
    stage(parts, transaction, id, options, drawn);
  return {
    stageReplay, toPublic, represent,
    list: (filter, before, limit) => list.page(filter, before, limit),
    count: (filter) => list.count(filter),
    find(id) {
      const bytes = records.findBytes(id);
      return bytes === undefined ? rejected.find(id)?.request : decodeRequest(bytes);
    },
    body(id) {
      const bytes = records.findBytes(id);
      if (bytes === undefined) return rejected.find(id)?.body ?? null;
      const apart = store.collection(requestBodyCollection.name);
      return bodyIn(decodeRequest(bytes), () => apart.findBytes(id));
    },
    pin: (id, pinned, expect) => {
      const nowMs = clock.now();
      return change(id, expect, (transaction, before) => {
        if (pinned === null || before.pinned === pinned) return before;
        const after = changeRequests(transaction, (unit) =>
          unit.change(id, () => ({ ...stamped(before, nowMs), pinned })));
        return after ?? before;
      });
    },
    remove: (id, expect) => change(id, expect, (transaction, { status }) => {
      if (status === 'pending') throw stillPending(id);
      changeRequests(transaction, (unit) => unit.delete(id));
    }),
    async replay(id, options, within) {
      const drawn = { nowMs: clock.now(), id: makeId() };
      return store.transact((transaction) => {
        const request = stageReplay(transaction, id, options, drawn);
        within?.(transaction, request);
        return request;
      });
    },
    reconcile: () => reconcileRequests(store),
    close: () => list.close(),
  };
}

function stage(
  { rejected, routesOf, checkRoom }: RequestServiceParts, transaction: Transaction, id: string,
  { routes, isNew }: ReplayOptions, drawn: DrawnReplay,
): KeptRequest {
  const { request, body, isStored } = getSource(transaction, id, rejected);
  const known = routesOf(request, body);
  if (known === null) {
    throw new AppError('conflict', `the webhook of request ${id} is gone: it cannot be run again`);
  }
  const names = chooseRoutes(request, known, routes);
  return changeRequests(transaction, (unit) => {
    if (isStored && !isNew) {
      const after = retriedRequest(request, names, drawn.nowMs);
      unit.change(id, () => after);
      return after;
    }
    const bytes = body();
    const made = copiedRequest(request, bytes, names, drawn);
    checkRoom(made);
    unit.add(made, bytes);
    return made;
  });
}

type Source = {
  readonly request: KeptRequest;
  /** Throws `conflict` when it was not kept whole. */
  readonly body: () => Buffer;
  /** Else it is in memory alone. */
  readonly isStored: boolean;
};

function getSource(transaction: Transaction, id: string, rejected: RejectedRequests): Source {
  const bytes = transaction.find(requestCollection.name, id);
  if (bytes !== undefined) {
    const request = decodeRequest(bytes);
    const body = (): Buffer =>
      bodyIn(request, () => transaction.find(requestBodyCollection.name, id));
    return { request, body, isStored: true };
  }
  const found = rejected.find(id);
  if (found === undefined) throw notFoundError(requestResource.noun, id);
  const { request, body, isWhole } = found;
  if (isWhole) return { request, body: () => body, isStored: false };
  throw new AppError('conflict', `request ${id} was rejected, and only ${body.length} bytes of its `
    + 'body were kept: it cannot be run again');
}

function getStaged(
  transaction: Transaction, id: string, rejected: RejectedRequests,
): KeptRequest {
  const bytes = transaction.find(requestCollection.name, id);
  if (bytes !== undefined) return decodeRequest(bytes);
  if (rejected.find(id) === undefined) throw notFoundError(requestResource.noun, id);
  throw new AppError('conflict', `request ${id} was rejected: it is in memory alone, and goes by `
    + 'itself');
}

function stillPending(id: string): AppError {
  return new AppError('conflict', `request ${id} is pending: it was accepted and will be done; `
    + 'delete it once it is done or has failed');
}
