/**
 * A delivery, and how attempts change it. It is of an event to an outgoing webhook, of a queued
 * forward to its URL, or of a request to one route of its webhook, whose action is run. Pure: time
 * and randomness are parameters. `updatedAt` is the time of the new version; a request shares it
 * with those of its deliveries that change with it.
 *
 *     status   end of an attempt     status after it
 *     any      delivered, coalesced  the same as that end
 *     any      notAsked              as before, pending until a later time; the attempt is not kept
 *     pending  failed                pending until its next time; failed if there is none
 *     pending  gone                  failed
 *     other    failed, gone          as before
 *
 * A probe, and an attempt off the schedule, use up nothing of that: a pending delivery keeps its
 * time. If they fail, it stays pending; after a probe only if it may be tried again.
 */
import { assert } from '../../base/assert.ts';
import { formatTimestamp, parseTimestamp } from '../../base/clock.ts';
import { deriveIds } from '../../base/uuid.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { isRetriedStatus, type RetryOn } from '../outgoing/retry-on.ts';
import type { StoredItem } from '../work/item-spec.ts';
import {
  addJitter, computeNextAttemptTime, computeDueMs, nextVersionTime,
} from '../work/retry-time.ts';
import { createPlace } from '../work/task.ts';
import { createRouteDeliveryId } from './route-delivery-id.ts';

export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

export const DELIVERY_KINDS = ['webhook', 'forward', 'route'] as const;

export const OUTGOING_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

export type OutgoingStatus = (typeof OUTGOING_STATUSES)[number];

/** `coalesced`, only of a delivery to a route: the run of a newer request counted for both. */
export type DeliveryStatus = OutgoingStatus | 'coalesced';

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [...OUTGOING_STATUSES, 'coalesced'];

/** A failed delivery counts towards the queue, as it may be retried by hand. */
export const QUEUED_STATUSES: readonly DeliveryStatus[] = ['pending', 'failed'];

type AttemptTime = { readonly at: string; readonly durationMs: number };

type SendAttempt = AttemptTime & {
  readonly statusCode: number | null;
  /** The error code, or why there was no access token; never a target or a credential. */
  readonly error: string | null;
  /** The first KiB of the response's body, as text. */
  readonly response: string | null;
};

export type RunAttempt = AttemptTime & {
  readonly success: boolean;
  readonly message: string | null;
  /** The result's data, with the end of a command's output; null above `ATTEMPT_DATA_BYTES_MAX`. */
  readonly data: object | null;
  /**
   * The data that the caller got, where the record has more; empty above `ATTEMPT_DATA_BYTES_MAX`.
   * Of a success alone.
   */
  readonly callerData?: object;
};

/** With `success` a run, else a sending. */
export type Attempt = AttemptTime & Partial<SendAttempt & RunAttempt>;

export type SentHead = {
  readonly method: string;
  /** Without credentials. */
  readonly url: string;
  /** Names and values in turn; a value that may be secret is `***`. */
  readonly headers: readonly string[];
};

export type Delivery = {
  readonly identifier: string;
  readonly kind: DeliveryKind;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: DeliveryStatus;
  /** The outgoing webhook, or the incoming one of the route; null for a forward. */
  readonly hook: string | null;
  readonly event: string | null;
  /** The record of `events` that is sent; null for a route. */
  readonly eventId: string | null;
  /** The request, and the name of the route; null for another kind. */
  readonly request: string | null;
  readonly route: string | null;
  /** The time of its place in the queue; null: `createdAt`. */
  readonly queuedAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly failures: number;
  /** How often in a row the target was not asked: see `AttemptOutcome.end`. */
  readonly notAskedCount: number;
  /** The delivery that an operator resent as this one. */
  readonly resendOf: string | null;
  /** Whether the payload itself was sent last: then every retry sends it. */
  readonly isPayload: boolean;
  /** The head of the last request; null before it, and for a queued forward. */
  readonly sent: SentHead | null;
  readonly attempts: readonly Attempt[];
  readonly attemptCount: number;
};

export type StoredDelivery = StoredItem<Delivery>;

