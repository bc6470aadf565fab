/**
 * Signs and sends one outgoing request, and says what came of it. A single `send` and each attempt
 * of a durable delivery go through here. A failed delivery is a result, never an exception.
 */
import { formatTimestamp } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { isChainRefused, nextHop } from '../../base/webhook-chain.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import { createTaggedLogger } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import { NetworkError } from '../../client/network-error.ts';
import { parseRetryAfter } from '../../client/policy/retry.ts';
import {
  isSuccessStatus, networkErrorCode, formatResponseBody, decodeTextStart,
  type TargetResponse, type HttpSender,
} from '../http/http-sender.ts';
import type { PassedHeaders } from '../http/pass-through.ts';
import type { PreviousSecret } from '../http/rotate-secret.ts';
import { hasRequestBody } from '../http/target-rules.ts';
import type { BodyMaker, BodyOrigin } from './body-maker.ts';
import { RESPONSE_BYTES_MAX, type AttemptOutcome } from '../deliveries/delivery.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import type { SendOptions } from '../outgoing/send-options.ts';
import { createSignatureHeaders } from '../outgoing/outgoing-signature.ts';

export type SendResult = {
  readonly success: boolean;
  readonly message?: string;
  /** null without an answer. */
  readonly statusCode: number | null;
  /** The answer's body: parsed when it is JSON, else text; null without an answer. */
  readonly response: unknown;
};

/** A request that is ready to be sent; only the signature, which holds the time, is missing. */
export type DeliveryRequest = {
  /** The `webhook-id`, the same over retries. */
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly headers: PassedHeaders;
  readonly secret: string | null;
  /** The secret before it; it may count no more. */
  readonly previousSecret: PreviousSecret | null;
  /** null: the method has none. */
  readonly body: Buffer | null;
  /** For an attempt, and for all of them together; the client's own when not given. */
  readonly timeoutMs?: number | undefined;
};

export interface WebhookSender {
  /** To a disabled webhook, too. Never throws for a failed delivery. */
  send(hook: ReadyOutgoingWebhook, payload: JsonValue, options: SendOptions): Promise<SendResult>;
  /** `send` with a payload that is JSON text, which is sent as it is. */
  sendText(
    hook: ReadyOutgoingWebhook, payloadJson: Buffer, origin: BodyOrigin, options: SendOptions,
  ): Promise<SendResult>;
  /** One attempt of a durable delivery; null when it was abandoned by the signal. */
  attempt(request: DeliveryRequest, signal: AbortSignal): Promise<AttemptOutcome | null>;
}

const NO_BODY = Buffer.alloc(0);
const GONE = 410;
const DISABLED_MESSAGE = 'The webhook is disabled: events are not sent to it';

type WebhookSenderDeps = {
  readonly http: HttpSender;
  readonly bodies: BodyMaker;
  readonly makeId: () => string;
  readonly clock: Clock;
  readonly log: Logger;
};

export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  return {
    async send(hook, payload, options) {
      const origin = { hops: 0, log: deps.log };
      return mentionDisabled(hook,
        await sendNow(deps, hook, () => encodeJsonPayload(payload), origin, options));
    },
    async sendText(hook, payloadJson, origin, options) {
      return mentionDisabled(hook, await sendNow(deps, hook, () => payloadJson, origin, options));
    },
    attempt: (request, signal) => attempt(deps, request, signal),
  };
}

/** A hook's request by what its record says now; `hops` is the length of its chain. */
export function buildRequest(
  hook: ReadyOutgoingWebhook, id: string, body: Buffer, hops: number,
): DeliveryRequest {
  return {
    id,
    url: hook.targetUrl,
    method: hook.httpMethod,
    headers: hook.createHeaders(hops),
    secret: hook.secret ?? null,
    previousSecret: hook.previousSecret ?? null,
    body: hasRequestBody(hook.httpMethod) ? body : null,
    timeoutMs: hook.timeout === undefined ? undefined : hook.timeout * 1000,
  };
}

/** A disabled webhook is sent to by hand alone, which whoever tries it has to know. */
function mentionDisabled(hook: ReadyOutgoingWebhook, result: SendResult): SendResult {
  if (hook.enabled) return result;
  const { success, message } = result;
  return {
    success, message: message === undefined ? DISABLED_MESSAGE : `${message}. ${DISABLED_MESSAGE}`,
    statusCode: result.statusCode, response: result.response,
  };
}

