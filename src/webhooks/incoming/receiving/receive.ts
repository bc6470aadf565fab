/**
 * The public endpoint: ANY /webhook/in/{pathSegment}. The checks come in the contract's order and
 * the first that fails is answered. Nothing is read or hashed before the checks allow it.
 */
import { AppError, type ErrorCode } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import { createTaggedLogger } from '../../../base/log.ts';
import type { MemoryBudget } from '../../../base/memory-budget.ts';
import { isPromised, type MaybePromise } from '../../../base/when-done.ts';
import { quote } from '../../../base/text/error-message.ts';
import type { Exchange, Handler } from '../../../server/http-route.ts';
import { NeverFitsError } from '../../deliveries/queue-capacity.ts';
import { SwitchedOffError } from '../../actions/switched-off-error.ts';
import { FORM_FIELDS_MAX, hasTooManyFields } from '../../senders/request/parse-form.ts';
import { PARTS_MAX, hasTooManyParts } from '../../senders/request/parse-multipart.ts';
import { isDecoded } from '../../senders/request/plain-body.ts';
import type { RequestReader } from '../../senders/request/request-reader.ts';
import type { ChallengeResponse } from '../../senders/verification/challenge.ts';
import { resolveBodyKind } from '../body-format.ts';
import {
  findCustomResponse, sendWebhookResponse, type WebhookResponse,
} from './webhook-response.ts';
import { DecodedBody, weighRun } from './decoded-body.ts';
import { EventNames } from './event-names.ts';
import type { IncomingWebhookIndex, ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import type { PreviousSecretUses } from './previous-secret-uses.ts';
import type { AdmittedRequest } from './admitted-request.ts';
import type { Rejection } from './rejections.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';
import { isMethodAllowed, createReader, verifySender, verifySignature } from './verify-request.ts';

export type ReceiveDeps = {
  readonly webhooks: IncomingWebhookIndex;
  readonly clock: Clock;
  /** `Intake.handle`: runs or stores the request. See there for its errors. */
  readonly handleRequest: (request: AdmittedRequest) => MaybePromise<WebhookResponse>;
  /** Keeps a rejected request for people to look at; `body` is null when it was not read. */
  readonly addRejected: (
    exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer | null, rejection: Rejection,
  ) => void;
  readonly previousSecretUses: PreviousSecretUses;
  /** Stores the secret that a handshake brought; false: the webhook awaits none any more. */
  readonly storeSecret: (webhookId: string, secret: string) => Promise<boolean>;
  readonly health: HealthMonitor;
  readonly memoryBudget: MemoryBudget;
  readonly onOutcome: OnOutcome;
  readonly limits: {
    readonly allowUnsignedWhenSecretMissing: boolean;
    /** Actions that may run at once for a webhook that has no limit of its own. */
    readonly maxConcurrent: number;
  };
};

const loadCustomResponse = lazyImport(() => import('./send-custom-response.ts'));

// Running actions end within moments, not minutes.
const BUSY_RETRY_S = 1;
const FULL_RETRY_S = 10;
const UNKNOWN_MESSAGE = 'Webhook not found or disabled';
const REJECTED_CODES: readonly ErrorCode[] = ['unauthorized', 'forbidden'];
const UNVERIFIED_MESSAGE = 'Signature verification failed';

export function createReceiveHandler(deps: ReceiveDeps): Handler {
  return (exchange) => {
    const webhook = deps.webhooks.findByPath(exchange.params[0] ?? '');
    if (webhook === undefined) throw rejectUnknown(deps.webhooks, exchange);
    if (findCustomResponse({ webhook, exchange }, 'rejected') !== null) {
      return receiveOrReject(deps, exchange, webhook);
    }
    checkBeforeBody(deps, exchange, webhook);
    return receive(deps, exchange, webhook);
  };
}

/** For a webhook that has its own response to what it rejects with 401 and 403. */
async function receiveOrReject(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
): Promise<void> {
  try {
    checkBeforeBody(deps, exchange, webhook);
    await receive(deps, exchange, webhook);
  } catch (thrown) {
    const custom = findCustomResponse({ webhook, exchange }, 'rejected');
    const isRejection = thrown instanceof AppError && REJECTED_CODES.includes(thrown.code);
    if (custom === null || !isRejection) throw thrown;
    await loadCustomResponse(({ sendRejection }) => sendRejection(exchange, custom));
  }
}

/** Rejects a path that no webhook can have as `createReceiveHandler` rejects an unknown one. */
export function createUnknownPathHandler(webhooks: IncomingWebhookIndex): Handler {
  return (exchange) => {
    throw rejectUnknown(webhooks, exchange);
  };
}

function rejectUnknown(webhooks: IncomingWebhookIndex, exchange: Exchange): AppError {
  const finding = `there is no webhook at ${quote(exchange.params[0] ?? '')}`;
  return webhooks.unknownPathRejections.reject(exchange, null, {
    code: 'not_found', message: UNKNOWN_MESSAGE, finding, check: null,
  });
}

function reject(exchange: Exchange, webhook: ReadyIncomingWebhook, rejection: Rejection): AppError {
  return webhook.traffic.rejections.reject(exchange, webhook, rejection);
}

/**
 * Keeps a request for people to look at, records it for the health of its webhook, and rejects it.
 * `body` is null when it was not read.
 */
function recordAndReject(
  { addRejected, health, clock }: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
  body: Buffer | null, rejection: Rejection,
): AppError {
  const { check } = rejection;
  addRejected(exchange, webhook, body, rejection);
  // The rate limit says nothing of the sender, so health does not count it.
  if (check !== null && check !== 'rate') {
    health.recordRejectedRequest(webhook.identifier, { atMs: clock.now(), reason: check });
  }
  return reject(exchange, webhook, rejection);
}

function checkBeforeBody(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
): void {
  const { enabled, methods, addresses, traffic } = webhook;
  if (!enabled) {
    throw reject(exchange, webhook, {
      code: 'not_found', message: UNKNOWN_MESSAGE, finding: 'the webhook is disabled', check: null,
    });
  }
  if (!isMethodAllowed(webhook, exchange)) {
    const { method = '' } = exchange.request;
    throw reject(exchange, webhook, {
      code: 'method_not_allowed', message: 'Method not allowed', check: 'method',
      finding: `the method ${method} is not among ${methods.join(', ')}`,
      details: { allow: methods },
    });
  }
  // A request over the control socket has no address, and may change the webhook as well.
  if (addresses !== null && !exchange.isControl
    && !addresses.hasLiteral(exchange.clientAddress)) {
    throw recordAndReject(deps, exchange, webhook, null, {
      code: 'forbidden', message: 'Address not allowed', check: 'address',
      finding: `${exchange.clientAddress} is not in allowedAddresses`,
    });
  }
  const retryAfterS = traffic.bucket?.take(deps.clock.monotonicMs()) ?? 0;
  if (retryAfterS > 0) {
    throw recordAndReject(deps, exchange, webhook, null, {
      code: 'too_many_requests', message: 'Too many requests', check: 'rate',
      finding: `more than ${traffic.bucket?.ratePerS} requests a second, its rate limit`,
      details: { retryAfterS },
    });
  }
}

async function receive(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
): Promise<void> {
  const { memoryBudget } = deps;
  let body: Buffer;
  try {
    body = await exchange.readBody();
  } catch (thrown) {
    throw rejectUnreadBody(exchange, webhook, thrown);
  }
  const reader = createNeededReader(exchange, webhook, body);
  checkForm(exchange, webhook, body, reader);
  const admission = admit(deps, exchange, webhook, body, reader);
  if ('status' in admission) return answerChallenge(deps, exchange, webhook, body, admission);
  deps.health.recordPassedRequest(webhook.identifier, deps.clock.now());
  const { traffic, maxConcurrent } = webhook;
  const runningMax = maxConcurrent ?? deps.limits.maxConcurrent;
  // `traffic.running` counts every request that is being handled. The limit is for those that run
  // their actions now: a request that is answered as accepted is only stored, and runs later.
  if (webhook.answer === 'result' && traffic.running >= runningMax) {
    throw rejectBusy(exchange, webhook,
      `${traffic.running} actions are under way, which is ${maxConcurrent === null
        ? 'incoming.maxConcurrent' : 'its maxConcurrent'}`);
  }
  const { own, preset } = webhook.responses;
  const readsPayload = (own !== null || preset !== null)
    && await prepareCustomResponses(exchange, admission);
  const runsNow = webhook.answer === 'result';
  const heldBytes = readsPayload || runsNow || holdsPayload(admission)
    ? weighRun(body, admission.plainBody, runsNow ? webhook.routes.length : 0) : 0;
  if (!memoryBudget.reserve(heldBytes)) {
    throw rejectBusy(exchange, webhook, 'the requests under way leave no memory for this one');
  }
  traffic.running += 1;
  try {
    const result = deps.handleRequest(admission);
    const response = isPromised(result) ? await result : result;
    reportOutcome(deps, exchange, webhook, response.status === 200 ? 'accepted' : 'failed');
    const custom = findCustomResponse(admission, response.outcome);
    if (custom === null) sendWebhookResponse(exchange, response);
    else {
      await loadCustomResponse(({ sendCustomResponse }) =>
        sendCustomResponse(admission, custom, response));
    }
  } catch (thrown) {
    if (thrown instanceof AppError) throw rejectUnstored(exchange, webhook, thrown);
    reportOutcome(deps, exchange, webhook, 'failed');
    throw thrown;
  } finally {
    traffic.running -= 1;
    memoryBudget.release(heldBytes);
  }
}

/**
 * Answers a handshake, by which the sender only asks whether we are there: no action runs, and
 * nothing is stored but the secret that it may bring.
 */
async function answerChallenge(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer,
  { status, type, body: text, headers, newSecret }: ChallengeResponse,
): Promise<void> {
  if (newSecret !== null) await takeSecret(deps, exchange, webhook, body, newSecret);
  deps.health.recordPassedRequest(webhook.identifier, deps.clock.now());
  reportOutcome(deps, exchange, webhook, 'accepted');
  exchange.send(status, ['Content-Type', type, ...headers], status === 204 ? undefined : text);
}

/** Throws `unauthorized` if another handshake was first. */
async function takeSecret(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer,
  secret: string,
): Promise<void> {
  let isStored: boolean;
  try {
    isStored = await deps.storeSecret(webhook.identifier, secret);
  } catch (thrown) {
    throw thrown instanceof AppError ? rejectUnstored(exchange, webhook, thrown) : thrown;
  }
  if (!isStored) {
    throw recordAndReject(deps, exchange, webhook, body, {
      code: 'unauthorized', message: UNVERIFIED_MESSAGE, check: 'handshake',
      finding: 'another handshake has brought a secret meanwhile', details: { challenge: null },
    });
  }
  createTaggedLogger(exchange.log, webhook.labels).info(
    'the secret that a handshake brought is the webhook\'s', { client: exchange.clientAddress });
}

/** null: neither verification nor event id looks into the request, and its body is plain. */
function createNeededReader(
  exchange: Exchange, { sender, eventIdSources, bodyReading }: ReadyIncomingWebhook, body: Buffer,
): RequestReader | null {
  const isPlain = exchange.request.headers['content-encoding'] === undefined;
  return sender === null && eventIdSources === null && isPlain ? null
    : createReader(exchange, body, sender, bodyReading.plainBytesMax);
}

/** Throws `too_large` for a form of more fields or parts than are read. */
function checkForm(
  exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer, reader: RequestReader | null,
): void {
  const { 'content-type': contentType } = exchange.request.headers;
  const kind = resolveBodyKind(webhook.bodyReading.format, contentType);
  if (kind !== 'form' && kind !== 'multipart') return;
  const plainBody = reader?.plainBody() ?? body;
  if (!isDecoded(plainBody)) return;
  if (kind === 'form' && hasTooManyFields(plainBody)) {
    throw rejectTooLarge(exchange, webhook, `the form has more than ${FORM_FIELDS_MAX} fields`);
  }
  if (kind === 'multipart' && hasTooManyParts(plainBody, contentType)) {
    throw rejectTooLarge(exchange, webhook, `the multipart body has more than ${PARTS_MAX} parts`);
  }
}

function rejectTooLarge(
  exchange: Exchange, webhook: ReadyIncomingWebhook, finding: string,
): AppError {
  return reject(exchange, webhook, {
    code: 'too_large', message: 'Payload too large', check: 'size', finding,
  });
}

/**
 * Whether the payload of a request that runs later is parsed before the response. One that is
 * stored unseen is parsed when it runs.
 */
function holdsPayload({ webhook, parsedReader }: AdmittedRequest): boolean {
  return parsedReader !== null || webhook.routes.some(({ matches }) => matches !== null);
}

/**
 * Prepares the responses of the webhook's own, and tells whether one holds the payload. Before the
 * run, as after it an error would have the sender send again what ran. Throws `unavailable`.
 */
async function prepareCustomResponses(
  exchange: Exchange, admission: AdmittedRequest,
): Promise<boolean> {
  try {
    return await loadCustomResponse(({ prepareResponses }) => prepareResponses(admission));
  } catch (thrown) {
    throw thrown instanceof AppError ? rejectUnstored(exchange, admission.webhook, thrown) : thrown;
  }
}

function rejectBusy(exchange: Exchange, webhook: ReadyIncomingWebhook, finding: string): AppError {
  return reject(exchange, webhook, {
    code: 'unavailable', message: 'Too many requests in progress', check: null, finding,
    details: { retryAfterS: BUSY_RETRY_S },
  });
}

function reportOutcome(
  { clock, onOutcome }: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
  outcome: 'accepted' | 'failed',
): void {
  const durationMs = clock.monotonicMs() - exchange.startedMs;
  onOutcome('requests', webhook.identifier, outcome, durationMs);
}

/** The error to throw for a body that could not be read. */
function rejectUnreadBody(
  exchange: Exchange, webhook: ReadyIncomingWebhook, thrown: unknown,
): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const { code, message } = thrown;
  const isSendersFault = code === 'too_large' || code === 'timeout' || code === 'malformed';
  if (!isSendersFault) return thrown;
  const check = code === 'too_large' ? 'size' : null;
  return reject(exchange, webhook, { code, message, finding: message, check });
}

