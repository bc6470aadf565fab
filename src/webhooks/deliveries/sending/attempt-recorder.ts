/**
 * Writes the result of an attempt. The result and the time of the next attempt are one record, so a
 * crash loses neither. While the store takes no writes, the result waits in memory, because what
 * has been delivered must not be sent again.
 */
import { createTraceFields } from '../../../base/trace-context.ts';
import { formatTimestamp, parseTimestamp } from '../../../base/clock.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { TransactionInputs } from '../../../store/store-port.ts';
import {
  afterAttempt, afterProbe, type Delivery, type StoredDelivery, type SendOutcome, type SentHead,
} from '../delivery.ts';
import { deliverySpec } from '../delivery-changes.ts';
import { findEventHead, type EventHead } from '../event-record.ts';
import { findForwardTarget } from '../queued-forward.ts';
import { disableFailingWebhook, enableProbedWebhook } from '../../outgoing/automatic-disabling.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import type { QueueLease } from '../../work/ownership.ts';
import { hasFailed, writeAttempt } from '../../work/change-items.ts';
import type { AttemptWorker } from '../../work/queue-worker.ts';
import { retryUntilWritten } from '../../work/write-retry.ts';
import { retireWebhook, type DeliveryWrite } from './webhook-retirement.ts';
import type { DeliveryContext } from './delivery-context.ts';

/** An attempt that was made, with the delivery as it was before. */
export type FinishedAttempt = {
  readonly outcome: SendOutcome;
  /** The head of the request, to be stored; null: the target got no request. */
  readonly sent: SentHead | null;
  readonly targetUrl: string | null;
  readonly isPayload: boolean;
  /** Whether the webhook was probed at the attempt's begin; it may have been switched on since. */
  readonly isProbe: boolean;
  readonly storedDelivery: StoredDelivery;
  readonly lease: QueueLease;
};

/** Resolves with the delivery as written; undefined: it is gone, or `closing` aborted first. */
export async function recordOutcome(
  context: DeliveryContext, attempt: FinishedAttempt, worker: AttemptWorker,
): Promise<Delivery | undefined> {
  const { identifier } = attempt.storedDelivery.item;
  const isFailing = reportToHealth(context, attempt);
  const delivery = await retryUntilWritten(context, worker.closing,
    'the result of an attempt waits to be written', { delivery: identifier },
    () => writeOutcome(context, attempt, worker));
  logAttempt(context, attempt, delivery, isFailing);
  return delivery;
}

async function writeOutcome(
  context: DeliveryContext, attempt: FinishedAttempt, worker: AttemptWorker,
): Promise<Delivery | undefined> {
  const { outcome: { end }, storedDelivery: { item: { hook: webhookId } } } = attempt;
  const webhook = webhookId === null ? undefined : context.webhooks.find(webhookId);
  const nowMs = context.clock.now();
  const write = createWrite(context, attempt, webhook, nowMs);
  // If several attempts hear that the target is gone, the first one retires the webhook.
  if (end === 'gone' && webhookId !== null && !context.retiringIds.has(webhookId)) {
    return writeAndRetire(context, worker, webhookId, write);
  }
  // If the target was not asked, the webhook is not failing.
  if (webhook !== undefined && hasFailureLimit(webhook) && end !== 'notAsked') {
    return writeAndDisableOrEnable(context, write, webhook, end === 'delivered', nowMs);
  }
  return (await writeAttempt(context.store, deliverySpec, write))?.after;
}

function createWrite(
  context: DeliveryContext, attempt: FinishedAttempt, webhook: ReadyOutgoingWebhook | undefined,
  nowMs: number,
): DeliveryWrite {
  const { outcome, sent, targetUrl, isPayload, storedDelivery, lease } = attempt;
  const { hook: webhookId } = storedDelivery.item;
  const { retrySchedule: schedule = context.schedule, retryOn, rate } = webhook ?? {};
  // An attempt counts as a probe also if the webhook was switched off for failing meanwhile.
  const isProbe = attempt.isProbe || webhook?.isProbed === true;
  const random = context.random();
  const { systemEvents, makeId } = context;
  // The ids of the events are drawn here, because the transaction that stages them may run again.
  const [failedSeed, disabledSeed] = outcome.end === 'delivered' ? ['', ''] : [makeId(), makeId()];
  const inputs = (seed: string): TransactionInputs =>
    ({ nowMs, seed, hops: findHead(context, storedDelivery)?.hops ?? 0 });
  return {
    storedItem: storedDelivery, lease, targetUrl,
    change(before) {
      const after = isProbe ? afterProbe(before, outcome, { schedule, retryOn }, nowMs)
        : afterAttempt(before, outcome, { schedule, retryOn }, nowMs, random);
      return sent === null ? after : { ...after, sent, isPayload };
    },
    stageMore(transaction, changed) {
      const isFailed = hasFailed(changed);
      if (webhookId !== null) {
        // The monitor changes in memory, though the transaction may run again: the final failure
        // of one attempt may be reported several times.
        if (isFailed) {
          context.health.recordFinalFailure(webhookId, parseTimestamp(outcome.attempt.at),
            { isLoggedElsewhere: outcome.end === 'gone' });
        }
        // If the next attempt depends on the time of this one, the time must be on disk.
        context.health.stage(transaction, webhookId, rate !== undefined || isProbe);
      }
      if (isFailed) systemEvents.deliveryFailed(transaction, inputs(failedSeed), changed.after);
    },
    stageDisabled(transaction, reason) {
      if (webhook === undefined) return;
      const { identifier, targetUrl: url } = webhook;
      const { item: delivery } = storedDelivery;
      systemEvents.webhookDisabled(transaction, inputs(disabledSeed),
        { identifier, targetUrl: url, reason, delivery });
    },
  };
}

