/** Attempts deliveries to webhooks, and forwards: they are sent over HTTP. */
import { parseTimestamp } from '../../../base/clock.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import { timeOfUuidV7 } from '../../../base/uuid.ts';
import { followRecords } from '../../../resources/projection.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { Store } from '../../../store/store-port.ts';
import { createTaskRecords } from '../delivery-codec.ts';
import {
  deliveryCollection, endIfPending, placeOf, type Delivery, type SendOutcome, type SentHead,
  type StoredDelivery,
} from '../delivery.ts';
import { deliverySpec } from '../delivery-changes.ts';
import { backfillCollection, decodeHoldingJobId } from '../backfill-hold.ts';
import type { DelayedEvents } from '../delayed-events.ts';
import type { FanOuts } from '../fan-out.ts';
import { decodeEventHead, findEventRecord, readPayloadBytes } from '../event-record.ts';
import { findForwardHost } from '../queued-forward.ts';
import { isRouteDeliveryId } from '../route-delivery-id.ts';
import { formatWebhookLabel } from '../../webhook-label.ts';
import { Facts } from '../../members/filters/facts.ts';
import { findKeyPath, type KeyReader } from '../../members/filters/order.ts';
import { outgoingCollection } from '../../outgoing/outgoing-webhook.ts';
import type { LaneName, QueueSettings, Responsiveness, TaskOrder } from '../../work/task.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';
import { unlessCutOff, type QueueLease } from '../../work/ownership.ts';
import { changeItem } from '../../work/change-items.ts';
import type {
  Attempter, AttemptResult, AttemptWorker, TaskRecords, WebhookQueues,
} from '../../work/queue-worker.ts';
import type { RelayContext } from '../../relay-context.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { DeliveryPaces } from './delivery-paces.ts';
import { recordOutcome, type FinishedAttempt } from './attempt-recorder.ts';
import {
  createFailure, NO_BODY_ROOM, prepareRequest, type PreparedAttempt,
} from './request-builder.ts';
import { WebhookProbes } from './webhook-probes.ts';
import { DeliveryCounters, type DeliveryStatistics } from './delivery-statistics.ts';

type DeliveryServices = Omit<DeliveryContext, keyof RelayContext | 'retiringIds'> & {
  readonly fanOuts: FanOuts;
  readonly delayedEvents: DelayedEvents;
  readonly onOutcome: OnOutcome;
};

const NO_ROOM_LOG_MS = 60_000;
/** The key of a queue is a webhook's identifier, or this prefix and the host of queued forwards. */
const FORWARD_PREFIX = 'forward ';

export class DeliveryAttempter implements Attempter<Delivery, FinishedAttempt> {
  readonly noun = 'a delivery';
  readonly records: TaskRecords<Delivery>;
  readonly webhookQueues: WebhookQueues<Delivery>;
  readonly #context: DeliveryContext & DeliveryServices;
  readonly #unfollow: readonly (() => void)[];
  readonly #counters = new DeliveryCounters();
  readonly #paces: DeliveryPaces;
  readonly #probes: WebhookProbes;
  #roomLoggedMs = -Infinity;

  constructor(context: RelayContext, services: DeliveryServices) {
    const { store, ownership } = context;
    const { webhooks, scheduler, fanOuts, delayedEvents } = services;
    this.#context = { ...context, ...services, retiringIds: new Set() };
    this.#paces = new DeliveryPaces(this.#context);
    this.#probes = new WebhookProbes(this.#context);
    this.records = createTaskRecords(store, (id) => !isRouteDeliveryId(id));
    this.webhookQueues = {
      collection: outgoingCollection.name,
      ending: {
        collection: deliveryCollection.name,
        itemIdOf: (taskId) => taskId,
        isOrphaned: (key) =>
          !key.startsWith(FORWARD_PREFIX) && webhooks.find(key) === undefined,
        stageEnd(transaction, id, nowMs) {
          changeItem(deliverySpec, transaction, id, (before) =>
            endIfPending(before, 'cancelled', nowMs));
        },
        message: 'deliveries of a removed webhook wait to be cancelled',
      },
      describeOrder: (key) => findKeyPath(webhooks.find(key)?.order),
      findLane: (storedDelivery) =>
        findDeliveryLane(store, storedDelivery, this.#findKeyReader(storedDelivery.item)),
    };
    this.#unfollow = [
      // The id of a job is a UUIDv7, as places begin with such a time: tasks placed after the job
      // wait.
      followRecords(store.collection(backfillCollection.name), ({ id, after }) =>
        scheduler.hold(id, after === null ? null : decodeHoldingJobId(after))),
      ownership.onChange(() => {
        this.#paces.onOwnershipChange();
        this.#probes.onOwnershipChange();
      }),
      // The index of webhooks follows the collection earlier: it has the change already.
      store.collection(outgoingCollection.name).onChange(({ id }) => {
        this.#paces.follow(id);
        this.#probes.follow(id);
      }),
    ];
    fanOuts.onIdle(() => scheduler.requestRun());
    delayedEvents.onOverdueEnd(() => scheduler.requestRun());
  }

