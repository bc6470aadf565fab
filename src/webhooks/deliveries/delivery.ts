/** One delivery, and what an attempt makes of it. Pure: time and randomness are parameters. */
import { formatTimestamp } from '../../base/clock.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import type { StoredItem } from '../durable-queue/queue-spec.ts';
import {
  addJitter, computeNextAttemptTime, computeDueMs, nextVersionTime,
} from '../durable-queue/retry-time.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled';

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending', 'delivered', 'failed', 'cancelled',
];

type DeliveryAttempt = {
  readonly at: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** The kind of what went wrong without an answer; never a target or a credential. */
  readonly error: string | null;
  /** The answer's first 1 KiB as text. */
  readonly response: string | null;
};

/** Method, URL and headers of a request, as people may see them. */
export type SentHead = {
  readonly method: string;
  /** Without credentials. */
  readonly url: string;
  /** Names and values in turn; those that may be secret are `***`. */
  readonly headers: readonly string[];
};

export type Delivery = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: DeliveryStatus;
  /** The outgoing webhook; null for a queued forward. */
  readonly hook: string | null;
  readonly event: string | null;
  readonly eventId: string;
  /** The members of a message that no other delivery has; null when it is shared. */
  readonly embeddedEvent: string | Buffer | null;
  readonly nextAttemptAt: string | null;
  readonly failures: number;
  readonly proxyFailures: number;
  /** The delivery that somebody sent again as this one. */
  readonly resendOf: string | null;
  /** The payload itself was sent before, so every retry sends it. */
  readonly isPayload: boolean;
  /** Of what was sent last; null before, and of a queued forward, whose message has it. */
  readonly sent: SentHead | null;
  readonly body: string | null;
  readonly attempts: readonly DeliveryAttempt[];
};

export type PublicDelivery = Pick<Delivery,
  'identifier' | 'hook' | 'event' | 'status' | 'createdAt' | 'nextAttemptAt' | 'resendOf'
  | 'attempts'> & DeliveryWebhook & {
  /** `webhook`: it is off, and nothing is attempted before it is on again, whatever is due. */
  readonly waitsFor: 'webhook' | null;
};

/** What callers see of a delivery's webhook beside its identifier. */
type DeliveryWebhook = {
  /** null: the webhook has no name, or there is no webhook. */
  readonly hookName: string | null;
  /**
   * Host and path: where a pending delivery goes, and a finished one went. null: it went nowhere,
   * and its webhook is gone.
   */
  readonly target: string | null;
};

export type StoredDelivery = StoredItem<Delivery>;

/** What came of one attempt. `proxy`: the proxy failed, so the target was never asked. */
export type AttemptOutcome = {
  readonly kind: 'delivered' | 'failed' | 'gone' | 'proxy';
  readonly attempt: DeliveryAttempt;
  /** What the answer's Retry-After asks for; 0 without one. */
  readonly retryAfterMs: number;
  /** Nothing went out: the action or the template failed. */
  readonly isUnsent?: boolean;
  /** It failed because its chain was refused further on: that was logged where it ended. */
  readonly isChainRefused?: boolean;
};

export const deliveryCollection: CollectionSpec = { name: 'deliveries', key: 'identifier' };

export const RESPONSE_BYTES_MAX = 1024;

/** Attempts shown of one delivery, the newest. */
const ATTEMPTS_MAX = 50;
const PROXY_DELAY_MS_BASE = 5000;
const PROXY_DELAY_MS_MAX = 300_000;

export function createDelivery(
  input: Pick<Delivery, 'identifier' | 'hook' | 'event' | 'eventId' | 'embeddedEvent'>
    & { readonly resendOf?: string }, at: string,
): Delivery {
  const { identifier, hook, event, eventId, embeddedEvent, resendOf = null } = input;
  return {
    identifier, createdAt: at, updatedAt: at, status: 'pending', hook, event, eventId,
    embeddedEvent, nextAttemptAt: at, failures: 0, proxyFailures: 0, resendOf, isPayload: false,
    sent: null, body: null, attempts: [],
  };
}

