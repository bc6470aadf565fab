/**
 * One delivery and what an attempt makes of it. Pure: time and randomness are parameters.
 *
 * A stored delivery is one JSON object. Besides what callers see it holds `message`, the record of
 * the `events` collection that has the payload, or the payload's message itself as its last members
 * (message.ts); `failures`, how many attempts of the schedule are used up; `proxyFailures`, how
 * many were the proxy's own; and `body`, once an action or a template has made one: every retry
 * sends the same bytes. `status` stands before anything of free text, so that it is found without
 * parsing. See `encodeDelivery` for what is left out.
 */
import { timeText } from '../../base/clock.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { CollectionSpec } from '../../store/port.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import { messageStart } from './message.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled';

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending', 'delivered', 'failed', 'cancelled',
];

export type Attempt = {
  readonly at: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** The kind of what went wrong without an answer; never a target or a credential. */
  readonly error: string | null;
  /** The answer's first 1 KiB as text. */
  readonly response: string | null;
};

export type Delivery = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: DeliveryStatus;
  /** The outgoing webhook; null for a queued forward. */
  readonly hook: string | null;
  readonly event: string | null;
  readonly message: string;
  /** The members of a message that is this delivery's alone; null when it is shared. */
  readonly carried: string | Buffer | null;
  readonly nextAttemptAt: string | null;
  readonly failures: number;
  readonly proxyFailures: number;
  /** The payload itself went out before, so it is what every retry sends. */
  readonly isPayload: boolean;
  readonly body: string | null;
  readonly attempts: readonly Attempt[];
};

/** A delivery beside the bytes it was read from, which never change. */
export type KnownDelivery = { readonly bytes: Buffer; readonly delivery: Delivery };

/** What came of one attempt. `proxy`: the proxy failed, so the target was never asked. */
export type Outcome = {
  readonly kind: 'delivered' | 'failed' | 'gone' | 'proxy';
  readonly attempt: Attempt;
  /** What the answer's Retry-After asks for; 0 without one. */
  readonly retryAfterMs: number;
  /** Nothing went out: the action or the template failed. */
  readonly isUnsent?: boolean;
};

export const deliveryCollection: CollectionSpec = { name: 'deliveries', key: 'identifier' };

export const RESPONSE_BYTES_MAX = 1024;

/** Attempts shown of one delivery, the newest. */
const ATTEMPTS_MAX = 50;
/** Jitter only ever lengthens: what failed together must not come back together, or early. */
const JITTER = 0.1;
/** A target may ask for a pause, not for oblivion. */
const RETRY_AFTER_MS_MAX = 30 * 24 * 3600 * 1000;
const PROXY_DELAY_MS_BASE = 5000;
const PROXY_DELAY_MS_MAX = 300_000;
const QUOTE = 0x22;

export function newDelivery(
  given: Pick<Delivery, 'identifier' | 'hook' | 'event' | 'message' | 'carried'>, at: string,
): Delivery {
  const { identifier, hook, event, message, carried } = given;
  return {
    identifier, createdAt: at, updatedAt: at, status: 'pending', hook, event, message, carried,
    nextAttemptAt: at, failures: 0, proxyFailures: 0, isPayload: false, body: null, attempts: [],
  };
}

/** The delivery after an attempt: delivered, failed for good, or pending with its next time. */
export function afterAttempt(
  delivery: Delivery, outcome: Outcome, schedule: readonly number[], nowMs: number, random: number,
): Delivery {
  const { attempt, kind } = outcome;
  if (kind === 'proxy') return afterProxyFailure(delivery, nowMs, random);
  const attempts = [...delivery.attempts, attempt].slice(-ATTEMPTS_MAX);
  if (kind === 'delivered') return finished({ ...delivery, attempts }, 'delivered', nowMs);
  const failures = delivery.failures + 1;
  const counted = { ...delivery, failures, attempts };
  const delayS = kind === 'failed' ? schedule[failures - 1] : undefined;
  if (delayS === undefined) return finished(counted, 'failed', nowMs);
  const jitteredMs = delayS * 1000 * (1 + JITTER * random);
  const waitMs = Math.max(jitteredMs, Math.min(outcome.retryAfterMs, RETRY_AFTER_MS_MAX));
  return { ...stamped(counted, nowMs), nextAttemptAt: timeText(nowMs + waitMs) };
}

