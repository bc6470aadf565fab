/** The operations on deliveries: list, find, retry, resend, cancel and reconcile. */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { TransactionInputs, Store, Transaction } from '../../store/store-port.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import type { OutgoingWebhook } from '../outgoing/outgoing-webhook.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { changeItem } from '../durable-queue/change-items.ts';
import { addAccepted, readRemovals } from '../durable-queue/removals.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from '../durable-queue/queue-spec.ts';
import type { RecordFields } from '../records/fields.ts';
import { RecordList } from '../records/record-list.ts';
import type { SearchWalk } from '../search/searches.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { decodeDelivery } from './delivery-codec.ts';
import {
  ALL_OUTGOING, createDeliveryFields, isOutgoingKind, needsRecords, type DeliveryFilter,
  type RequestLookup,
} from './delivery-fields.ts';
import {
  OUTGOING_STATUSES, cancelIfPending, deliveryCollection, resetForRetry, toPublicDelivery,
  type Delivery, type DeliveryStatus, type PublicDelivery,
} from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import { findForwardTarget } from './event-record.ts';
import { cancelEvent } from './cancel-event.ts';
import { createDurableSender, type SendDurably } from './durable-send.ts';
import type { DeliveryReconciliation } from './delivery-reconciliation.ts';
import {
  getDelivery, isWebhookGone, stageResend, stageRetry, type ResendMode,
} from './resend.ts';
import { findSentRequest, type SentHttpRequest } from './sent-request.ts';
import { deliveryQueue, type DeliveryTotals } from './delivery-changes.ts';

export interface DeliveryService {
  readonly fields: RecordFields<Delivery, DeliveryFilter>;
  /** Lists up to `limit` deliveries behind the id `after`, oldest first or newest first. */
  list(
    filter: DeliveryFilter, after: string | null, limit: number, isNewestFirst?: boolean,
  ): Promise<Delivery[]>;
  /** Opens a search through the deliveries that match, from behind the id `before`. */
  openSearch(
    filter: DeliveryFilter, before: string | null,
  ): Promise<SearchWalk<Delivery>>;
  /** Counts the deliveries that match, on all pages. */
  count(filter: DeliveryFilter): Promise<number>;
  find(identifier: string): Delivery | undefined;
  /** Returns the delivery as callers see it, with the present state of its webhook. */
  toPublic(delivery: Delivery): PublicDelivery;
  /** Finds a delivery together with the request that it sent last; one to a route sends none. */
  findSentRequest(
    identifier: string,
  ): { readonly delivery: Delivery; readonly sent: SentHttpRequest | null } | undefined;
  /**
   * Makes a delivery due now: see `stageRetry`. Throws what it throws, and `conflict` if it was
   * delivered or cancelled.
   */
  retry(identifier: string): Promise<Delivery>;
  /** Makes all failed deliveries due now, and returns how many. */
  retryFailed(): Promise<number>;
  /** Sends a delivery again: see `stageResend`. What `onStaged` stages is committed with it. */
  resend(identifier: string, mode: ResendMode, onStaged?: OnStaged): Promise<Delivery>;
  /** Does what `resend` does in another transaction. `seed` is a UUIDv7 used for nothing else. */
  stageResend(
    transaction: Transaction, identifier: string, mode: ResendMode,
    inputs: Omit<TransactionInputs, 'hops'>,
  ): Delivery;
  /**
   * Cancels a pending delivery. Throws `not_found`, and `conflict` if it is delivered or failed.
   */
  cancel(identifier: string): Promise<Delivery>;
  /**
   * Cancels an event that has not begun, so that nothing is left of it. Throws `not_found`, and
   * `conflict` once it has begun.
   */
  cancelEvent(identifier: string): Promise<void>;
  readonly sendDurably: SendDurably;
  reconcile(): Promise<DeliveryReconciliation>;
  totals(): DeliveryTotals;
  close(): void;
}

type OnStaged = (transaction: Transaction, delivery: Delivery) => void;

