/**
 * Writes what came of an attempt: the result and the time of the next one are one record, so a
 * crash loses neither. While the store takes no writes the result is kept and written later: what
 * has arrived must not be sent again.
 */
import { parseTimestamp } from '../../base/clock.ts';
import type { Transaction } from '../../store/store-port.ts';
import {
  afterAttempt, finish, withUpdatedAt, type Delivery, type DeliveryStatus, type StoredDelivery,
  type AttemptOutcome, type SentHead,
} from '../deliveries/delivery.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { disablesWhenFailing, stageAttemptResult } from '../outgoing/automatic-disabling.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import type { QueueLease } from '../durable-queue/ownership.ts';
import type { ResultBatch } from '../durable-queue/result-batch.ts';
import { retryUntilWritten, type WriteRetryDeps } from '../durable-queue/write-retry.ts';
import { findForwardTarget } from './request-builder.ts';
import { retireHook, type RetirementDeps } from './webhook-retirement.ts';
import { createAttemptEvents, type DeliveryWrite, type SystemEventDeps } from './telling.ts';

export type RecorderDeps = WriteRetryDeps & RetirementDeps & SystemEventDeps & {
  readonly results: ResultBatch<Delivery, DeliveryStatus>;
  /** Seconds between attempts, for what has no schedule of its own. */
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: () => number;
  readonly health: HealthMonitor;
};

/** An attempt that was made, and the delivery as it was before. */
export type FinishedAttempt = {
  readonly outcome: AttemptOutcome;
  /** What is to be kept of the request's head. */
  readonly sent: SentHead | null;
  readonly stored: StoredDelivery;
  readonly lease: QueueLease;
};

/** The delivery as written; undefined when it is gone, or we are closed first. */
export async function recordOutcome(
  deps: RecorderDeps, attempt: FinishedAttempt,
): Promise<Delivery | undefined> {
  const { identifier } = attempt.stored.item;
  reportToHealth(deps.health, attempt);
  const written = await retryUntilWritten(deps, 'the result of an attempt waits to be written',
    { delivery: identifier }, () => writeResult(deps, attempt));
  logAttempt(deps, attempt, written);
  return written;
}

function writeResult(
  deps: RecorderDeps, { outcome, sent, stored, lease }: FinishedAttempt,
): Promise<Delivery | undefined> {
  const { hook } = stored.item;
  const ready = hook === null ? undefined : deps.hooks.find(hook);
  const { retrySchedule = deps.schedule } = ready ?? {};
  const nowMs = deps.clock.now();
  const random = deps.random();
  let hasFailed = false;
  const change = (before: Delivery): Delivery => {
    const after = before.status === 'pending'
      ? afterAttempt(before, outcome, retrySchedule, nowMs, random)
      : afterLateAttempt(before, outcome, nowMs);
    hasFailed = before.status === 'pending' && after.status === 'failed';
    return sent === null ? after : { ...after, sent };
  };
  // Where several attempts are told that the target is gone, the first one retires the hook.
  const isRetiring = outcome.kind === 'gone' && hook !== null && !deps.scheduler.isSuspended(hook);
  const systemEvents = outcome.kind === 'delivered' ? null
    : createAttemptEvents(deps, stored, nowMs);
  const stageMore: DeliveryWrite['stageMore'] = (transaction, after) => {
    if (hook !== null) stageHealthRecord(deps.health, transaction, hook, { outcome, hasFailed });
    if (hasFailed) systemEvents?.deliveryFailed(transaction, after);
  };
  if (isRetiring) {
    return writeAndRetire(deps, hook, { stored, lease, change, stageMore, systemEvents });
  }
  // Where the proxy failed the target was not asked.
  if (ready === undefined || !disablesWhenFailing(ready) || outcome.kind === 'proxy') {
    return deps.results.write(stored, lease, change, stageMore);
  }
  const write = { change, stageMore, systemEvents, hook: ready, nowMs };
  return writeAndWatch(deps, { stored, lease }, write);
}