/**
 * Verifies a request: it is admitted, or a handshake with its response. Throws `unauthorized` for a
 * request that is not its sender's, and `too_large` for one whose plain body is. A body is decoded
 * late: who cannot sign makes us decode none, unless what is signed is the plain one.
 */
function admit(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer,
  reader: RequestReader | null,
): AdmittedRequest | ChallengeResponse {
  const { clock, limits, previousSecretUses } = deps;
  const { sender } = webhook;
  const atMs = clock.now();
  const verdict = sender === null || reader === null
    ? verifySignature(webhook, exchange, body, {
      nowMs: atMs, isUnsignedAllowed: limits.allowUnsignedWhenSecretMissing,
    }) : verifySender(sender, reader, atMs);
  // A verdict is an admission, the response to a handshake (it has a status), or a refusal.
  if ('isAdmitted' in verdict) {
    checkContent(deps, exchange, webhook, { body, reader });
    if (verdict.verified?.secret === 'previous') previousSecretUses.record(webhook, atMs);
    const { verified, signedAtMs } = verdict;
    const plainBody = reader?.plainBody() ?? body;
    if (!isDecoded(plainBody) && plainBody.isTooLarge) {
      throw rejectTooLarge(exchange, webhook, plainBody.reason);
    }
    return {
      exchange, webhook, body, plainBody, parsedReader: reader,
      decoded: new DecodedBody(webhook.hasRoutes),
      eventNames: new EventNames(reader, webhook),
      verified, signedAtMs, receivedAtMs: atMs, unparsed: null,
    };
  }
  if ('status' in verdict) return verdict;
  throw recordAndReject(deps, exchange, webhook, body, {
    code: 'unauthorized', message: UNVERIFIED_MESSAGE, finding: verdict.finding,
    check: verdict.check,
    // No WWW-Authenticate: a signature is asked for, and no token would help.
    details: { challenge: null },
    // A sender sends again by itself what was rejected: a line a second tells it.
    ...sender === null ? {} : { linesMax: 1 },
  });
}

