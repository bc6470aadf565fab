/**
 * The public endpoint: ANY /webhook/in/{pathSegment}. The checks stand in the contract's order and
 * the first that fails answers; nothing is read or hashed before it is allowed.
 */
import { AppError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import { quoted } from '../../../base/text/refusal.ts';
import type { Exchange, Handler } from '../../../server/http-route.ts';
import { FORM_FIELDS_MAX, hasTooManyFields } from '../../senders/request/form.ts';
import type { ChallengeAnswer } from '../../senders/verification/challenge.ts';
import { bodyKind } from '../body-format.ts';
import { sendAnswer, type ReceiveAnswer } from './answer.ts';
import { EventNames } from './event-names.ts';
import type { HookIndex, ReadyHook } from './hook-index.ts';
import type { PayloadRoom } from './payload-room.ts';
import type { HealthMonitor } from '../../health/monitor.ts';
import type { PreviousSecretUses } from './previous-uses.ts';
import type { Received } from './received-call.ts';
import type { Rejection } from './rejections.ts';
import type { OnOutcome } from '../../outcome.ts';
import { isMethodAllowed, partsOf, verifySender, verifySignature } from './verify-call.ts';

export type ReceiveParts = {
  readonly hooks: HookIndex;
  readonly clock: Clock;
  /**
   * The answer, at once when an action gave it at once. Throws, or rejects with, what is to be
   * answered 503 or 507: nothing was accepted, and the sender must try again. Or 413, as what a log
   * takes at once has a limit: nothing was accepted, and never will be.
   */
  readonly take: (
    exchange: Exchange, received: Received,
  ) => ReceiveAnswer | Promise<ReceiveAnswer>;
  /** Keeps a rejected request to be looked at; `body` is null when it was not read. */
  readonly keepRejected: (
    exchange: Exchange, hook: ReadyHook, body: Buffer | null, rejection: Rejection,
  ) => void;
  readonly previousUses: PreviousSecretUses;
  readonly health: HealthMonitor;
  readonly payloadRoom: PayloadRoom;
  readonly onOutcome: OnOutcome;
  readonly limits: {
    readonly allowUnsignedWhenSecretMissing: boolean;
    /** Actions under way at once for one hook. */
    readonly maxConcurrent: number;
  };
};

// Slots free up as actions end, which takes a moment, not minutes.
const BUSY_RETRY_S = 1;
const FULL_RETRY_S = 10;
const UNKNOWN = 'Webhook not found or disabled';
const UNVERIFIED = 'Signature verification failed';

export function createReceiver(parts: ReceiveParts): Handler {
  return (exchange) => {
    const hook = parts.hooks.findByPath(exchange.params[0] ?? '');
    if (hook === undefined) throw unknown(parts.hooks, exchange);
    checkBeforeBody(parts, exchange, hook);
    return receive(parts, exchange, hook);
  };
}

/** The same answer for a path that no hook can have. */
export function createRefuser(hooks: HookIndex): Handler {
  return (exchange) => {
    throw unknown(hooks, exchange);
  };
}

function unknown(hooks: HookIndex, exchange: Exchange): AppError {
  const finding = `there is no webhook at ${quoted(exchange.params[0] ?? '')}`;
  return hooks.unmatched.reject(exchange, null, {
    code: 'not_found', message: UNKNOWN, finding, reason: null,
  });
}

function reject(exchange: Exchange, hook: ReadyHook, rejection: Rejection): AppError {
  return hook.load.rejections.reject(exchange, hook, rejection);
}

/** The same for one that can be looked at later. `body` is null when it was not read. */
function rejectVisibly(
  { keepRejected, health, clock }: ReceiveParts, exchange: Exchange, hook: ReadyHook,
  body: Buffer | null, rejection: Rejection,
): AppError {
  const { reason } = rejection;
  keepRejected(exchange, hook, body, rejection);
  // A rate is no check of who it is.
  if (reason !== null && reason !== 'rate') {
    health.refused(hook.identifier, { atMs: clock.now(), reason });
  }
  return reject(exchange, hook, rejection);
}

function checkBeforeBody(parts: ReceiveParts, exchange: Exchange, hook: ReadyHook): void {
  const { enabled, methods, addresses, load } = hook;
  if (!enabled) {
    throw reject(exchange, hook, {
      code: 'not_found', message: UNKNOWN, finding: 'the webhook is disabled', reason: null,
    });
  }
  if (!isMethodAllowed(hook, exchange)) {
    const { method = '' } = exchange.request;
    throw reject(exchange, hook, {
      code: 'method_not_allowed', message: 'Method not allowed', reason: 'method',
      finding: `the method ${method} is not among ${methods.join(', ')}`,
      details: { allow: methods },
    });
  }
  // Who calls through the control socket has no address, and may change the webhook as well.
  if (addresses !== null && !exchange.isControl
    && !addresses.hasLiteral(exchange.clientAddress)) {
    throw rejectVisibly(parts, exchange, hook, null, {
      code: 'forbidden', message: 'Address not allowed', reason: 'address',
      finding: `${exchange.clientAddress} is not in allowedAddresses`,
    });
  }
  const retryAfterS = load.bucket?.take(parts.clock.monotonicMs()) ?? 0;
  if (retryAfterS > 0) {
    throw rejectVisibly(parts, exchange, hook, null, {
      code: 'too_many_requests', message: 'Too many requests', reason: 'rate',
      finding: 'more requests a second than incoming.rateLimit', details: { retryAfterS },
    });
  }
}

async function receive(
  parts: ReceiveParts, exchange: Exchange, hook: ReadyHook,
): Promise<void> {
  const { payloadRoom } = parts;
  let body: Buffer;
  try {
    body = await exchange.readBody();
  } catch (thrown) {
    throw unread(exchange, hook, thrown);
  }
  checkForm(exchange, hook, body);
  const received = admit(parts, exchange, hook, body);
  parts.health.passed(hook.identifier, parts.clock.now());
  if ('status' in received) {
    const { status, type, body: text } = received;
    tell(parts, exchange, hook, 'accepted');
    return exchange.send(status, ['Content-Type', type], status === 204 ? undefined : text);
  }
  const { load } = hook;
  // Nothing runs for what is answered as accepted.
  if (hook.answer === 'result' && load.running >= parts.limits.maxConcurrent) {
    throw busy(exchange, hook,
      `${load.running} actions are under way, which is incoming.maxConcurrent`);
  }
  const payloadBytes = holdsPayload(received) ? payloadRoom.take(body) : 0;
  if (payloadBytes === null) {
    throw busy(exchange, hook, 'the payloads under way leave no memory for this one');
  }
  load.running += 1;
  try {
    const answer = parts.take(exchange, received);
    // What was answered at once needs no turn of the event loop.
    const given = 'body' in answer ? answer : await answer;
    tell(parts, exchange, hook, given.status === 200 ? 'accepted' : 'failed');
    sendAnswer(exchange, given);
  } catch (thrown) {
    if (thrown instanceof AppError) throw refusalOf(exchange, hook, thrown);
    tell(parts, exchange, hook, 'failed');
    throw thrown;
  } finally {
    load.running -= 1;
    payloadRoom.giveBack(payloadBytes);
  }
}

/** Throws `too_large` for a form of more fields than are read. */
function checkForm(exchange: Exchange, hook: ReadyHook, body: Buffer): void {
  const { 'content-type': contentType } = exchange.request.headers;
  if (bodyKind(hook.reading.format, contentType) !== 'form' || !hasTooManyFields(body)) return;
  throw reject(exchange, hook, {
    code: 'too_large', message: 'Payload too large', reason: 'size',
    finding: `the form has more than ${FORM_FIELDS_MAX} fields`,
  });
}

/** What is on disk before anything looks into its body is not parsed until it is run. */
function holdsPayload({ hook, parts }: Received): boolean {
  return hook.answer === 'result' || hook.isRouted || parts !== null;
}

function busy(exchange: Exchange, hook: ReadyHook, finding: string): AppError {
  return reject(exchange, hook, {
    code: 'unavailable', message: 'Too many requests in progress', reason: null, finding,
    details: { retryAfterS: BUSY_RETRY_S },
  });
}

function tell(
  { clock, onOutcome }: ReceiveParts, exchange: Exchange, hook: ReadyHook,
  outcome: 'accepted' | 'failed',
): void {
  const durationMs = clock.monotonicMs() - exchange.startedMs;
  onOutcome('requests', hook.identifier, outcome, durationMs);
}

/** What is thrown for a body that could not be read. */
function unread(exchange: Exchange, hook: ReadyHook, thrown: unknown): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const { code, message } = thrown;
  const isSenders = code === 'too_large' || code === 'timeout' || code === 'malformed';
  if (!isSenders) return thrown;
  const reason = code === 'too_large' ? 'size' : null;
  return reject(exchange, hook, { code, message, finding: message, reason });
}