type AttemptOutcome = {
  /**
   * `gone`: the target answered 410 and wants no more. `notAsked`: the target was not reached, as
   * the proxy failed or our client was busy. `coalesced`: a route succeeded without a run.
   */
  readonly end: 'delivered' | 'coalesced' | 'failed' | 'gone' | 'notAsked';
  readonly attempt: Attempt;
  readonly retryAfterMs?: number;
  /** A later hop refused the chain, and logged that. */
  readonly isChainRefused?: boolean;
};

export type RunOutcome = AttemptOutcome & {
  readonly end: 'delivered' | 'coalesced' | 'failed';
  readonly attempt: RunAttempt;
};

export type SendOutcome = AttemptOutcome & {
  readonly end: 'delivered' | 'failed' | 'gone' | 'notAsked';
  readonly attempt: SendAttempt;
  /** The parts of the head that the dialect of another sender made. */
  readonly shown?: Pick<SentHead, 'url' | 'headers'> | null;
  /** Nothing was sent: the action or the template failed, or there was no token. */
  readonly isUnsent?: boolean;
  /** There was no connection: refused, without a name, or without TLS. */
  readonly isUnreachable?: boolean;
};

export const deliveryCollection: CollectionSpec = { name: 'deliveries', key: 'identifier' };

export const ATTEMPT_DATA_BYTES_MAX = 1024;

const ATTEMPTS_MAX = 50;
const NOT_ASKED_DELAY_MS_BASE = 5000;
const NOT_ASKED_DELAY_MS_MAX = 300_000;

export function createDelivery(
  input: Pick<Delivery, 'identifier' | 'hook'> & {
    readonly [Name in 'event' | 'eventId' | 'request' | 'route' | 'queuedAt' | 'nextAttemptAt'
    | 'resendOf']?: Delivery[Name] | undefined },
  at: string,
): Delivery {
  const { identifier, hook, event = null, eventId = null, request = null, route = null } = input;
  const { queuedAt = null, resendOf = null } = input;
  return {
    identifier, kind: deriveKind(hook, route), createdAt: at, updatedAt: at, status: 'pending',
    hook, event, eventId, request, route, queuedAt, nextAttemptAt: input.nextAttemptAt ?? at,
    failures: 0, notAskedCount: 0, resendOf, isPayload: false, sent: null, attempts: [],
    attemptCount: 0,
  };
}

/** The data that imply the deliveries of a new event or queued forward. */
export type DeliveredEvent = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly name: string | null;
  /** When the deliveries begin, if later than `createdAt`. */
  readonly deliverAt?: string | null | undefined;
  /** [null] for the delivery of a queued forward. */
  readonly webhookIds: readonly (string | null)[];
};

/** Creates the deliveries that the record of an event implies. */
export function createEventDeliveries(
  { identifier: eventId, createdAt, name: event, deliverAt, webhookIds }: DeliveredEvent,
): Delivery[] {
  return createDeliveries(deriveIds(eventId), webhookIds,
    { event, eventId, queuedAt: deliverAt, nextAttemptAt: deliverAt }, createdAt);
}

/**
 * Creates deliveries of one event. The deliveries that are staged with it must be, byte for byte,
 * those that its record implies: so both are made here.
 */
export function createDeliveries(
  nextId: () => string, webhookIds: DeliveredEvent['webhookIds'],
  { event, eventId, queuedAt, nextAttemptAt }: {
    readonly event: string | null; readonly eventId: string;
    readonly queuedAt?: string | null | undefined;
    readonly nextAttemptAt?: string | null | undefined;
  }, at: string,
): Delivery[] {
  return webhookIds.map((hook) => createDelivery(
    { identifier: nextId(), hook, event, eventId, queuedAt, nextAttemptAt }, at));
}

/** Derives ids, which sort after `seed`: the event's own id for deliveries made with the event. */
export function deriveDeliveryIds(
  seed: string, webhookIds: DeliveredEvent['webhookIds'],
): readonly string[] {
  const nextId = deriveIds(seed);
  return webhookIds.map(() => nextId());
}

export function createRouteDelivery(
  request: { readonly id: string; readonly hook: string }, index: number, route: string, at: string,
  queuedAt: string | null = null,
): Delivery {
  const { id, hook } = request;
  return createDelivery(
    { identifier: createRouteDeliveryId(id, index), hook, request: id, route, queuedAt }, at);
}