function findHead({ store }: DeliveryContext, { item }: StoredDelivery): EventHead | null {
  return findEventHead(findCommitted(store), item);
}

/** Returns whether the webhook fails. The target that was not asked has not failed. */
function reportToHealth(
  { health, webhooks, clock }: DeliveryContext, { outcome, storedDelivery }: FinishedAttempt,
): boolean {
  const { end, attempt: { at, statusCode, error, durationMs } } = outcome;
  const { hook: webhookId } = storedDelivery.item;
  if (webhookId === null || end === 'notAsked') return false;
  const atMs = parseTimestamp(at);
  health.recordAttempt(webhookId, end === 'delivered', durationMs);
  if (end === 'delivered') {
    health.recordSuccess(webhookId, atMs);
    return false;
  }
  const webhook = webhooks.find(webhookId);
  // From now, not from the begin of the attempt: another attempt may have succeeded since, or
  // somebody may have changed the webhook.
  const period = webhook?.updatedAt === undefined || !hasFailureLimit(webhook) ? undefined
    : { since: formatTimestamp(clock.now()), webhookVersion: webhook.updatedAt };
  const reason = error ?? `HTTP ${statusCode}`;
  // A webhook disabled by a 410 has a warning of its own.
  return health.recordFailure(
    webhookId, { atMs, reason }, { isLoggedElsewhere: end === 'gone', period });
}

function hasFailureLimit({ disableAfterHours = 0 }: ReadyOutgoingWebhook): boolean {
  return disableAfterHours > 0;
}

async function writeAndRetire(
  context: DeliveryContext, worker: AttemptWorker, webhookId: string, write: DeliveryWrite,
): Promise<Delivery | undefined> {
  const webhook = context.webhooks.find(webhookId);
  const { attemptedDelivery, wasDisabled } = await retireWebhook(context, worker, webhookId, write);
  if (wasDisabled && webhook !== undefined) {
    context.log.warning('an outgoing webhook was disabled: its target answered 410',
      { ...webhook.labels, reason: 'gone' });
  }
  return attemptedDelivery;
}

/** Writes a result for a webhook with `disableAfterHours`. A success switches a probed one on. */
async function writeAndDisableOrEnable(
  context: DeliveryContext, write: DeliveryWrite, webhook: ReadyOutgoingWebhook,
  isDelivered: boolean, nowMs: number,
): Promise<Delivery | undefined> {
  const { identifier, labels, disabledAt } = webhook;
  const { failurePeriod } = context.health.find(identifier);
  const mayEnable = isDelivered && webhook.probe === true;
  let failingSince: string | null = null;
  let isEnabled = false;
  const changedDelivery = await writeAttempt(context.store, deliverySpec, {
    ...write,
    stageMore(transaction, changed) {
      if (isDelivered) isEnabled = mayEnable && enableProbedWebhook(transaction, identifier, nowMs);
      else failingSince = disableFailingWebhook(transaction, webhook, failurePeriod, nowMs);
      write.stageMore?.(transaction, changed);
      if (failingSince !== null) write.stageDisabled(transaction, 'failing');
    },
  });
  if (changedDelivery === undefined) {
    // Nothing was written: the record is gone, or the lease has ended. An earlier run of the
    // transaction set these.
    failingSince = null;
    isEnabled = mayEnable && await context.store.transact((transaction) =>
      write.lease.isHeld(transaction) && enableProbedWebhook(transaction, identifier, nowMs));
  }
  if (failingSince !== null) {
    context.log.warning('an outgoing webhook was disabled: every attempt has failed for as long as '
      + 'its disableAfterHours', { ...labels, reason: 'failing', failingSince });
  }
  if (isEnabled) {
    context.log.info('an outgoing webhook is on again: it was off for failing, and a delivery has '
      + 'arrived', { ...labels, disabledAt });
  }
  return changedDelivery?.after;
}

/**
 * Follows the same rule as `logRun` of actions/run-action.ts. While a webhook fails, of which its
 * health has told, the attempts that are to be repeated are no warnings: there may be thousands.
 */
function logAttempt(
  context: DeliveryContext, { outcome, storedDelivery }: FinishedAttempt,
  written: Delivery | undefined, isFailing: boolean,
): void {
  const { log, webhooks, store } = context;
  const isQuiet = outcome.end === 'delivered' || outcome.isChainRefused === true
    || (isFailing && written?.status === 'pending');
  if (isQuiet && log.isWritten?.('debug') === false) return;
  const { item } = storedDelivery;
  const { identifier, hook, event } = item;
  const { statusCode, error, durationMs } = outcome.attempt;
  const labels = hook === null
    ? { hook, ...isQuiet ? {} : { target: findForwardTarget(findCommitted(store), item) } }
    : webhooks.find(hook)?.labels ?? { hook, hookName: null };
  log[isQuiet ? 'debug' : 'warning']('a delivery was attempted', {
    delivery: identifier, ...labels, event, statusCode, error, durationMs,
    status: written?.status ?? null, attempt: written?.attemptCount ?? null,
    nextAttemptAt: written?.nextAttemptAt ?? null,
    ...createTraceFields(findHead(context, storedDelivery)?.trace ?? null),
  });
}