/** Where the proxy failed the target was not asked: that is no try. */
function reportToHealth(health: HealthMonitor, { outcome, stored }: FinishedAttempt): void {
  const { kind, attempt: { at, statusCode, error } } = outcome;
  const { hook } = stored.item;
  if (hook === null || kind === 'proxy') return;
  const atMs = parseTimestamp(at);
  if (kind === 'delivered') return health.recordSuccess(hook, atMs);
  health.recordFailure(
    hook, { atMs, reason: error ?? `HTTP ${statusCode}` }, isDisabling(kind));
}

function stageHealthRecord(
  health: HealthMonitor, transaction: Transaction, hook: string,
  { outcome: { kind, attempt }, hasFailed }:
  { readonly outcome: AttemptOutcome; readonly hasFailed: boolean },
): void {
  if (hasFailed) health.recordFinalFailure(hook, parseTimestamp(attempt.at), isDisabling(kind));
  health.stage(transaction, hook);
}

/** Whether the webhook is disabled because of it, which has a warning of its own. */
function isDisabling(kind: AttemptOutcome['kind']): boolean {
  return kind === 'gone';
}

/** The same, for a webhook whose target is gone: it is disabled. */
async function writeAndRetire(
  deps: RecorderDeps, hook: string, retiring: Parameters<typeof retireHook>[2],
): Promise<Delivery | undefined> {
  const ready = deps.hooks.find(hook);
  const { own, isDisabled } = await retireHook(deps, hook, retiring);
  if (isDisabled && ready !== undefined) {
    deps.log.warning('an outgoing webhook was disabled: its target answered 410',
      { ...ready.labels, reason: 'gone' });
  }
  return own;
}

/** The same, for a webhook that is disabled when its attempts fail for too long. */
async function writeAndWatch(
  { results, log }: RecorderDeps, { stored, lease }: Pick<FinishedAttempt, 'stored' | 'lease'>,
  { change, stageMore, systemEvents, hook, nowMs }:
  DeliveryWrite & { readonly hook: ReadyOutgoingWebhook; readonly nowMs: number },
): Promise<Delivery | undefined> {
  const staged: { disabledSince: string | null } = { disabledSince: null };
  const changed = await results.write(stored, lease, change, (transaction, after) => {
    staged.disabledSince = stageAttemptResult(transaction, hook, systemEvents === null, nowMs);
    stageMore(transaction, after);
    if (staged.disabledSince !== null) systemEvents?.webhookDisabled(transaction, 'failing');
  });
  if (staged.disabledSince !== null) {
    log.warning('an outgoing webhook was disabled: every attempt has failed for as long as its '
      + 'disableAfterHours',
    { ...hook.labels, reason: 'failing', failingSince: staged.disabledSince });
  }
  return changed;
}

/** The delivery was cancelled, or failed with its hook, while the attempt was under way. */
function afterLateAttempt(before: Delivery, outcome: AttemptOutcome, nowMs: number): Delivery {
  const counted = { ...before, attempts: [...before.attempts, outcome.attempt] };
  return outcome.kind === 'delivered'
    ? finish(counted, 'delivered', nowMs) : withUpdatedAt(counted, nowMs);
}

/** The same rule as for runs: see `actions/run-log.ts`. */
function logAttempt(
  { log, hooks, store }: RecorderDeps, { outcome, stored }: FinishedAttempt,
  written: Delivery | undefined,
): void {
  const { identifier, hook, event } = stored.item;
  const { statusCode, error, durationMs } = outcome.attempt;
  const isDelivered = outcome.kind === 'delivered';
  const isQuiet = isDelivered || outcome.isChainRefused === true;
  const labels = hook === null
    ? { hook, ...isQuiet ? {} : { target: findForwardTarget(store, stored) } }
    : hooks.find(hook)?.labels ?? { hook, hookName: null };
  log[isQuiet ? 'debug' : 'warning']('a delivery was attempted', {
    delivery: identifier, ...labels, event, statusCode, error, durationMs,
    status: written?.status ?? null, attempt: written?.attempts.length ?? null,
    nextAttemptAt: written?.nextAttemptAt ?? null,
  });
}