function afterProxyFailure(delivery: Delivery, nowMs: number, random: number): Delivery {
  const before = delivery.proxyFailures;
  const backoffMs = Math.min(PROXY_DELAY_MS_BASE * 2 ** before, PROXY_DELAY_MS_MAX);
  return {
    ...stamped(delivery, nowMs), proxyFailures: before + 1,
    nextAttemptAt: timeText(nowMs + backoffMs * (1 + JITTER * random)),
  };
}

export function finished(
  delivery: Delivery, status: Exclude<DeliveryStatus, 'pending'>, nowMs: number,
): Delivery {
  return { ...stamped(delivery, nowMs), status, nextAttemptAt: null };
}

/** null: it is not pending any more. */
export function cancelled(before: Delivery, nowMs: number): Delivery | null {
  return before.status === 'pending' ? finished(before, 'cancelled', nowMs) : null;
}

/** `updatedAt` rises, whatever the clock does. */
export function stamped(delivery: Delivery, nowMs: number): Delivery {
  return { ...delivery, updatedAt: timeAfter(delivery.updatedAt, nowMs) };
}

/** Due now, with the whole schedule before it. */
export function retried(delivery: Delivery, nowMs: number): Delivery {
  return {
    ...stamped(delivery, nowMs), status: 'pending', nextAttemptAt: timeText(nowMs), failures: 0,
    proxyFailures: 0,
  };
}

/**
 * When a pending delivery is due, by a clock that stands at `nowMs`. Where that was set back since
 * the wait was written down, what counts is how long it was to be.
 */
export function dueTimeMs({ nextAttemptAt, attempts, createdAt }: Delivery, nowMs: number): number {
  const dueAtMs = nextAttemptAt === null ? 0 : Date.parse(nextAttemptAt);
  if (dueAtMs <= nowMs) return dueAtMs;
  const writtenAtMs = Date.parse(attempts.at(-1)?.at ?? createdAt);
  // Due before it was written: the clock had been set back by then, and is right about this.
  const isSetBack = writtenAtMs > nowMs && dueAtMs >= writtenAtMs;
  return isSetBack ? nowMs + (dueAtMs - writtenAtMs) : dueAtMs;
}

/** A stored delivery, what it leaves out filled in. */
export function readDelivery(bytes: Buffer): Delivery {
  // What it carries may be large, and is passed on as it is.
  const end = messageStart(bytes);
  const stored = decodeRecordAs<Stored>(
    end === -1 ? bytes : `${bytes.toString('utf8', 0, end)}}`, isSound);
  const { identifier, createdAt, status } = stored;
  // One by one: a copy of whatever there is costs as much as parsing it.
  return {
    identifier, createdAt, status,
    updatedAt: stored.updatedAt ?? createdAt,
    hook: stored.hook ?? null,
    event: stored.event ?? null,
    message: stored.message ?? identifier,
    carried: end === -1 ? null : bytes.subarray(end + 1, bytes.length - 1),
    nextAttemptAt: stored.nextAttemptAt ?? (status === 'pending' ? createdAt : null),
    failures: stored.failures ?? 0,
    proxyFailures: stored.proxyFailures ?? 0,
    isPayload: stored.isPayload ?? false,
    body: stored.body ?? null,
    attempts: stored.attempts ?? [],
  };
}

type Stored = Partial<Delivery> & Pick<Delivery, 'identifier' | 'createdAt' | 'status'>;

function isSound({ identifier, status, createdAt }: JsonObject): boolean {
  return typeof identifier === 'string' && typeof createdAt === 'string'
    && DELIVERY_STATUSES.some((known) => known === status);
}

/**
 * One line, members in a fixed order. What follows from the others is left out: a hundred thousand
 * waiting deliveries are to fit in memory. What can never be sent again keeps nothing to send.
 */