  start(): void {
    this.#probes.start();
  }

  /** Must be called once its worker is closed. */
  close(): void {
    this.#probes.close();
    for (const unfollow of this.#unfollow) unfollow();
  }

  statistics(): DeliveryStatistics {
    const { scheduler, clock, webhooks, capacity } = this.#context;
    const { oldestPlace } = scheduler;
    const formatHook = (webhookIdOrLabel: string): string => {
      const webhook = webhooks.find(webhookIdOrLabel);
      return webhook === undefined ? webhookIdOrLabel : formatWebhookLabel(webhook);
    };
    return {
      pending: scheduler.size,
      room: capacity.room,
      inFlight: scheduler.runningCount,
      oldestPendingMs: oldestPlace === null ? 0
        : Math.max(0, clock.now() - timeOfUuidV7(oldestPlace)),
      figures: this.#counters,
      failures: [...this.#counters.failures].map(([webhookIdOrLabel, count]) =>
        ({ hook: formatHook(webhookIdOrLabel), count })),
      inFlightByHost: scheduler.countRunningByTarget()
        .map(({ target, runningCount }) => ({ host: target, inFlight: runningCount })),
    };
  }

  /**
   * A fan-out and an overdue event have deliveries still to be made, which later deliveries of
   * their webhooks must not overtake. Such an event may have nearly all webhooks, and is written
   * within seconds: so all deliveries wait.
   */
  mayBegin(): boolean {
    const { fanOuts, delayedEvents } = this.#context;
    return fanOuts.unwrittenCount === 0 && !delayedEvents.hasOverdue();
  }

  async runAttempt(
    id: string, lease: QueueLease, cutOff: AbortSignal,
  ): Promise<AttemptResult<FinishedAttempt> | null> {
    const attempt = await attemptDelivery(this.#context, id, lease, cutOff);
    if (attempt === NO_BODY_ROOM) this.#logNoRoom(id);
    return attempt;
  }

  countAndAssess({ outcome, storedDelivery }: FinishedAttempt): Responsiveness | null {
    const { end, isUnsent = false, attempt: { durationMs } } = outcome;
    // A target that was not asked has not failed: the health does not count it, either.
    if (end !== 'notAsked') {
      this.#context.onOutcome('deliveries', storedDelivery.item.hook,
        end === 'delivered' ? end : 'failed', isUnsent ? null : durationMs);
    }
    this.#counters.record(storedDelivery.item, outcome, this.#context.clock.now());
    return assessResponsiveness(outcome);
  }

  writeResult(attempt: FinishedAttempt, worker: AttemptWorker): Promise<Delivery | undefined> {
    return recordOutcome(this.#context, attempt, worker);
  }

  logLabels(id: string): object {
    return { delivery: id };
  }

  placeTask(storedDelivery: StoredDelivery): { readonly key: string; readonly order: TaskOrder } {
    const { store, clock } = this.#context;
    const { hook: webhookId } = storedDelivery.item;
    const key = webhookId
      ?? `${FORWARD_PREFIX}${findForwardHost(findCommitted(store), storedDelivery.item)}`;
    const readKey = this.#findKeyReader(storedDelivery.item);
    const order = computeTaskOrder(store, storedDelivery, readKey, clock.now());
    return { key, order };
  }

  describeQueue(key: string): QueueSettings {
    if (key.startsWith(FORWARD_PREFIX)) {
      return { key, target: key.slice(FORWARD_PREFIX.length), mayStart: true };
    }
    const webhook = this.#context.webhooks.find(key);
    const { host = '', enabled = false, maxInFlight, order } = webhook ?? {};
    const runningMax = order === 'strict' ? 1 : maxInFlight;
    const mayStart = enabled && !this.#context.retiringIds.has(key);
    return { key, target: host, mayStart, runningMax };
  }

  #findKeyReader({ hook: webhookId }: Pick<Delivery, 'hook'>): KeyReader | null {
    return webhookId === null ? null : this.#context.webhooks.find(webhookId)?.readKey ?? null;
  }

  #logNoRoom(id: string): void {
    const { clock, log } = this.#context;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#roomLoggedMs < NO_ROOM_LOG_MS) return;
    this.#roomLoggedMs = nowMs;
    log.warning('deliveries wait until there is room for their bodies (outgoing.maxPendingBytes)',
      { delivery: id });
  }
}