/** Throws `malformed` for a genuine request that lacks what its sender's requests have. */
function checkContent(
  deps: ReceiveDeps, exchange: Exchange, webhook: ReadyIncomingWebhook,
  { body, reader }: { readonly body: Buffer; readonly reader: RequestReader | null },
): void {
  const { sender } = webhook;
  if (sender === null || reader === null) return;
  const finding = sender.verifier.quirk.findContentProblem?.(reader) ?? null;
  if (finding === null) return;
  throw recordAndReject(deps, exchange, webhook, body, {
    code: 'malformed', message: 'Bad request', finding, check: 'parts', linesMax: 1,
  });
}

/**
 * The error to throw if a request was not stored, or we cannot know: the sender must try again,
 * unless the request never fits.
 */
function rejectUnstored(
  exchange: Exchange, webhook: ReadyIncomingWebhook, thrown: AppError,
): AppError {
  if (thrown.code === 'too_large') {
    return reject(exchange, webhook, {
      code: 'too_large', message: 'Too large to be kept', finding: thrown.message, check: 'size',
    });
  }
  const isFull = thrown.code === 'storage_full';
  const isTold = thrown instanceof SwitchedOffError || thrown instanceof NeverFitsError;
  const refusal = isTold ? thrown.message : 'Cannot be accepted now';
  return reject(exchange, webhook, {
    code: isFull ? 'storage_full' : 'unavailable',
    message: isFull ? 'Storage is full' : refusal,
    finding: thrown.message, check: null,
    details: { retryAfterS: thrown.details.retryAfterS ?? FULL_RETRY_S },
  });
}
