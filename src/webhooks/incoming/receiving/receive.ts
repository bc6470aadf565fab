/**
 * The public endpoint: ANY /webhook/in/{pathSegment}, and the same below `server.webhookPath`.
 * `receive` takes these steps:
 *
 * 1. `checkBeforeBody` checks what needs no body: enabled, method, address and rate.
 * 2. The body is read, up to its limit.
 * 3. `admit` counts the fields of a form, verifies the sender, and checks the parts and the plain
 *    body of a genuine request.
 * 4. A handshake is answered, and the steps end.
 * 5. There must be room: for another run, and for the memory of this request.
 * 6. The intake runs or stores the request, and its result is the response.
 *
 * The first check that fails rejects the request; a webhook may have a response of its own to 401
 * and 403. rejection-reasons.ts has what the sender and the owner are told of each rejection.
 */
import { isPromise } from 'node:util/types';
import { AppError, type ErrorCode } from '../../../base/errors.ts';
import { createTaggedLogger } from '../../../base/log.ts';
import type { MemoryBudget } from '../../../base/memory-budget.ts';
import type { MaybePromise } from '../../../base/when-done.ts';
import type { Exchange, Handler } from '../../../server/http-route.ts';
import { findStatus } from '../../../server/problem.ts';
import type { HandshakeResponse } from '../../senders/verification/handshake.ts';
import type { CustomResponse } from '../custom-response.ts';
import type { StoredRequest } from '../stored-request.ts';
import {
  findCustomResponse, sendWebhookResponse, type WebhookResponse,
} from './webhook-response.ts';
import { IncomingBody } from './incoming-body.ts';
import type { IncomingWebhookIndex, ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import type { RecordPreviousSecretUse } from './previous-secret-uses.ts';
import { AdmittedRequest } from './admitted-request.ts';
import { prepareResponses, sendCustomResponse, sendRejection } from './send-custom-response.ts';
import {
  DISABLED_REJECTION, LATE_HANDSHAKE_REJECTION, describeBusy, describeExcess, describeMissingParts,
  describeRateExcess, describeUnknownPath, describeUnreadBody, describeUnstored,
  describeUnverified, describeWrongAddress, describeWrongMethod,
} from './rejection-reasons.ts';
import type { Rejection } from './webhook-traffic.ts';
import type { OnOutcome } from '../../outcome-listeners.ts';
import type { RelayContext } from '../../relay-context.ts';
import { storeAwaitedSecret } from '../awaited-secret.ts';
import {
  createReader, isHandshakeMethod, verifySender, verifySignature,
} from './verify-request.ts';

export type Reception = Pick<RelayContext, 'store' | 'clock'> & {
  readonly webhooks: IncomingWebhookIndex;
  /** Runs or stores the request. See `Intake.handle` for its errors. */
  readonly intake: { handle(request: AdmittedRequest): MaybePromise<WebhookResponse> };
  /** Keeps a rejected request for people to look at. */
  readonly addRejected: (
    exchange: Exchange, webhook: ReadyIncomingWebhook, rejected: RejectedCall) => void;
  readonly recordPreviousSecretUse: RecordPreviousSecretUse;
  readonly health: HealthMonitor;
  readonly memoryBudget: MemoryBudget;
  readonly onOutcome: OnOutcome;
  readonly limits: {
    readonly allowUnsignedWhenSecretMissing: boolean;
    /** Actions that may run at once for a webhook that has no limit of its own. */
    readonly maxConcurrent: number;
  };
};

export type RejectedCall = {
  /** null: it was not read. */
  readonly body: Buffer | null;
  readonly check: Rejection['check'];
  readonly answered: NonNullable<StoredRequest['answered']>;
};

const REJECTED_CODES: readonly ErrorCode[] = ['unauthorized', 'forbidden'];

export function createReceiveHandler(reception: Reception): Handler {
  return (exchange) => {
    const webhook = reception.webhooks.findByPath(exchange.params[0] ?? '');
    if (webhook === undefined) rejectUnknown(reception.webhooks, exchange);
    return webhook.responses === null ? receive(reception, exchange, webhook)
      : receiveOrSendRejection(reception, exchange, webhook);
  };
}

/** Sends the webhook's own response, if it has one for that, to a rejection with 401 or 403. */
async function receiveOrSendRejection(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook,
): Promise<void> {
  try {
    await receive(reception, exchange, webhook);
  } catch (thrown) {
    const custom = thrown instanceof AppError ? findOwnRejection(exchange, webhook, thrown.code)
      : null;
    if (custom === null) throw thrown;
    sendRejection(exchange, custom);
  }
}

/** The webhook's own response to a rejection with 401 or 403; null: it has none to this one. */
function findOwnRejection(
  exchange: Exchange, webhook: ReadyIncomingWebhook, code: ErrorCode,
): CustomResponse | null {
  return REJECTED_CODES.includes(code) ? findCustomResponse({ webhook, exchange }, 'rejected')
    : null;
}

/** Rejects a path that no webhook can have as `createReceiveHandler` rejects an unknown path. */
export function createUnknownPathHandler(webhooks: IncomingWebhookIndex): Handler {
  return (exchange) => rejectUnknown(webhooks, exchange);
}

function rejectUnknown(webhooks: IncomingWebhookIndex, exchange: Exchange): never {
  webhooks.unknownPathRejections.reject(exchange, null, describeUnknownPath(exchange));
}

/**
 * Counts, logs and throws a rejection. It keeps nothing of the request. Called alone where a look
 * at the request would not help the owner: the webhook is disabled, the method is wrong, the body
 * is too large or unreadable, or there is no room.
 */
function reject(exchange: Exchange, webhook: ReadyIncomingWebhook, rejection: Rejection): never {
  webhook.traffic.rejections.reject(exchange, webhook, rejection,
    findRejectionStatus(exchange, webhook, rejection));
}

/** The status that is sent, which a response of the webhook's own may have chosen. */
function findRejectionStatus(
  exchange: Exchange, webhook: ReadyIncomingWebhook, { code }: Rejection,
): number {
  return findOwnRejection(exchange, webhook, code)?.status ?? findStatus(code);
}

/**
 * Keeps a request for people to look at, records it for the health of its webhook, and rejects it.
 * Called where the owner may have to change a setting of the webhook or of the sender: for the
 * address, the rate, the signature, the handshake, or parts that the request lacks. `body` is null
 * when it was not read.
 */
function recordAndReject(
  { addRejected, health, clock }: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook,
  body: Buffer | null, rejection: Rejection,
): never {
  const { check } = rejection;
  const status = findRejectionStatus(exchange, webhook, rejection);
  const afterMs = Math.round(clock.monotonicMs() - exchange.startedMs);
  addRejected(exchange, webhook, { body, check, answered: { status, afterMs } });
  // A request beyond the rate limit is no sign that the webhook or its sender is set up wrongly.
  if (check !== null && check !== 'rate') {
    health.recordRejectedRequest(webhook.identifier, { atMs: clock.now(), reason: check });
  }
  webhook.traffic.rejections.reject(exchange, webhook, rejection, status);
}

/** Rejects a request for an AppError of storing, running or answering it, and rethrows a bug. */
function rejectOrRethrow(
  exchange: Exchange, webhook: ReadyIncomingWebhook, thrown: unknown,
): never {
  if (thrown instanceof AppError) reject(exchange, webhook, describeUnstored(thrown));
  throw thrown;
}

function checkBeforeBody(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook,
): void {
  const { enabled, methods, addresses, traffic } = webhook;
  const { method = '' } = exchange.request;
  if (!enabled) reject(exchange, webhook, DISABLED_REJECTION);
  if (!methods.includes(method) && !isHandshakeMethod(webhook, exchange)) {
    reject(exchange, webhook, describeWrongMethod(webhook, exchange));
  }
  // A request over the control socket has no address, and may change the webhook as well.
  if (addresses !== null && !exchange.isControl
    && !addresses.hasLiteral(exchange.clientAddress)) {
    recordAndReject(reception, exchange, webhook, null, describeWrongAddress(exchange));
  }
  const retryAfterS = traffic.bucket?.take(reception.clock.monotonicMs()) ?? 0;
  if (retryAfterS > 0) {
    recordAndReject(reception, exchange, webhook, null, describeRateExcess(webhook, retryAfterS));
  }
}

async function receive(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook,
): Promise<void> {
  checkBeforeBody(reception, exchange, webhook);
  const { memoryBudget } = reception;
  let bodyBytes: Buffer;
  try {
    bodyBytes = await exchange.readBody();
  } catch (thrown) {
    const rejection = thrown instanceof AppError ? describeUnreadBody(thrown) : null;
    if (rejection !== null) reject(exchange, webhook, rejection);
    throw thrown;
  }
  const admission = admit(reception, exchange, webhook, bodyBytes);
  if (!(admission instanceof AdmittedRequest)) {
    return answerHandshake(reception, exchange, webhook, bodyBytes, admission);
  }
  const { body, reader } = admission;
  reception.health.recordPassedRequest(webhook.identifier, reception.clock.now());
  const { traffic, maxConcurrent } = webhook;
  const runningMax = maxConcurrent ?? reception.limits.maxConcurrent;
  // `traffic.running` counts every request that is being handled. The limit is for requests that
  // run their actions now: a request that is answered as accepted is only stored, and runs later.
  const runsNow = webhook.answer === 'result';
  if (runsNow && traffic.running >= runningMax) {
    reject(exchange, webhook, describeBusy(
      `${traffic.running} actions are under way, which is ${maxConcurrent === undefined
        ? 'incoming.maxConcurrent' : 'its maxConcurrent'}`));
  }
  const responsesHavePayload = prepareCustomResponses(exchange, admission);
  // Any other request is stored as it came, and parsed when it runs.
  const isParsedNow = runsNow || responsesHavePayload || webhook.hasConditions || reader !== null
    || body.plain !== bodyBytes;
  const heldBytes = isParsedNow ? body.weighRun(runsNow ? webhook.routes.length : 0) : 0;
  if (!memoryBudget.reserve(heldBytes)) {
    reject(exchange, webhook, describeBusy('the requests under way leave no memory for this one'));
  }
  traffic.running += 1;
  try {
    const result = reception.intake.handle(admission);
    const response = isPromise(result) ? await result : result;
    const custom = webhook.responses === null ? null
      : findCustomResponse(admission, response.outcome);
    if (custom === null) sendWebhookResponse(exchange, response);
    else sendCustomResponse(admission, custom, response);
    reportOutcome(reception, exchange, webhook, response.status === 200 ? 'accepted' : 'failed');
  } catch (thrown) {
    // A bug counts as failed; `reject` counts an AppError as rejected.
    if (!(thrown instanceof AppError)) reportOutcome(reception, exchange, webhook, 'failed');
    rejectOrRethrow(exchange, webhook, thrown);
  } finally {
    traffic.running -= 1;
    memoryBudget.release(heldBytes);
  }
}

/**
 * Answers a handshake, by which the sender only asks whether we are there: no action runs, and
 * nothing is stored but the secret that it may bring.
 */
async function answerHandshake(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer,
  { status, type, body: text, headers, newSecret }: HandshakeResponse,
): Promise<void> {
  if (newSecret !== null) await takeSecret(reception, exchange, webhook, body, newSecret);
  reception.health.recordPassedRequest(webhook.identifier, reception.clock.now());
  reportOutcome(reception, exchange, webhook, 'accepted');
  exchange.send(status, ['Content-Type', type, ...headers], status === 204 ? undefined : text);
}

/** Throws `unauthorized` if another handshake was first. */
async function takeSecret(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook, body: Buffer,
  secret: string,
): Promise<void> {
  const { store, clock } = reception;
  let isStored: boolean;
  try {
    isStored = await storeAwaitedSecret(store, webhook.identifier, secret, clock.now());
  } catch (thrown) {
    rejectOrRethrow(exchange, webhook, thrown);
  }
  if (!isStored) {
    recordAndReject(reception, exchange, webhook, body, LATE_HANDSHAKE_REJECTION);
  }
  createTaggedLogger(exchange.log, webhook.labels).info(
    'the secret that a handshake brought is the webhook\'s', { client: exchange.clientAddress });
}

/**
 * Prepares the responses of the webhook's own, and tells whether one holds the payload. This is
 * done before the run: an error after it would have the sender send again. Throws `unavailable`.
 */
function prepareCustomResponses(exchange: Exchange, admission: AdmittedRequest): boolean {
  if (admission.webhook.responses === null) return false;
  try {
    return prepareResponses(admission);
  } catch (thrown) {
    rejectOrRethrow(exchange, admission.webhook, thrown);
  }
}

function reportOutcome(
  { clock, onOutcome }: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook,
  outcome: 'accepted' | 'failed',
): void {
  const durationMs = clock.monotonicMs() - exchange.startedMs;
  onOutcome('requests', webhook.identifier, outcome, durationMs);
}

/**
 * Verifies a request. Returns the admitted request, or the response to a handshake. Throws
 * `unauthorized` if the request is not its sender's, `malformed` if it lacks a part that the
 * requests of its sender have, and `too_large` if its form has too many fields or its plain body
 * too many bytes. The body is decoded after the verification, so that a caller who cannot sign
 * makes us decode only a form, or a plain body that is signed.
 */
function admit(
  reception: Reception, exchange: Exchange, webhook: ReadyIncomingWebhook, received: Buffer,
): AdmittedRequest | HandshakeResponse {
  const { sender, eventIdSources, bodyReading } = webhook;
  const reader = sender === null && eventIdSources === null ? null
    : createReader(exchange, received, sender, bodyReading.plainBytesMax);
  const body = new IncomingBody(received, exchange.request.headers, bodyReading, reader);
  const excessFields = body.findExcessFields();
  if (excessFields !== null) reject(exchange, webhook, describeExcess(excessFields));
  const atMs = reception.clock.now();
  const verdict = sender === null || reader === null
    ? verifySignature(webhook, exchange, received, {
      nowMs: atMs, isUnsignedAllowed: reception.limits.allowUnsignedWhenSecretMissing,
    }) : verifySender(sender, reader, atMs);
  // A rejection has a finding, the response to a handshake has a status, and the verdict of an
  // admission has neither.
  if ('finding' in verdict) {
    recordAndReject(reception, exchange, webhook, received, describeUnverified(webhook, verdict));
  }
  if ('status' in verdict) return verdict;
  const missing = reader === null ? null
    : sender?.verifier.quirk.findContentProblem?.(reader) ?? null;
  if (missing !== null) {
    recordAndReject(reception, exchange, webhook, received, describeMissingParts(missing));
  }
  if (verdict.secret === 'previous') reception.recordPreviousSecretUse(webhook, atMs);
  const excessBytes = body.findExcessBytes();
  if (excessBytes !== null) reject(exchange, webhook, describeExcess(excessBytes));
  return new AdmittedRequest(exchange, webhook, body, reader, verdict, atMs);
}