type DeliveryServiceDeps = {
  readonly store: Store; readonly fanOuts: Pick<FanOuts, 'whenWritten'>;
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find' | 'findNamed'>;
  readonly requests: RequestLookup;
  readonly clock: Clock; readonly makeId: () => string; readonly capacity: QueueCapacity;
  /** Finds webhooks whose deliveries wait for a job that does not run. */
  readonly findHoldProblems: () => readonly string[];
};

const loadReconciliation = lazyImport(() => import('./delivery-reconciliation.ts'));
const loadSearch = lazyImport(() => import('./delivery-search.ts'));

export function createDeliveryService(deps: DeliveryServiceDeps): DeliveryService {
  const { store, fanOuts, webhooks, clock, makeId, capacity } = deps;
  const records = store.collection(deliveryCollection.name);
  const fields = createDeliveryFields(deps.requests.findEvent);
  const list = new RecordList(store, deliveryCollection.name,
    { fields, needsRecords, decode: decodeDelivery });
  const totals = (): DeliveryTotals => countTotals(store, capacity);
  return {
    fields, totals,
    find(identifier) {
      const bytes = records.findBytes(identifier);
      return bytes === undefined ? undefined : decodeDelivery(bytes);
    },
    toPublic: (delivery) => delivery.request === null ? toPublicSend(store, webhooks, delivery)
      : toPublicRoute(deps.requests, delivery, delivery.request),
    findSentRequest(identifier) {
      const bytes = records.findBytes(identifier);
      if (bytes === undefined) return undefined;
      const delivery = decodeDelivery(bytes);
      return { delivery, sent: findSentRequest(store, { bytes, item: delivery }) };
    },
    close: () => list.close(),
    async list(filter, after, limit, isNewestFirst = false) {
      await fanOuts.whenWritten();
      return list.page(filter, { after, limit, isNewestFirst, decode: decodeDelivery });
    },
    async openSearch(filter, before) {
      await fanOuts.whenWritten();
      const matches = await list.matcher(filter);
      return loadSearch(({ walkDeliveries }) =>
        walkDeliveries(store, deps.requests, matches, before));
    },
    async count(filter) {
      await fanOuts.whenWritten();
      return isByStatusAlone(filter) ? countByStatus(capacity, filter.status) : list.count(filter);
    },
    retry(identifier) {
      const nowMs = clock.now();
      return store.transact((transaction) =>
        stageRetry(transaction, identifier, ['failed', 'pending'], nowMs, capacity));
    },
    retryFailed: () => retryAllFailed(store, list, clock, capacity),
    resend(identifier, mode, onStaged) {
      const inputs = { nowMs: clock.now(), seed: makeId() };
      return store.transact((transaction) => {
        const delivery = stageResend(transaction, identifier, mode, inputs, capacity);
        onStaged?.(transaction, delivery);
        return delivery;
      });
    },
    stageResend: (...args) => stageResend(...args, capacity),
    cancel: (identifier) => cancelDelivery(store, identifier, clock.now()),
    sendDurably: createDurableSender(deps),
    cancelEvent: (identifier) => cancelEvent(store, clock, identifier),
    async reconcile() {
      await fanOuts.whenWritten();
      return loadReconciliation(({ reconcileDeliveries }) =>
        reconcileDeliveries(store, totals, clock.now(), deps.findHoldProblems()));
    },
  };
}

/** Returns a delivery to a webhook, or a forward, as callers see it. */
function toPublicSend(
  store: Store, webhooks: Pick<OutgoingWebhookIndex, 'find'>, delivery: Delivery,
): PublicDelivery {
  const { hook, event } = delivery;
  const webhook = hook === null ? undefined : webhooks.find(hook);
  const target = findTarget(store, delivery, webhook);
  return toPublicDelivery(delivery, { event, hookName: webhook?.name ?? null, target },
    webhook?.enabled === false);
}