async function sendNow(
  deps: WebhookSenderDeps, hook: ReadyOutgoingWebhook, encode: () => Buffer, origin: BodyOrigin,
  { retries = 0 }: SendOptions,
): Promise<SendResult> {
  const { http, clock } = deps;
  const log = createTaggedLogger(origin.log, hook.labels);
  let isRefused = false;
  const onChainRefused = (): void => {
    isRefused = true;
    origin.onChainRefused?.();
  };
  const fail = (message: string): SendResult =>
    ({ success: false, message, statusCode: null, response: null });
  let request: DeliveryRequest;
  try {
    const hops = nextHop(origin.hops, () => hook.labels.target);
    const body = await deps.bodies.make(hook, encode(), { ...origin, log, onChainRefused });
    request = buildRequest(hook, deps.makeId(), body, hops);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const { chainHops: hops } = thrown.details;
    // Where the action was refused it has been logged already.
    log[isRefused ? 'debug' : 'warning']('nothing was sent',
      { error: messageOf(thrown), ...hops === undefined ? {} : { hops } });
    if (hops !== undefined) onChainRefused();
    return fail(`Nothing was sent: ${messageOf(thrown)}`);
  }
  try {
    const response = await http.request(toHttpRequest(request, clock.now(), retries));
    const { statusCode } = response;
    const success = isSuccessStatus(statusCode);
    if (isChainRefused(response.headers)) onChainRefused();
    log[success || isRefused ? 'debug' : 'warning']('an outgoing webhook was sent', { statusCode });
    const message = success ? {} : { message: `The target answered ${statusCode}` };
    return { success, ...message, statusCode, response: formatResponseBody(response.body) };
  } catch (thrown) {
    log.warning('an outgoing webhook could not be sent', { error: networkErrorCode(thrown) });
    return fail(describeFailure(thrown));
  }
}

/** Why the target gave no answer. Names neither target nor credentials. */
function describeFailure(thrown: unknown): string {
  const code = networkErrorCode(thrown);
  if (!(thrown instanceof NetworkError) || !thrown.wasConnected) {
    return `The target could not be reached: ${code}`;
  }
  const { timeoutMs } = thrown;
  return timeoutMs === null ? `The target gave no answer: ${code}`
    : `The target gave no answer within ${Math.round(timeoutMs) / 1000} s`;
}

async function attempt(
  { http, clock }: WebhookSenderDeps, request: DeliveryRequest, signal: AbortSignal,
): Promise<AttemptOutcome | null> {
  const startedAt = clock.now();
  const startedMs = clock.monotonicMs();
  const createAttempt = (
    statusCode: number | null, error: string | null, response: string | null,
  ) => ({
    at: formatTimestamp(startedAt),
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    statusCode, error, response,
  });
  try {
    const response = await http.request(toHttpRequest(request, startedAt, 0, signal));
    const { statusCode } = response;
    const responseStart = decodeTextStart(response.body, RESPONSE_BYTES_MAX);
    const finished = createAttempt(statusCode, null, responseStart);
    const kind = classifyStatus(statusCode);
    if (kind !== 'failed') return { kind, attempt: finished, retryAfterMs: 0 };
    return {
      kind, attempt: finished, retryAfterMs: readRetryAfterMs(response, clock),
      isChainRefused: isChainRefused(response.headers),
    };
  } catch (thrown) {
    if (signal.aborted) return null;
    const kind = wasTargetSpared(thrown) ? 'proxy' : 'failed';
    return { kind, attempt: createAttempt(null, networkErrorCode(thrown), null), retryAfterMs: 0 };
  }
}

function toHttpRequest(
  request: DeliveryRequest, atMs: number, retries: number, signal?: AbortSignal,
): HttpRequest {
  const { id, url, method, secret, previousSecret, body, timeoutMs } = request;
  const headers = secret === null ? request.headers
    : {
      ...request.headers,
      ...createSignatureHeaders(secret, id, atMs, body ?? NO_BODY, previousSecret),
    };
  return {
    method, url, headers, body: body ?? undefined, timeoutMs, totalTimeoutMs: timeoutMs, retries,
    signal,
  };
}

function classifyStatus(statusCode: number): AttemptOutcome['kind'] {
  if (isSuccessStatus(statusCode)) return 'delivered';
  return statusCode === GONE ? 'gone' : 'failed';
}

function readRetryAfterMs(response: TargetResponse, clock: Clock): number {
  const header = response.headers['retry-after'];
  return typeof header === 'string' ? parseRetryAfter(header, clock.now()) ?? 0 : 0;
}

/** The proxy's failure, or ours: the target was never asked. */
function wasTargetSpared(thrown: unknown): boolean {
  return thrown instanceof NetworkError && (thrown.isProxyFailure || thrown.kind === 'busy');
}

function encodeJsonPayload(payload: JsonValue): Buffer {
  try {
    const json: string | undefined = JSON.stringify(payload);
    return Buffer.from(json ?? 'null', 'utf8');
  } catch (thrown) {
    throw new AppError('invalid', 'the payload is not JSON', {}, thrown);
  }
}
