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
import { isWatched, stageAttempt } from '../outgoing/disabling.ts';
import type { ReadyOutgoing } from '../outgoing/webhook-index.ts';
import type { QueueLease } from '../durable-queue/ownership.ts';
import type { ResultBatch } from '../durable-queue/result-batch.ts';
import { retryUntilWritten, type WriteRetryDeps } from '../durable-queue/write-retry.ts';
import { findForwardTarget } from './request-builder.ts';
import { retireHook, type RetirementParts } from './retirement.ts';
import { telling, type Result, type TellingParts } from './telling.ts';

export type RecorderParts = WriteRetryDeps & RetirementParts & TellingParts & {
  readonly results: ResultBatch<Delivery, DeliveryStatus>;
  /** Seconds between attempts, for what has no schedule of its own. */
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: () => number;
  readonly health: HealthMonitor;
};

/** An attempt that was made, and the delivery as it was before. */
export type Attempted = {
  readonly outcome: AttemptOutcome;
  /** What is to be kept of the request's head. */
  readonly sent: SentHead | null;
  readonly known: StoredDelivery;
  readonly hold: QueueLease;
};

/** The delivery as written; undefined when it is gone, or we are closed first. */
export async function recordOutcome(
  parts: RecorderParts, attempted: Attempted,
): Promise<Delivery | undefined> {
  const { identifier } = attempted.known.item;
  countTry(parts.health, attempted);
  const recorded = await retryUntilWritten(parts, 'the result of an attempt waits to be written',
    { delivery: identifier }, () => record(parts, attempted));
  logAttempt(parts, attempted, recorded);
  return recorded;
}

function record(
  parts: RecorderParts, { outcome, sent, known, hold }: Attempted,
): Promise<Delivery | undefined> {
  const { hook } = known.item;
  const ready = hook === null ? undefined : parts.hooks.find(hook);
  const { retrySchedule = parts.schedule } = ready ?? {};
  const nowMs = parts.clock.now();
  const random = parts.random();
  let hasFailed = false;
  const change = (before: Delivery): Delivery => {
    const after = before.status === 'pending'
      ? afterAttempt(before, outcome, retrySchedule, nowMs, random)
      : afterLateAttempt(before, outcome, nowMs);
    hasFailed = before.status === 'pending' && after.status === 'failed';
    return sent === null ? after : { ...after, sent };
  };
  // Where several attempts are told that the target is gone, the first one retires the hook.
  const isRetiring = outcome.kind === 'gone' && hook !== null && !parts.scheduler.isSuspended(hook);
  const told = outcome.kind === 'delivered' ? null : telling(parts, known, nowMs);
  const stageMore: Result['stageMore'] = (transaction, after) => {
    if (hook !== null) stageHealth(parts.health, transaction, hook, { outcome, hasFailed });
    if (hasFailed) told?.deliveryFailed(transaction, after);
  };
  if (isRetiring) {
    return writeRetired(parts, hook, { known, hold, change, stageMore, told });
  }
  // Where the proxy failed the target was not asked.
  if (ready === undefined || !isWatched(ready) || outcome.kind === 'proxy') {
    return parts.results.write(known, hold, change, stageMore);
  }
  return writeWatched(parts, { known, hold }, { change, stageMore, told, hook: ready, nowMs });
}

/** Where the proxy failed the target was not asked: that is no try. */
function countTry(health: HealthMonitor, { outcome, known }: Attempted): void {
  const { kind, attempt: { at, statusCode, error } } = outcome;
  const { hook } = known.item;
  if (hook === null || kind === 'proxy') return;
  const atMs = parseTimestamp(at);
  if (kind === 'delivered') return health.recordSuccess(hook, atMs);
  health.recordFailure(
    hook, { atMs, reason: error ?? `HTTP ${statusCode}` }, isDisabling(kind));
}

function stageHealth(
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
async function writeRetired(
  parts: RecorderParts, hook: string, retiring: Parameters<typeof retireHook>[2],
): Promise<Delivery | undefined> {
  const ready = parts.hooks.find(hook);
  const { own, isDisabled } = await retireHook(parts, hook, retiring);
  if (isDisabled && ready !== undefined) {
    parts.log.warning('an outgoing webhook was disabled: its target answered 410',
      { ...ready.labels, reason: 'gone' });
  }
  return own;
}

/** The same, for a webhook that is disabled when its attempts fail for too long. */
async function writeWatched(
  { results, log }: RecorderParts, { known, hold }: Pick<Attempted, 'known' | 'hold'>,
  { change, stageMore, told, hook, nowMs }: Result & { hook: ReadyOutgoing; nowMs: number },
): Promise<Delivery | undefined> {
  const staged: { disabledSince: string | null } = { disabledSince: null };
  const changed = await results.write(known, hold, change, (transaction, after) => {
    staged.disabledSince = stageAttempt(transaction, hook, told === null, nowMs);
    stageMore(transaction, after);
    if (staged.disabledSince !== null) told?.webhookDisabled(transaction, 'failing');
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
  { log, hooks, store }: RecorderParts, { outcome, known }: Attempted,
  recorded: Delivery | undefined,
): void {
  const { identifier, hook, event } = known.item;
  const { statusCode, error, durationMs } = outcome.attempt;
  const isDelivered = outcome.kind === 'delivered';
  const isQuiet = isDelivered || outcome.isChainRefused === true;
  const labels = hook === null
    ? { hook, ...isQuiet ? {} : { target: findForwardTarget(store, known) } }
    : hooks.find(hook)?.labels ?? { hook, hookName: null };
  log[isQuiet ? 'debug' : 'warning']('a delivery was attempted', {
    delivery: identifier, ...labels, event, statusCode, error, durationMs,
    status: recorded?.status ?? null, attempt: recorded?.attempts.length ?? null,
    nextAttemptAt: recorded?.nextAttemptAt ?? null,
  });
}
