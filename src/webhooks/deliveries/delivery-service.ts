/** The operations on deliveries: list, find, retry, resend, cancel and reconcile. */
import { parseTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { TransactionInputs, Store, Transaction } from '../../store/store-port.ts';
import { getsPayloads, type Visibility } from '../members/visibility.ts';
import type { Forward } from '../actions/http-forward-action.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import type { StoredOutgoingWebhook } from '../outgoing/outgoing-webhook.ts';
import type { RelayContext } from '../relay-context.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { changeItem, removeItems } from '../work/change-items.ts';
import { addAccepted, readRemovals } from '../records/removals.ts';
import { CHUNK_ITEMS_MAX, takeChunk, createSizeLookup } from '../work/item-spec.ts';
import type { RecordFields } from '../records/fields.ts';
import { RecordList } from '../records/record-list.ts';
import type { SearchWalk } from '../records/searches.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { decodeDelivery } from './delivery-codec.ts';
import {
  ALL_OUTGOING, createDeliveryFields, isOutgoingKind, needsRecords, restrictDeliveries,
  type DeliveryFilter, type RequestLookup,
} from './delivery-fields.ts';
import {
  OUTGOING_STATUSES, cancelIfQueued, deliveryCollection, resetForRetry,
  type Delivery, type DeliveryStatus,
} from './delivery.ts';
import type { FanOuts } from './fan-out.ts';
import {
  decodeEventDeliveries, decodeEventHead, deleteEvent, eventCollection, findEventHead,
  isEvent,
} from './event-record.ts';
import { sendDurably, type DurableSend } from './durable-send.ts';
import { findForwardTarget, queueForward } from './queued-forward.ts';
import { reconcileDeliveries } from './delivery-reconciliation.ts';
import {
  toPublicDelivery, type DeliveryReconciliation, type PublicDelivery,
} from './delivery-schema.ts';
import { walkDeliveries } from './delivery-search.ts';
import { stageCancelOfDelayed } from './delayed-events.ts';
import {
  getDelivery, isWebhookGone, stageResend, stageRetry, type ResendCapacity, type ResendMode,
} from './resend.ts';
import { findSentRequest, type SentHttpRequest } from './sent-request.ts';
import { deliverySpec, type DeliveryTotals } from './delivery-changes.ts';

type OnStaged = (transaction: Transaction, delivery: Delivery) => void;

type DeliveryParts = {
  readonly fanOuts: Pick<FanOuts, 'whenWritten'>;
  readonly webhooks: Pick<OutgoingWebhookIndex, 'find' | 'getNamed'>;
  readonly requests: RequestLookup;
  readonly capacity: QueueCapacity;
  readonly findHoldProblems: () => readonly string[];
  /** When the rate of the webhook of a delivery lets it start; null: it does not wait for that. */
  readonly findRateTime: (identifier: string) => number | null;
};

export class DeliveryService {
  readonly fields: RecordFields<Delivery, DeliveryFilter>;
  readonly #context: RelayContext;
  readonly #parts: DeliveryParts;
  readonly #list: RecordList<Delivery, DeliveryFilter>;

  constructor(context: RelayContext, parts: DeliveryParts) {
    this.fields = createDeliveryFields(parts.requests.findEvent);
    this.#context = context;
    this.#parts = parts;
    this.#list = new RecordList(context.store, deliveryCollection.name,
      { fields: this.fields, needsRecords, decode: decodeDelivery });
  }

  /** `after` is the id before the first delivery of the list. */
  async list(
    filter: DeliveryFilter, after: string | null, limit: number, isNewestFirst = false,
  ): Promise<Delivery[]> {
    await this.#parts.fanOuts.whenWritten();
    return this.#list.page(filter, { after, limit, isNewestFirst, decode: decodeDelivery });
  }

  /** `before` is the id before the first delivery that is searched. */
  async openSearch(filter: DeliveryFilter, before: string | null): Promise<SearchWalk<Delivery>> {
    await this.#parts.fanOuts.whenWritten();
    const matches = await this.#list.select(filter, before, true);
    const hidesOthers = typeof filter.hook === 'function';
    return walkDeliveries(this.#context.store, this.#parts.requests, matches, hidesOthers);
  }

  async count(filter: DeliveryFilter): Promise<number> {
    const { fanOuts, capacity } = this.#parts;
    await fanOuts.whenWritten();
    return isByStatusAlone(filter) ? countByStatus(capacity, filter.status)
      : this.#list.count(filter);
  }

  find(identifier: string): Delivery | undefined {
    const bytes = this.#findBytes(identifier);
    return bytes === undefined ? undefined : decodeDelivery(bytes);
  }

  toPublic(delivery: Delivery): PublicDelivery {
    const { requests } = this.#parts;
    return delivery.request === null ? toPublicSend(this.#context.store, this.#parts, delivery)
      : toPublicRoute(requests, delivery, delivery.request);
  }

  /** A delivery with the request that it sent last; a delivery to a route sends none. */
  findSentRequest(
    identifier: string,
  ): { readonly delivery: Delivery; readonly sent: SentHttpRequest | null } | undefined {
    const bytes = this.#findBytes(identifier);
    if (bytes === undefined) return undefined;
    const delivery = decodeDelivery(bytes);
    return { delivery, sent: findSentRequest(this.#context.store, { bytes, item: delivery }) };
  }

  /** See `stageRetry`. Throws `conflict` also for a delivered or cancelled delivery. */
  retry(identifier: string, isBound = false): Promise<Delivery> {
    const { store, clock } = this.#context;
    const nowMs = clock.now();
    const capacity = shareCapacity(this.#parts.capacity, isBound);
    return store.transact((transaction) =>
      stageRetry(transaction, identifier, ['failed', 'pending'], nowMs, capacity));
  }

  /** Makes failed deliveries that the caller sees due now, chunk by chunk, and returns how many. */
  async retryFailed(visibility: Visibility | null = null): Promise<number> {
    const { store, clock } = this.#context;
    const all: DeliveryFilter = { ...ALL_OUTGOING, status: 'failed' };
    const filter = visibility === null ? all : restrictDeliveries(all, visibility, false);
    const capacity = shareCapacity(this.#parts.capacity, visibility !== null);
    const sizeOf = createSizeLookup(store.collection(deliveryCollection.name));
    let count = 0;
    let after: string | null = null;
    for (;;) {
      const failedDeliveries: Delivery[] = await this.#list.page(filter,
        { after, limit: CHUNK_ITEMS_MAX, isNewestFirst: false, decode: decodeDelivery });
      after = failedDeliveries.at(-1)?.identifier ?? null;
      if (after === null) return count;
      for (let rest = failedDeliveries; rest.length > 0;) {
        const chunk = takeChunk(rest, ({ identifier }) => sizeOf(identifier));
        count += await retryChunk(store, chunk, clock.now(), capacity);
        rest = rest.slice(chunk.length);
      }
    }
  }

  /** See `stageResend`. What `onStaged` stages is committed with it. */
  resend(
    identifier: string, mode: ResendMode,
    { isBound = false, onStaged }: {
      readonly isBound?: boolean; readonly onStaged?: OnStaged;
    } = {},
  ): Promise<Delivery> {
    const { store, clock, makeId } = this.#context;
    const inputs = { nowMs: clock.now(), seed: makeId() };
    return store.transact((transaction) => {
      const delivery = this.stageResend(transaction, identifier, mode, inputs, isBound);
      onStaged?.(transaction, delivery);
      return delivery;
    });
  }

  /** Like `resend`, in the caller's transaction. `seed` is a UUIDv7 used for nothing else. */
  stageResend(
    transaction: Transaction, identifier: string, mode: ResendMode,
    inputs: Omit<TransactionInputs, 'hops'>, isBound = false,
  ): Delivery {
    const capacity = shareCapacity(this.#parts.capacity, isBound);
    return stageResend(transaction, identifier, mode, inputs, capacity);
  }

  /** A failed one gives its room up so. Throws `not_found`, and `conflict` for a delivered one. */
  cancel(identifier: string): Promise<Delivery> {
    const { store, clock } = this.#context;
    const nowMs = clock.now();
    return store.transact((transaction) => this.stageCancel(transaction, identifier, nowMs));
  }

  /** Like `cancel`, in the caller's transaction. */
  stageCancel(transaction: Transaction, identifier: string, nowMs: number): Delivery {
    const storedDelivery = getDelivery(transaction, identifier);
    const { status } = storedDelivery.item;
    if (status === 'delivered') {
      throw new AppError('conflict', `delivery ${identifier} is delivered already`);
    }
    return changeItem(deliverySpec, transaction, identifier,
      (before) => cancelIfQueued(before, nowMs), storedDelivery)?.after
      ?? storedDelivery.item;
  }

  /**
   * Cancels an event that has not begun, a delayed one or a delayed send to one webhook, which has
   * its delivery already (durable-send.ts). Nothing is left of it. Throws `not_found`, and
   * `conflict` once it has begun.
   */
  cancelEvent(identifier: string): Promise<void> {
    const { store, clock } = this.#context;
    const nowMs = clock.now();
    return store.transact((transaction) => stageCancelOfEvent(transaction, identifier, nowMs));
  }

  sendDurably(send: DurableSend, onStaged: OnStaged): Promise<Delivery> {
    const { webhooks, capacity } = this.#parts;
    return sendDurably(this.#context, webhooks, capacity, send, onStaged);
  }

  /** See `queueForward`. */
  queueForward(forward: Forward): Promise<string> {
    return queueForward(this.#context, this.#parts.capacity, forward);
  }

  async reconcile(): Promise<DeliveryReconciliation> {
    const { fanOuts, findHoldProblems } = this.#parts;
    const { store, clock } = this.#context;
    await fanOuts.whenWritten();
    return reconcileDeliveries(store, () => this.totals(), clock.now(), findHoldProblems());
  }

  totals(): DeliveryTotals {
    const { agedOut } = readRemovals(findCommitted(this.#context.store), deliverySpec.noun);
    return addAccepted({ ...this.#parts.capacity.countByStatus(), agedOut });
  }

  #findBytes(identifier: string): Buffer | undefined {
    return this.#context.store.collection(deliveryCollection.name).findBytes(identifier);
  }
}

function toPublicSend(
  store: Store, { webhooks, findRateTime }: Pick<DeliveryParts, 'webhooks' | 'findRateTime'>,
  delivery: Delivery,
): PublicDelivery {
  const { hook, event, identifier } = delivery;
  const webhook = hook === null ? undefined : webhooks.find(hook);
  const target = findTarget(store, delivery, webhook);
  const head = getsPayloads(webhook ?? {}) ? findEventHead(findCommitted(store), delivery) : null;
  const key = head?.key ?? null;
  return toPublicDelivery(delivery, { event, key, hookName: webhook?.name ?? null, target },
    webhook?.enabled === false, findRateTime(identifier));
}

function toPublicRoute(
  { findEvent, findWebhook }: RequestLookup, delivery: Delivery, request: string,
): PublicDelivery {
  const webhook = findWebhook(delivery.hook ?? '');
  return toPublicDelivery(
    delivery,
    { event: findEvent(request), key: null, hookName: webhook?.name ?? null, target: null },
    webhook?.enabled === false);
}

function isByStatusAlone({ kind, hook, event, time }: DeliveryFilter): boolean {
  return kind === isOutgoingKind && hook === null && event === null && time === null;
}

/** null stands for all statuses. */
function countByStatus(
  { writtenCounts }: Pick<QueueCapacity, 'writtenCounts'>, status: DeliveryStatus | null,
): number {
  return OUTGOING_STATUSES.reduce((sum, counted) =>
    status === null || counted === status ? sum + writtenCounts[counted] : sum, 0);
}

/** A finished delivery has the target it went to, even if the webhook changed. */
function findTarget(
  store: Store, delivery: Delivery, webhook: StoredOutgoingWebhook | undefined,
): string | null {
  const { hook, status, sent } = delivery;
  if (hook === null) return findForwardTarget(findCommitted(store), delivery);
  const [first, second] = status === 'pending'
    ? [webhook?.targetUrl, sent?.url] : [sent?.url, webhook?.targetUrl];
  const url = first ?? second;
  return url === undefined ? null : formatTargetLabel(url);
}

function shareCapacity(capacity: QueueCapacity, isBound: boolean): ResendCapacity {
  return {
    isEventQueued: (eventId) => capacity.isEventQueued(eventId),
    reserve: (...room) => capacity.reserve(...room, { isBound }),
  };
}

/** Makes failed deliveries due now, but not those of removed webhooks. Resolves with how many. */
function retryChunk(
  store: Store, deliveries: readonly Delivery[], nowMs: number, capacity: ResendCapacity,
): Promise<number> {
  return store.transact((transaction) => {
    const retriedDeliveries =
      deliveries.filter((delivery) => !isWebhookGone(transaction, delivery));
    capacity.reserve(transaction, retriedDeliveries.length, 0);
    return retriedDeliveries.filter(({ identifier }) =>
      changeItem(deliverySpec, transaction, identifier, (before) =>
        before.status === 'failed' ? resetForRetry(before, nowMs) : null) !== undefined).length;
  });
}

function stageCancelOfEvent(transaction: Transaction, id: string, nowMs: number): void {
  if (stageCancelOfDelayed(transaction, id)) return;
  const bytes = transaction.find(eventCollection.name, id);
  if (bytes === undefined || !isEvent(bytes)) throw notFoundError('event', id);
  const [delivery = ''] = decodeEventDeliveries(bytes).deliveries;
  if (decodeEventHead(bytes).to === null || !hasNotBegun(transaction, delivery, nowMs)) {
    throw new AppError('conflict', `event ${id} has begun; what it still has to deliver ends with `
      + '`delivery:cancel`, or `POST /api/deliveries/{identifier}/cancel`');
  }
  removeItems(deliverySpec, transaction, [delivery], 'agedOut');
  deleteEvent(transaction, id);
}

function hasNotBegun(transaction: Transaction, id: string, nowMs: number): boolean {
  const bytes = transaction.find(deliveryCollection.name, id);
  if (bytes === undefined) return false;
  const { status, queuedAt, nextAttemptAt, attemptCount } = decodeDelivery(bytes);
  return status === 'pending' && attemptCount === 0 && nextAttemptAt !== null
    && nextAttemptAt === queuedAt && parseTimestamp(nextAttemptAt) > nowMs;
}
