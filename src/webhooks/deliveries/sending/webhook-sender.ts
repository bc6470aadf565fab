/**
 * Signs and sends an outgoing request, for a single `send` and for each attempt of a delivery. A
 * failure to deliver is a result, never an exception; anything thrown is a bug.
 */
import { formatTimestamp, type Clock } from '../../../base/clock.ts';
import { isChainRefused, nextHop } from '../../../base/webhook-chain.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import { ProgramReplacedError } from '../../../base/lazy-import.ts';
import { createTaggedLogger } from '../../../base/log.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { NetworkError, type NetworkErrorKind } from '../../../client/network-error.ts';
import { parseRetryAfter } from '../../../client/policy/retry.ts';
import {
  isSuccessStatus, formatResponseBody, decodeTextStart, hideSecrets, listHeaderSecrets,
  RESPONSE_BYTES_MAX, SHOWN_BYTES_MAX, wasServerNotAsked, type TargetResponse, type HttpSender,
} from '../../members/http-sender.ts';
import { AuthorizedSender, type AuthorizedResponse } from './authorized-request.ts';
import type { BodyMaker, BodyOrigin } from './body-maker.ts';
import { addCloudEvent, createSentByHand } from './cloud-event.ts';
import type { SendOutcome } from '../delivery.ts';
import { SENT_BY_HAND } from '../durable-send.ts';
import { encodePayload } from '../../outgoing/encode-payload.ts';
import type { ReadyOutgoingWebhook } from '../../outgoing/outgoing-webhook-index.ts';
import type { SendOptions, SendResult } from '../../outgoing/send-options.ts';
import type { RelayContext } from '../../relay-context.ts';
import {
  addTrace, buildWebhookRequest, signRequest, type OutgoingRequest,
} from './outgoing-request.ts';

const GONE = 410;
/** An attempt is one request: the schedule says when the next follows. */
const NO_RETRIES = 0;
const UNMET_ERROR = 'the answer does not meet successWhen';
/** Failures of the host, unless there was a connection. A time-out is none. */
const UNREACHABLE_KINDS: ReadonlySet<NetworkErrorKind> =
  new Set(['network', 'certificate', 'denied']);
const DISABLED_MESSAGE = 'The webhook is disabled: events are not sent to it';

type SenderParts = Pick<RelayContext, 'clock' | 'makeId'> & {
  readonly bodies: Pick<BodyMaker, 'make'>;
  readonly authorizedSender: AuthorizedSender;
  readonly cloudEventSource: string | undefined;
};

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** `cloudEventSource` is for the format `cloudevents`; undefined: that of all hookshelves. */
export function createWebhookSender(
  { clock, makeId, log }: RelayContext, http: HttpSender, bodies: Pick<BodyMaker, 'make'>,
  cloudEventSource?: string,
) {
  const parts: SenderParts = {
    clock, makeId, bodies, authorizedSender: new AuthorizedSender(http, clock), cloudEventSource,
  };
  return {
    /** Sends a payload, also to a disabled webhook. A buffer is JSON that is sent byte for byte. */
    async send(
      webhook: ReadyOutgoingWebhook, payload: JsonValue | Buffer, options: SendOptions,
      origin: BodyOrigin = { hops: 0, log },
    ): Promise<SendResult> {
      return mentionDisabled(webhook, await sendNow(parts, webhook, payload, origin, options));
    },
    attempt: (request: OutgoingRequest, signal: AbortSignal): Promise<SendOutcome | null> =>
      makeAttempt(parts, request, signal),
  };
}

/** The caller is told that events are not sent to a disabled webhook. */
function mentionDisabled(webhook: ReadyOutgoingWebhook, result: SendResult): SendResult {
  if (webhook.enabled) return result;
  const { success, message } = result;
  return {
    success, message: message === undefined ? DISABLED_MESSAGE : `${message}. ${DISABLED_MESSAGE}`,
    statusCode: result.statusCode, response: result.response,
  };
}

async function sendNow(
  parts: SenderParts, webhook: ReadyOutgoingWebhook, payload: JsonValue | Buffer,
  origin: BodyOrigin, { retries = 0 }: SendOptions,
): Promise<SendResult> {
  const { authorizedSender, clock, bodies, makeId, cloudEventSource } = parts;
  const log = createTaggedLogger(origin.log, webhook.labels);
  let isActionRefused = false;
  const onChainRefused = (): void => {
    isActionRefused = true;
    origin.onChainRefused?.();
  };
  const fail = (message: string): SendResult =>
    ({ success: false, message, statusCode: null, response: null });
  let request: OutgoingRequest;
  try {
    const hops = nextHop(origin.hops, () => webhook.labels.target);
    const event = { name: SENT_BY_HAND, createdAt: formatTimestamp(clock.now()) };
    const json = Buffer.isBuffer(payload) ? payload : Buffer.from(encodePayload(payload));
    const body = await bodies.make(webhook, json, event, { ...origin, log, onChainRefused });
    const dialect = webhook.getSigner === null ? null
      : { signer: webhook.getSigner(), event: event.name };
    request = addTrace(
      buildWebhookRequest(webhook, makeId(), body, hops, dialect), origin.trace ?? null);
    if (webhook.format === 'cloudevents') {
      const { createdAt } = event;
      request = addCloudEvent(request, createSentByHand(request.id, createdAt, cloudEventSource));
    }
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const { chainHops: hops } = thrown.details;
    // A refused request of the action has been logged already.
    log[isActionRefused ? 'debug' : 'warning']('nothing was sent',
      { error: messageOf(thrown), ...hops === undefined ? {} : { hops } });
    if (hops !== undefined) origin.onChainRefused?.();
    return fail(`Nothing was sent: ${messageOf(thrown)}`);
  }
  try {
    const signedRequest = signRequest(request, clock.now(), retries);
    const response = await authorizedSender.send(request.oauth2, signedRequest.http);
    const { statusCode, tokenError } = response;
    const success = isDelivered(request, response);
    const wasChainRefused = isChainRefused(response.headers);
    if (wasChainRefused) origin.onChainRefused?.();
    log[success || wasChainRefused ? 'debug' : 'warning'](
      'an outgoing webhook was sent',
      { statusCode, ...tokenError === undefined ? {} : { error: tokenError } });
    const shownBody = formatResponseBody(
      hideSentSecrets(response, request, signedRequest.sentSecrets, SHOWN_BYTES_MAX));
    if (success) return { success, statusCode, response: shownBody };
    const reason = tokenError === undefined ? '' : `, and there was ${tokenError}`;
    const unmet = isSuccessStatus(statusCode) ? `, but ${UNMET_ERROR}` : '';
    const message = `The target answered ${statusCode}${reason}${unmet}`;
    return { success, message, statusCode, response: shownBody };
  } catch (thrown) {
    if (thrown instanceof AppError) {
      log.warning('nothing was sent', { error: messageOf(thrown) });
      return fail(`Nothing was sent: ${messageOf(thrown)}`);
    }
    if (!(thrown instanceof NetworkError)) throw thrown;
    log.warning('an outgoing webhook could not be sent', { error: thrown.code });
    return fail(describeFailure(thrown));
  }
}

