/** A delivery, and how attempts change it. Pure: time and randomness are parameters. */
import { formatTimestamp } from '../../base/clock.ts';
import type { RunAttempt } from './route-delivery.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import type { StoredItem } from '../durable-queue/queue-spec.ts';
import {
  addJitter, computeNextAttemptTime, computeDueMs, nextVersionTime,
} from '../durable-queue/retry-time.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled';

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending', 'delivered', 'failed', 'cancelled',
];

/** The status that a delivery is listed with. Only one to a route may be coalesced. */
export type ListedStatus = DeliveryStatus | 'coalesced';

export const LISTED_STATUSES: readonly ListedStatus[] = [...DELIVERY_STATUSES, 'coalesced'];

type DeliveryAttempt = {
  readonly at: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /**
   * The error code, if there was no response, or why there was no access token; never a target or a
   * credential.
   */
  readonly error: string | null;
  /** The first KiB of the response's body, as text. */
  readonly response: string | null;
};

/** The head of a request that was sent, with its secrets masked. */
export type SentHead = {
  readonly method: string;
  /** Without credentials. */
  readonly url: string;
  /** Names and values in turn; values that may be secret are `***`. */
  readonly headers: readonly string[];
};

export type Delivery = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: DeliveryStatus;
  /** The identifier of the outgoing webhook; null for a queued forward. */
  readonly hook: string | null;
  readonly event: string | null;
  readonly eventId: string;
  /** The time of its place in the queue; null: that of its creation. */
  readonly queuedAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly failures: number;
  /** How often in a row the target was not asked, as the proxy failed or our client was busy. */
  readonly proxyFailures: number;
  /** The delivery that an operator sent again as this one. */
  readonly resendOf: string | null;
  /** Whether the payload itself was sent last, so that every retry sends it. */
  readonly isPayload: boolean;
  /** The head of the last request; null before the first, and for a queued forward. */
  readonly sent: SentHead | null;
  readonly attempts: readonly DeliveryAttempt[];
};

/** What a delivery goes to: an outgoing webhook, the URL of a queued forward, or a route. */
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

export const DELIVERY_KINDS = ['webhook', 'forward', 'route'] as const;

export type PublicDelivery = Pick<Delivery,
  'identifier' | 'hook' | 'event' | 'createdAt' | 'nextAttemptAt' | 'resendOf'
  > & DeliveryWebhook & {
  readonly kind: DeliveryKind;
  readonly status: ListedStatus;
  /** The event that it delivers; null for a forward or a route. */
  readonly eventId: string | null;
  /** The request that it delivers to a route, and the name of the route; null for another. */
  readonly request: string | null;
  readonly route: string | null;
  /** Those of a route have the members of `RunAttempt`. */
  readonly attempts: readonly (Pick<DeliveryAttempt, 'at' | 'durationMs'>
    & Partial<DeliveryAttempt & RunAttempt>)[];
  /** `webhook`: the webhook is off, and nothing is attempted until it is on again. */
  readonly waitsFor: 'webhook' | null;
};

/** The members of a delivery's webhook that callers see beside its identifier. */
type DeliveryWebhook = {
  /** null if the webhook has no name, or there is no webhook. */
  readonly hookName: string | null;
  /**
   * Host and path that a pending delivery goes to, or a finished one went to. null if it went
   * nowhere and its webhook is gone.
   */
  readonly target: string | null;
};

export type StoredDelivery = StoredItem<Delivery>;

/**
 * The outcome of one attempt. `gone`: the target answered 410, so that it wants no more.
 * `proxy`: the target was not asked, as the proxy failed or our client was busy. The metrics bear
 * the kind as a label.
 */
export type AttemptOutcome = {
  readonly kind: 'delivered' | 'failed' | 'gone' | 'proxy';
  readonly attempt: DeliveryAttempt;
  /** The wait that the response's Retry-After asks for; 0 without one. */
  readonly retryAfterMs: number;
  /** What the dialect of another sender made of the head; absent or null: nothing. */
  readonly shown?: Pick<SentHead, 'url' | 'headers'> | null;
  /** True if nothing was sent: the action or the template failed, or there was no token. */
  readonly isUnsent?: boolean;
  /** True if no connection was to be had: refused, without a name, or without TLS. */
  readonly isUnreachable?: boolean;
  /** True if a later hop refused the chain. That was logged where the chain ended. */
  readonly isChainRefused?: boolean;
};

export const deliveryCollection: CollectionSpec = { name: 'deliveries', key: 'identifier' };

export const RESPONSE_BYTES_MAX = 1024;

/** Most attempts kept of one delivery. */
const ATTEMPTS_MAX = 50;
const PROXY_DELAY_MS_BASE = 5000;
const PROXY_DELAY_MS_MAX = 300_000;

export function createDelivery(
  input: Pick<Delivery, 'identifier' | 'hook' | 'event' | 'eventId'>
    & { readonly [Name in 'queuedAt' | 'nextAttemptAt' | 'resendOf']?: Delivery[Name] | undefined },
  at: string,
): Delivery {
  const { identifier, hook, event, eventId, queuedAt = null, resendOf = null } = input;
  return {
    identifier, createdAt: at, updatedAt: at, status: 'pending', hook, event, eventId,
    queuedAt, nextAttemptAt: input.nextAttemptAt ?? at, failures: 0, proxyFailures: 0, resendOf,
    isPayload: false, sent: null, attempts: [],
  };
}