/** The route of a webhook that names none. */
export const DEFAULT_ROUTE = 'default';

export function createRouteDeliveries(
  request: { readonly id: string; readonly hook: string }, names: readonly string[], at: string,
): Delivery[] {
  return names.map((name, index) => createRouteDelivery(request, index, name, at));
}

export function deriveKind(hook: string | null, route: string | null): DeliveryKind {
  if (route !== null) return 'route';
  return hook === null ? 'forward' : 'webhook';
}

export function getRouteName({ identifier, route }: Delivery): string {
  assert(route !== null, `delivery ${identifier} is to no route`);
  return route;
}

/**
 * The data that the first run to succeed gave its caller; empty where they were too long to keep.
 * A replay after that run changes nothing of what the caller was told.
 */
export function getAnsweredData({ attempts }: Delivery): object {
  const { callerData, data } = attempts.find(({ success }) => success) ?? {};
  return callerData ?? data ?? {};
}

/** The attempts with the members that the API shows. */
export function listPublicAttempts({ attempts, route }: Delivery): Delivery['attempts'] {
  return route === null ? attempts : attempts.map(({ callerData: _, ...attempt }) => attempt);
}

type RetryTerms = {
  /** The seconds between attempts; an empty list lets no attempt follow. */
  readonly schedule: readonly number[];
  /** The statuses that are retried; absent: every status. */
  readonly retryOn?: RetryOn | undefined;
};

export function afterAttempt(
  delivery: Delivery, outcome: AttemptOutcome, { schedule, retryOn }: RetryTerms, nowMs: number,
  random: number, updatedAt = nextVersionTime(delivery.updatedAt, nowMs),
): Delivery {
  const { end, attempt, retryAfterMs = 0 } = outcome;
  if (end === 'delivered' || end === 'coalesced') return deliver(delivery, attempt, end, updatedAt);
  if (delivery.status !== 'pending') {
    return afterAttemptOffSchedule(delivery, outcome, nowMs, updatedAt);
  }
  if (end === 'notAsked') return askLater(delivery, nowMs, random, updatedAt);
  const failures = delivery.failures + 1;
  const nextAttemptAt = mayTryAgain(outcome, retryOn)
    ? computeNextAttemptTime(schedule, failures, retryAfterMs, nowMs, random) : null;
  const status = nextAttemptAt === null ? 'failed' : 'pending';
  return change(
    delivery, { updatedAt, status, nextAttemptAt, failures, notAskedCount: 0, attempt });
}

/** The delivery after an attempt that no other follows, unless the target was not asked. */
export function afterLastAttempt(
  delivery: Delivery, outcome: AttemptOutcome, nowMs: number, updatedAt?: string,
): Delivery {
  return afterAttempt(delivery, outcome, { schedule: [] }, nowMs, 0, updatedAt);
}

export function afterProbe(
  delivery: Delivery, outcome: AttemptOutcome, { retryOn }: RetryTerms, nowMs: number,
): Delivery {
  return outcome.end === 'notAsked' || mayTryAgain(outcome, retryOn)
    ? afterAttemptOffSchedule(delivery, outcome, nowMs)
    : afterLastAttempt(delivery, outcome, nowMs);
}

function mayTryAgain(
  { end, attempt: { statusCode = null, error = null }, isChainRefused = false }: AttemptOutcome,
  retryOn: RetryOn | undefined,
): boolean {
  // A chain that is too long once is too long in every retry.
  if (end !== 'failed' || isChainRefused) return false;
  // Beside an error, a 401 tells of a token server that may be well at the next attempt, and a 2xx
  // of a response that `successWhen` takes for a failure.
  return isRetriedStatus(retryOn, error === null ? statusCode : null);
}

/** For example, the delivery was cancelled, or failed with its webhook, during the attempt. */
export function afterAttemptOffSchedule(
  delivery: Delivery, { attempt, end }: AttemptOutcome, nowMs: number,
  updatedAt = nextVersionTime(delivery.updatedAt, nowMs),
): Delivery {
  if (end === 'delivered' || end === 'coalesced') return deliver(delivery, attempt, end, updatedAt);
  return change(delivery, end === 'notAsked' ? { updatedAt } : { updatedAt, attempt });
}