/**
 * Prepares and sends the request of a delivery. Resolves with null when the delivery must not be
 * attempted any more, its lease has ended or `cutOff` came first. Rejects when the request could
 * not be prepared.
 */
async function attemptDelivery(
  context: DeliveryContext, identifier: string, lease: QueueLease, cutOff: AbortSignal,
): Promise<AttemptResult<FinishedAttempt> | null> {
  const preparedAttempt = await unlessCutOff(prepareRequest(context, identifier), cutOff);
  if (preparedAttempt === null || 'postponedMs' in preparedAttempt) return preparedAttempt;
  // The lease may have ended while the request was prepared.
  if (!lease.mayContinue()) return null;
  const { sent, isPayload, storedDelivery } = preparedAttempt;
  const { hook: webhookId } = storedDelivery.item;
  const isProbe = webhookId !== null && context.webhooks.find(webhookId)?.isProbed === true;
  const outcome = await sendPrepared(context, preparedAttempt, cutOff);
  if (outcome === null) return null;
  // A target that was not asked got no request.
  const isUnsent = outcome.end === 'notAsked' || outcome.isUnsent === true;
  const head = isUnsent ? null : addShownParts(sent, outcome);
  const targetUrl = 'request' in preparedAttempt ? preparedAttempt.request.url : null;
  return { result: { outcome, sent: head, targetUrl, isPayload, isProbe, storedDelivery, lease } };
}

function addShownParts(sent: SentHead | null, { shown = null }: SendOutcome): SentHead | null {
  if (sent === null || shown === null) return sent;
  return { method: sent.method, url: shown.url, headers: [...sent.headers, ...shown.headers] };
}

/** The responsiveness that an outcome shows of the webhook, or of its host; null: none. */
export function assessResponsiveness(
  { end, attempt, isUnsent = false, isUnreachable = false }: SendOutcome,
): Responsiveness | null {
  if (end === 'notAsked' || isUnsent) return null;
  if (isUnreachable) return 'unreachable';
  return attempt.statusCode === null ? 'silent' : 'answered';
}

async function sendPrepared(
  context: DeliveryContext, preparedAttempt: PreparedAttempt, cutOff: AbortSignal,
): Promise<SendOutcome | null> {
  if (cutOff.aborted) return null;
  if ('failure' in preparedAttempt) return preparedAttempt.failure;
  try {
    return await context.sender.attempt(preparedAttempt.request, cutOff);
  } catch (thrown) {
    // The request may have left, but counts as unsent: nothing is concluded about the target.
    context.log.error('an attempt failed unexpectedly', { error: thrown });
    return createFailure(context.clock, 'internal error');
  }
}

/**
 * Computes the place and the lane of a pending delivery. Its place is the time when it was queued;
 * its lane is that of its key, which is stored nowhere but read from the event each time. `readKey`
 * is null if the order of the webhook has no key.
 */
export function computeTaskOrder(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null, nowMs: number,
): TaskOrder {
  const { queuedAt, nextAttemptAt, attempts } = delivery.item;
  const queuedAtMs = queuedAt === null ? 0 : parseTimestamp(queuedAt);
  // It is delayed until its first attempt, unless a retry by hand has made that due before its
  // place.
  const isDelayed = queuedAtMs > nowMs && attempts.length === 0
    && nextAttemptAt !== null && parseTimestamp(nextAttemptAt) >= queuedAtMs;
  return {
    lane: findDeliveryLane(store, delivery, readKey), place: placeOf(delivery.item), isDelayed,
  };
}

/** null: the order of the webhook has no key, or the delivery has none. */
function findDeliveryLane(
  store: Store, delivery: StoredDelivery, readKey: KeyReader | null,
): LaneName | null {
  if (readKey === null) return null;
  const eventBytes = findEventRecord(findCommitted(store), delivery.item);
  if (eventBytes === undefined) return null;
  const facts = new Facts({
    payload: () => parseJsonText(readPayloadBytes(eventBytes).toString()) as unknown,
    event: () => delivery.item.event,
  });
  const key = readKey(facts, decodeEventHead(eventBytes).key);
  return key === null ? null : { name: encodeJson(key), key };
}