/** Throws `unauthorized` for a request that is not its sender's. */
function admit(
  given: ReceiveParts, exchange: Exchange, hook: ReadyHook, body: Buffer,
): Received | ChallengeAnswer {
  const { clock, limits, previousUses } = given;
  const { sender, eventId } = hook;
  const atMs = clock.now();
  const parts = sender === null && eventId === null ? null : partsOf(exchange, body, sender);
  const verdict = sender === null || parts === null
    ? verifySignature(hook, exchange, body, {
      nowMs: atMs, isUnsignedAllowed: limits.allowUnsignedWhenSecretMissing,
    }) : verifySender(sender, parts, atMs);
  if ('isAdmitted' in verdict) {
    if (verdict.by?.secret === 'previous') previousUses.record(hook, atMs);
    const { by: verified, signedAtMs } = verdict;
    const names = new EventNames(parts, hook);
    return { hook, body, parts, names, verified, signedAtMs, atMs, unparsed: null };
  }
  if ('status' in verdict) return verdict;
  throw rejectVisibly(given, exchange, hook, body, {
    code: 'unauthorized', message: UNVERIFIED, finding: verdict.finding, reason: verdict.check,
    details: { challenge: null }, ...sender === null ? {} : { linesMax: 1 },
  });
}

/** Nothing was accepted, or we cannot know: the sender must try again, unless it never will. */
function refusalOf(exchange: Exchange, hook: ReadyHook, thrown: AppError): AppError {
  if (thrown.code === 'too_large') {
    return reject(exchange, hook, {
      code: 'too_large', message: 'Too large to be kept', finding: thrown.message, reason: 'size',
    });
  }
  const isFull = thrown.code === 'storage_full';
  return reject(exchange, hook, {
    code: isFull ? 'storage_full' : 'unavailable',
    message: isFull ? 'Storage is full' : 'Cannot be accepted now',
    finding: thrown.message, reason: null,
    details: { retryAfterS: thrown.details.retryAfterS ?? FULL_RETRY_S },
  });
}