/** Returns the delivery of a request to a route as callers see it. */
function toPublicRoute(
  { findEvent, findWebhook }: RequestLookup, delivery: Delivery, request: string,
): PublicDelivery {
  const webhook = findWebhook(delivery.hook ?? '');
  return toPublicDelivery(
    delivery, { event: findEvent(request), hookName: webhook?.name ?? null, target: null },
    webhook?.enabled === false);
}

function isByStatusAlone({ kind, hook, event, time }: DeliveryFilter): boolean {
  return kind === isOutgoingKind && hook === null && event === null && time === null;
}

function countTotals(
  store: Store, capacity: Pick<QueueCapacity, 'countByStatus'>,
): DeliveryTotals {
  const { agedOut } = readRemovals(findCommitted(store), deliveryQueue.noun);
  return addAccepted({ ...capacity.countByStatus(), agedOut });
}

/** Counts the written deliveries of a status; null stands for all of them. */
function countByStatus(
  { writtenCounts }: Pick<QueueCapacity, 'writtenCounts'>, status: DeliveryStatus | null,
): number {
  return OUTGOING_STATUSES.reduce((sum, counted) =>
    status === null || counted === status ? sum + writtenCounts[counted] : sum, 0);
}

/** Cancels a pending delivery. Throws as `DeliveryService.cancel` does. */
function cancelDelivery(store: Store, identifier: string, nowMs: number): Promise<Delivery> {
  return store.transact((transaction) => {
    const stored = getDelivery(transaction, identifier);
    const { status } = stored.item;
    if (status === 'delivered' || status === 'failed') {
      throw new AppError('conflict', `delivery ${identifier} is ${status} already`);
    }
    return changeItem(deliveryQueue, transaction, identifier,
      (before) => cancelIfPending(before, nowMs), stored) ?? stored.item;
  });
}

/** Makes all failed deliveries due now, a chunk in each transaction, and returns how many. */
async function retryAllFailed(
  store: Store, list: RecordList<Delivery, DeliveryFilter>, clock: Clock,
  capacity: QueueCapacity,
): Promise<number> {
  const sizeOf = createSizeLookup(store.collection(deliveryCollection.name));
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const failedDeliveries: Delivery[] = await list.page({ ...ALL_OUTGOING, status: 'failed' }, {
      after, limit: CHUNK_ITEMS_MAX, isNewestFirst: false, decode: decodeDelivery,
    });
    after = failedDeliveries.at(-1)?.identifier ?? null;
    if (after === null) return count;
    for (let rest = failedDeliveries; rest.length > 0;) {
      const chunk = takeChunk(rest, ({ identifier }) => sizeOf(identifier));
      count += await retryChunk(store, chunk, clock.now(), capacity);
      rest = rest.slice(chunk.length);
    }
  }
}

/** Finds the target. A finished delivery has the one it went to, even if the webhook changed. */
function findTarget(
  store: Store, delivery: Delivery, webhook: OutgoingWebhook | undefined,
): string | null {
  const { hook, status, sent } = delivery;
  if (hook === null) return findForwardTarget(findCommitted(store), delivery);
  const [first, second] = status === 'pending'
    ? [webhook?.targetUrl, sent?.url] : [sent?.url, webhook?.targetUrl];
  const url = first ?? second;
  return url === undefined ? null : formatTargetLabel(url);
}

/** Makes failed deliveries due now, but those of removed webhooks. Resolves with how many. */
function retryChunk(
  store: Store, deliveries: readonly Delivery[], nowMs: number, capacity: QueueCapacity,
): Promise<number> {
  return store.transact((transaction) => {
    const wanted = deliveries.filter((delivery) => !isWebhookGone(transaction, delivery));
    capacity.reserve(transaction, wanted.length, 0);
    return wanted.filter(({ identifier }) =>
      changeItem(deliveryQueue, transaction, identifier, (before) =>
        before.status === 'failed' ? resetForRetry(before, nowMs) : null) !== undefined).length;
  });
}