/** Returns the delivery after an attempt: delivered, failed, or pending with its next time. */
export function afterAttempt(
  delivery: Delivery, outcome: AttemptOutcome, schedule: readonly number[], nowMs: number,
  random: number,
): Delivery {
  const { attempt, kind, isChainRefused = false } = outcome;
  if (kind === 'proxy') return afterProxyFailure(delivery, nowMs, random);
  const attempts = addAttempt(delivery.attempts, attempt);
  if (kind === 'delivered') return finish({ ...delivery, attempts }, 'delivered', nowMs);
  const failures = delivery.failures + 1;
  const afterFailure = { ...delivery, failures, attempts, proxyFailures: 0 };
  // A chain that is too long once is too long in every retry.
  const nextAttemptAt = kind === 'failed' && !isChainRefused
    ? computeNextAttemptTime(schedule, failures, outcome.retryAfterMs, nowMs, random) : null;
  if (nextAttemptAt === null) return finish(afterFailure, 'failed', nowMs);
  return { ...withUpdatedAt(afterFailure, nowMs), nextAttemptAt };
}

/**
 * Returns the delivery after a probe, which uses up nothing of its schedule: delivered, failed
 * where it is not to be tried again, or pending as before.
 */
export function afterProbe(
  delivery: Delivery, outcome: AttemptOutcome, isTriedAgain: boolean, nowMs: number,
): Delivery {
  const { kind, isChainRefused = false } = outcome;
  const staysPending = kind === 'proxy' || (kind === 'failed' && isTriedAgain && !isChainRefused);
  return staysPending ? afterLateAttempt(delivery, outcome, nowMs)
    : afterAttempt(delivery, outcome, [], nowMs, 0);
}

/**
 * Returns the delivery after an attempt during which it was cancelled, or failed with its webhook.
 * If the attempt has succeeded, the delivery is delivered all the same; if not, its status stays.
 */
export function afterLateAttempt(
  delivery: Delivery, { attempt, kind }: AttemptOutcome, nowMs: number,
): Delivery {
  // This uses up no attempt, so it is not recorded as one.
  if (kind === 'proxy') return withUpdatedAt(delivery, nowMs);
  const after = { ...delivery, attempts: addAttempt(delivery.attempts, attempt) };
  return kind === 'delivered' ? finish(after, 'delivered', nowMs) : withUpdatedAt(after, nowMs);
}

/** Appends an attempt. Above the limit the oldest one is dropped. */
function addAttempt(
  attempts: readonly DeliveryAttempt[], attempt: DeliveryAttempt,
): readonly DeliveryAttempt[] {
  return [...attempts, attempt].slice(-ATTEMPTS_MAX);
}

function afterProxyFailure(delivery: Delivery, nowMs: number, random: number): Delivery {
  const before = delivery.proxyFailures;
  const backoffMs = Math.min(PROXY_DELAY_MS_BASE * 2 ** before, PROXY_DELAY_MS_MAX);
  return {
    ...withUpdatedAt(delivery, nowMs), proxyFailures: before + 1,
    nextAttemptAt: formatTimestamp(nowMs + addJitter(backoffMs, random)),
  };
}

function finish(
  delivery: Delivery, status: Exclude<DeliveryStatus, 'pending'>, nowMs: number,
): Delivery {
  return { ...withUpdatedAt(delivery, nowMs), status, nextAttemptAt: null };
}

/** Returns null if the delivery is not pending any more. */
export function cancelIfPending(before: Delivery, nowMs: number): Delivery | null {
  return before.status === 'pending' ? finish(before, 'cancelled', nowMs) : null;
}

/** Returns null if the delivery is not pending any more. */
export function failIfPending(before: Delivery, nowMs: number): Delivery | null {
  return before.status === 'pending' ? finish(before, 'failed', nowMs) : null;
}

/** Sets `updatedAt`, which rises even if the clock was set back. */
function withUpdatedAt(delivery: Delivery, nowMs: number): Delivery {
  return { ...delivery, updatedAt: nextVersionTime(delivery.updatedAt, nowMs) };
}

/**
 * Makes the delivery due now, with the whole schedule ahead. One that waits keeps its place in the
 * queue; any other goes to the end.
 */
export function resetForRetry(delivery: Delivery, nowMs: number): Delivery {
  const now = formatTimestamp(nowMs);
  return {
    ...withUpdatedAt(delivery, nowMs), status: 'pending', failures: 0, proxyFailures: 0,
    nextAttemptAt: now, queuedAt: delivery.status === 'pending' ? delivery.queuedAt : now,
  };
}

/** Computes when a pending delivery is due, by a clock that shows `nowMs`: see `computeDueMs`. */
export function computeDeliveryDueMs(
  { nextAttemptAt, updatedAt }: Delivery, nowMs: number,
): number {
  return computeDueMs(nextAttemptAt, updatedAt, nowMs);
}

/** Whether it counts towards the queue: it is pending, or has failed and may be retried. */
export function countsAsQueued(status: DeliveryStatus): boolean {
  return status === 'pending' || status === 'failed';
}

/** Returns the delivery as callers see it. It waits for its webhook while that is off. */
export function toPublicDelivery(
  delivery: Delivery, { hookName, target }: DeliveryWebhook, isWebhookOff: boolean,
): PublicDelivery {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, resendOf } = delivery;
  const { attempts } = delivery;
  const eventId = event === null ? null : delivery.eventId;
  const waitsFor = status === 'pending' && isWebhookOff ? 'webhook' : null;
  return {
    identifier, kind: hook === null ? 'forward' : 'webhook', hook, hookName, target, event,
    eventId, request: null, route: null, status, createdAt, nextAttemptAt, waitsFor, resendOf,
    attempts,
  };
}