/** The delivery after an attempt: delivered, failed for good, or pending with its next time. */
export function afterAttempt(
  delivery: Delivery, outcome: AttemptOutcome, schedule: readonly number[], nowMs: number,
  random: number,
): Delivery {
  const { attempt, kind, isChainRefused = false } = outcome;
  if (kind === 'proxy') return afterProxyFailure(delivery, nowMs, random);
  const attempts = [...delivery.attempts, attempt].slice(-ATTEMPTS_MAX);
  if (kind === 'delivered') return finish({ ...delivery, attempts }, 'delivered', nowMs);
  const failures = delivery.failures + 1;
  const attempted = { ...delivery, failures, attempts };
  // A chain that was too long once is too long whenever it is sent.
  const nextAttemptAt = kind === 'failed' && !isChainRefused
    ? computeNextAttemptTime(schedule, failures, outcome.retryAfterMs, nowMs, random) : null;
  if (nextAttemptAt === null) return finish(attempted, 'failed', nowMs);
  return { ...withUpdatedAt(attempted, nowMs), nextAttemptAt };
}

function afterProxyFailure(delivery: Delivery, nowMs: number, random: number): Delivery {
  const before = delivery.proxyFailures;
  const backoffMs = Math.min(PROXY_DELAY_MS_BASE * 2 ** before, PROXY_DELAY_MS_MAX);
  return {
    ...withUpdatedAt(delivery, nowMs), proxyFailures: before + 1,
    nextAttemptAt: formatTimestamp(nowMs + addJitter(backoffMs, random)),
  };
}

export function finish(
  delivery: Delivery, status: Exclude<DeliveryStatus, 'pending'>, nowMs: number,
): Delivery {
  return { ...withUpdatedAt(delivery, nowMs), status, nextAttemptAt: null };
}

/** null: it is not pending any more. */
export function cancelIfPending(before: Delivery, nowMs: number): Delivery | null {
  return before.status === 'pending' ? finish(before, 'cancelled', nowMs) : null;
}

/** null: it is not pending any more. */
export function failIfPending(before: Delivery, nowMs: number): Delivery | null {
  return before.status === 'pending' ? finish(before, 'failed', nowMs) : null;
}

/** `updatedAt` rises, whatever the clock does. */
export function withUpdatedAt(delivery: Delivery, nowMs: number): Delivery {
  return { ...delivery, updatedAt: nextVersionTime(delivery.updatedAt, nowMs) };
}

/** Due now, with the whole schedule before it. */
export function resetForRetry(delivery: Delivery, nowMs: number): Delivery {
  return {
    ...withUpdatedAt(delivery, nowMs), status: 'pending', failures: 0,
    nextAttemptAt: formatTimestamp(nowMs),
    proxyFailures: 0,
  };
}

/** When a pending delivery is due, by a clock that stands at `nowMs`: see `storedDueMs`. */
export function computeDeliveryDueMs(
  { nextAttemptAt, attempts, createdAt }: Delivery, nowMs: number,
): number {
  return computeDueMs(nextAttemptAt, attempts.at(-1)?.at ?? createdAt, nowMs);
}

/** What waits, or has failed and may be tried again: it has its place in the queue. */
export function isQueued(status: DeliveryStatus): boolean {
  return status === 'pending' || status === 'failed';
}

/** What callers see. Until its webhook is enabled again a pending delivery waits for that. */
export function toPublicDelivery(
  delivery: Delivery, { hookName, target }: DeliveryWebhook, isWebhookOff: boolean,
): PublicDelivery {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, resendOf } = delivery;
  const { attempts } = delivery;
  const waitsFor = status === 'pending' && isWebhookOff ? 'webhook' : null;
  return {
    identifier, hook, hookName, target, event, status, createdAt, nextAttemptAt, waitsFor,
    resendOf, attempts,
  };
}