export function encodeDelivery(delivery: Delivery): string {
  const { identifier, createdAt, updatedAt, status, hook, event, message, carried } = delivery;
  const { nextAttemptAt, failures, proxyFailures, isPayload, body, attempts } = delivery;
  const isDefaultTime = nextAttemptAt === (status === 'pending' ? createdAt : null);
  const isKept = isMessageNeeded(status);
  const json = JSON.stringify({
    identifier,
    createdAt,
    updatedAt: updatedAt === createdAt ? undefined : updatedAt,
    status,
    hook: hook ?? undefined,
    event: event ?? undefined,
    message: message === identifier ? undefined : message,
    nextAttemptAt: isDefaultTime ? undefined : nextAttemptAt,
    failures: failures === 0 ? undefined : failures,
    proxyFailures: proxyFailures === 0 ? undefined : proxyFailures,
    isPayload: isPayload ? true : undefined,
    attempts: attempts.length === 0 ? undefined : attempts,
    body: isKept && body !== null ? body : undefined,
  });
  return isKept && carried !== null ? `${json.slice(0, -1)},${carried}}` : json;
}

/** Only what waits, or has failed and may be tried again, needs what it is to send. */
export function isMessageNeeded(status: DeliveryStatus): boolean {
  return status === 'pending' || status === 'failed';
}

const CREATED_MARK = Buffer.from('"createdAt":"');
const UPDATED_MARK = Buffer.from('"updatedAt":"');
const STATUS_MARK = Buffer.from('"status":"');
const STATUS_BY_LETTER = new Map(DELIVERY_STATUSES.map((status) => [status.charCodeAt(0), status]));
// Identifiers are UUIDs, so these members mostly stand at the same places: a look there costs a
// tenth of a search, and there are many for each delivery.
const SECOND_AT = '{"identifier":"","createdAt":"",'.length + 36 + TIME_LENGTH;
const THIRD_AT = SECOND_AT + '"updatedAt":"",'.length + TIME_LENGTH;

/** The status of a stored delivery, without parsing it: the first letters differ. */
export function statusOf(bytes: Buffer): DeliveryStatus {
  const letter = bytes[endOf(bytes, STATUS_MARK)];
  const status = letter === undefined ? undefined : STATUS_BY_LETTER.get(letter);
  if (status === undefined) throw new TypeError('a stored delivery has no status');
  return status;
}

/** Milliseconds since the epoch at which a stored delivery was last written, without parsing it. */
export function updatedMsOf(bytes: Buffer): number {
  const isFirst = isAt(bytes, STATUS_MARK, SECOND_AT);
  const text = isFirst ? null : textAfter(bytes, UPDATED_MARK);
  return Date.parse(text ?? textAfter(bytes, CREATED_MARK) ?? '');
}

function textAfter(bytes: Buffer, mark: Buffer): string | null {
  const start = endOf(bytes, mark);
  return start === -1 ? null : bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

// A mark's plain quotes cannot stand inside a string, so what follows the first is the member.
function endOf(bytes: Buffer, mark: Buffer): number {
  if (isAt(bytes, mark, SECOND_AT)) return SECOND_AT + mark.length;
  if (isAt(bytes, mark, THIRD_AT)) return THIRD_AT + mark.length;
  const at = bytes.indexOf(mark);
  return at === -1 ? -1 : at + mark.length;
}

function isAt(bytes: Buffer, mark: Buffer, at: number): boolean {
  for (let index = 0; index < mark.length; index += 1) {
    if (bytes[at + index] !== mark[index]) return false;
  }
  return true;
}

/** What callers see. */
export function shownDelivery(delivery: Delivery): object {
  const { identifier, hook, event, status, createdAt, nextAttemptAt, attempts } = delivery;
  return { identifier, hook, event, status, createdAt, nextAttemptAt, attempts };
}

function timeAfter(before: string, nowMs: number): string {
  return timeText(Math.max(nowMs, Date.parse(before) + 1));
}