function deliver(
  delivery: Delivery, attempt: Attempt, status: 'delivered' | 'coalesced', updatedAt: string,
): Delivery {
  return change(delivery, { updatedAt, attempt, status, nextAttemptAt: null });
}

function askLater(delivery: Delivery, nowMs: number, random: number, updatedAt: string): Delivery {
  const { notAskedCount } = delivery;
  const backoffMs = Math.min(NOT_ASKED_DELAY_MS_BASE * 2 ** notAskedCount, NOT_ASKED_DELAY_MS_MAX);
  return change(delivery, {
    updatedAt, notAskedCount: notAskedCount + 1,
    nextAttemptAt: formatTimestamp(nowMs + addJitter(backoffMs, random)),
  });
}

/** Returns null if the delivery is not pending any more. */
export function endIfPending(
  before: Delivery, status: 'cancelled' | 'failed', nowMs: number,
): Delivery | null {
  return before.status === 'pending' ? end(before, status, nowMs) : null;
}

/** Returns null if the delivery is neither pending nor failed. */
export function cancelIfQueued(before: Delivery, nowMs: number): Delivery | null {
  return countsAsQueued(before.status) ? end(before, 'cancelled', nowMs) : null;
}

function end(before: Delivery, status: 'cancelled' | 'failed', nowMs: number): Delivery {
  const updatedAt = nextVersionTime(before.updatedAt, nowMs);
  return change(before, { updatedAt, status, nextAttemptAt: null });
}

/** Makes it due now, with a whole schedule; a waiting one keeps its place, another goes last. */
export function resetForRetry(
  delivery: Delivery, nowMs: number, updatedAt = nextVersionTime(delivery.updatedAt, nowMs),
): Delivery {
  const now = formatTimestamp(nowMs);
  const queuedAt = delivery.status === 'pending' ? delivery.queuedAt : now;
  return change(delivery, {
    updatedAt, status: 'pending', queuedAt, nextAttemptAt: now, failures: 0, notAskedCount: 0,
  });
}

type DeliveryChange = Pick<Delivery, 'updatedAt'>
  & Partial<Pick<Delivery, 'status' | 'queuedAt' | 'nextAttemptAt' | 'failures' | 'notAskedCount'>>
  & {
    readonly attempt?: Attempt;
  };

/** Named one by one: a spread took a tenth of the time of each accepted request. */
function change(delivery: Delivery, changes: DeliveryChange): Delivery {
  const { identifier, kind, createdAt, hook, event, eventId, request, route } = delivery;
  const { resendOf, isPayload, sent, attempts, attemptCount } = delivery;
  const { updatedAt, status = delivery.status, queuedAt = delivery.queuedAt, attempt } = changes;
  const { nextAttemptAt = delivery.nextAttemptAt, failures = delivery.failures } = changes;
  const { notAskedCount = delivery.notAskedCount } = changes;
  return {
    identifier, kind, createdAt, updatedAt, status, hook, event, eventId, request, route, queuedAt,
    nextAttemptAt, failures, notAskedCount, resendOf, isPayload, sent,
    attempts: attempt === undefined ? attempts : addAttempt(attempts, attempt),
    attemptCount: attempt === undefined ? attemptCount : attemptCount + 1,
  };
}

function addAttempt(attempts: readonly Attempt[], attempt: Attempt): readonly Attempt[] {
  return attempts.length === 0 ? [attempt] : [...attempts, attempt].slice(-ATTEMPTS_MAX);
}

/** The place of a delivery, which may have gone to the queue at another time than it was made. */
export function placeOf({ identifier, queuedAt }: Delivery): string {
  return queuedAt === null ? identifier : createPlace(parseTimestamp(queuedAt), identifier);
}

export function computeDeliveryDueMs(
  { nextAttemptAt, updatedAt }: Delivery, nowMs: number,
): number {
  return computeDueMs(nextAttemptAt, updatedAt, nowMs);
}

export function countsAsQueued(status: DeliveryStatus): boolean {
  return QUEUED_STATUSES.includes(status);
}