/** Names neither target nor credentials. */
function describeFailure(error: NetworkError): string {
  const { code, wasConnected, timeoutMs } = error;
  if (wasServerNotAsked(error)) return `The request could not be sent: ${error.message}`;
  if (!wasConnected) return `The target could not be reached: ${code}`;
  return timeoutMs === null ? `The target gave no answer: ${code}`
    : `The target gave no answer within ${Math.round(timeoutMs) / 1000} s`;
}

async function makeAttempt(
  { authorizedSender, clock }: SenderParts, request: OutgoingRequest, signal: AbortSignal,
): Promise<SendOutcome | null> {
  const startedAt = clock.now();
  const startedMs = clock.monotonicMs();
  const createAttempt = (
    statusCode: number | null, error: string | null, response: string | null,
  ) => ({
    at: formatTimestamp(startedAt),
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    statusCode, error, response,
  });
  const signedRequest = signRequest(request, startedAt, NO_RETRIES, signal);
  const { shown, sentSecrets } = signedRequest;
  try {
    const response = await authorizedSender.send(request.oauth2, signedRequest.http);
    const { statusCode, tokenError = null } = response;
    const publicBody = hideSentSecrets(response, request, sentSecrets, RESPONSE_BYTES_MAX);
    const responseStart = decodeTextStart(publicBody, RESPONSE_BYTES_MAX);
    const isSuccess = isDelivered(request, response);
    const unmetError = !isSuccess && isSuccessStatus(statusCode) ? UNMET_ERROR : null;
    const deliveryAttempt = createAttempt(statusCode, tokenError ?? unmetError, responseStart);
    const end = classifyResponse(statusCode, isSuccess);
    if (end !== 'failed') return { end, attempt: deliveryAttempt, shown, retryAfterMs: 0 };
    return {
      end, attempt: deliveryAttempt, shown, retryAfterMs: readRetryAfterMs(response, clock),
      isChainRefused: isChainRefused(response.headers),
    };
  } catch (thrown) {
    if (!(thrown instanceof NetworkError) && !(thrown instanceof AppError)) throw thrown;
    if (signal.aborted) return null;
    if (thrown instanceof AppError) {
      const { retryAfterS = 0 } = thrown.details;
      const attempt = createAttempt(null, messageOf(thrown), null);
      const end = thrown instanceof ProgramReplacedError ? 'notAsked' : 'failed';
      return { end, attempt, retryAfterMs: retryAfterS * 1000, isUnsent: true };
    }
    const end = wasServerNotAsked(thrown) ? 'notAsked' : 'failed';
    return {
      end, attempt: createAttempt(null, thrown.code, null), shown, retryAfterMs: 0,
      isUnreachable: !thrown.wasConnected && UNREACHABLE_KINDS.has(thrown.kind),
    };
  }
}

/** Hides in the body of a response what a target may repeat of its request. */
function hideSentSecrets(
  { body, accessToken }: AuthorizedResponse, { headers }: OutgoingRequest,
  sentSecrets: readonly string[], shownBytesMax: number,
): Buffer {
  if (body.length === 0) return body;
  const tokens = accessToken === undefined ? [] : [accessToken];
  const secrets = [...sentSecrets, ...tokens, ...listHeaderSecrets(headers)];
  return hideSecrets(body, secrets, shownBytesMax);
}

function isDelivered(
  { isSuccess = null }: OutgoingRequest, { statusCode, body, tokenError }: AuthorizedResponse,
): boolean {
  if (isSuccess === null || tokenError !== undefined) return isSuccessStatus(statusCode);
  return isSuccess(statusCode, body);
}

function classifyResponse(statusCode: number, isSuccess: boolean): SendOutcome['end'] {
  if (isSuccess) return 'delivered';
  return statusCode === GONE ? 'gone' : 'failed';
}

function readRetryAfterMs(response: TargetResponse, clock: Clock): number {
  const header = response.headers['retry-after'];
  return typeof header === 'string' ? parseRetryAfter(header, clock.now()) ?? 0 : 0;
}
