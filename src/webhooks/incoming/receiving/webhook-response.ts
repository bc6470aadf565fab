/**
 * The responses of the public endpoint. Each body is exactly `{"success", "message", "data"}`,
 * unless the webhook or its preset has a response of its own (custom-response.ts).
 */
import { CHAIN_REFUSED } from '../../../base/webhook-chain.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { formatHeaders } from '../../../server/exchange/header-text.ts';
import type { ErrorFormat, Exchange } from '../../../server/http-route.ts';
import { isJsonType } from '../../members/templates/content-type.ts';
import type { CustomResponse, CustomResponses, ResponseOutcome } from '../custom-response.ts';
import { ActionResult } from '../../actions/action.ts';
import { ChainRefusal, FAILED_MESSAGE, encodeData } from '../../actions/run-action.ts';
import type { RouteOutcome } from '../run-webhook-routes.ts';

const JSON_TYPE = 'application/json';
const JSON_HEADERS = formatHeaders(['Content-Type', JSON_TYPE]);
const CHAIN_REFUSED_HEADERS = formatHeaders(
  ['Content-Type', JSON_TYPE, 'X-Hookshelf-Chain', CHAIN_REFUSED]);

const NO_DATA = '{}';

/** The messages that replace those of an error, as the caller may be anybody. */
const PUBLIC_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  malformed: 'Bad request',
  timeout: 'Request timeout',
  too_large: 'Payload too large',
  internal: 'Internal error',
};

/**
 * Errors of the program that we are mounted in. The sender may be its author, so they are
 * explained.
 */
const EXPLAINED_CODES: readonly ErrorCode[] = ['misconfigured'];

export const receiveErrorFormat: ErrorFormat = {
  mediaType: JSON_TYPE,
  encode: (code, message) => encodeFailure(EXPLAINED_CODES.includes(code)
    ? `Internal error: ${message}` : PUBLIC_MESSAGES[code] ?? message),
};

export type WebhookResponse = {
  /** A response of the webhook's own has another status: see `findSentStatus`. */
  readonly status: 200 | 400; readonly body: string;
  readonly outcome: Exclude<ResponseOutcome, 'rejected'>;
  /**
   * The members `message` and `data` of the body. The body of failed routes has no data, but a
   * response of the webhook's own may.
   */
  readonly message: string;
  readonly dataJson: string;
  /** The stored request that it tells of; null: none is stored, or not yet. */
  requestId: string | null;
  /** The request's chain of webhooks was refused, here or further on. */
  readonly isChainRefused?: boolean;
};

type ResultResponse = WebhookResponse & { readonly result: ActionResult };

/** The members of a request that say which response of its own it gets. */
export type AnsweredRequest = {
  readonly webhook: { readonly responses: ReadyResponses | null };
  readonly exchange: Pick<Exchange, 'request'>;
};

/** The responses in place of the JSON. A webhook has one of the two at least. */
export type ReadyResponses = {
  /** null: its member `response` is absent. */
  readonly own: CustomResponses | null;
  /** For requests that are no JSON, unless the webhook has responses of its own. */
  readonly preset: CustomResponses | null;
};

/** The response in place of the JSON; null: there is none. */
export function findCustomResponse(
  { webhook, exchange }: AnsweredRequest, outcome: ResponseOutcome,
): CustomResponse | null {
  if (webhook.responses === null) return null;
  const { own, preset } = webhook.responses;
  const { 'content-type': contentType = '' } = exchange.request.headers;
  const isPresets = own === null && preset !== null && !isJsonType(contentType);
  const responses = own ?? (isPresets ? preset : null);
  if (responses === null) return null;
  const response = responses[outcome] ?? null;
  return response === null && outcome === 'unmatched' ? responses.accepted ?? null : response;
}

export function findSentStatus(
  request: AnsweredRequest, { status, outcome }: Pick<WebhookResponse, 'status' | 'outcome'>,
): number {
  const hasOwn = request.webhook.responses !== null;
  return hasOwn ? findCustomResponse(request, outcome)?.status ?? status : status;
}

/** Sets the stored request that a response tells of. A copy would take a microsecond. */
export function setRequestId(
  response: WebhookResponse, requestId: string | null,
): WebhookResponse {
  response.requestId = requestId;
  return response;
}

export function sendWebhookResponse(
  exchange: Exchange, { status, body, isChainRefused = false }: WebhookResponse,
): void {
  exchange.send(status, isChainRefused ? CHAIN_REFUSED_HEADERS : JSON_HEADERS, body);
}

export function buildResultResponse(
  result: ActionResult, source: { readonly log: Logger },
): ResultResponse {
  const dataJson = encodeData(result.data, source);
  return dataJson !== null ? buildOutcomeResponse({ result, dataJson })
    : buildOutcomeResponse({ result: ActionResult.fail(FAILED_MESSAGE), dataJson: NO_DATA });
}

/** The response of a webhook with an `actionConfiguration`. */
export function buildOutcomeResponse(
  { result, dataJson }: Pick<RouteOutcome, 'result' | 'dataJson'>,
): ResultResponse {
  const { success } = result;
  const message = result.message ?? '';
  const status = success ? 200 : 400;
  const outcome = success ? 'accepted' : 'failed';
  const isChainRefused = result instanceof ChainRefusal;
  // A string is sent in one write with its head; a buffer would take two.
  const body = `{"success":${success},"message":${JSON.stringify(message)},"data":${dataJson}}`;
  return { status, outcome, body, message, result, dataJson, requestId: null, isChainRefused };
}

/**
 * The response of a webhook with routes: the data of each route that ran, or the message of the
 * first that failed.
 */
export function buildRoutesResponse(outcomes: readonly RouteOutcome[]): WebhookResponse {
  const isChainRefused = outcomes.some(({ result }) => result instanceof ChainRefusal);
  const failure = outcomes.find(({ result }) => !result.success);
  if (outcomes.length === 0) return buildSuccess('Filtered', NO_DATA);
  const routes = outcomes.map(({ name, dataJson }) => `${JSON.stringify(name)}:${dataJson}`);
  const dataJson = `{"routes":{${routes.join(',')}}}`;
  if (failure !== undefined) {
    const message = failure.result.message ?? '';
    return {
      status: 400, outcome: 'failed', body: encodeFailure(message), message, dataJson,
      requestId: null, isChainRefused,
    };
  }
  const response = buildSuccess('', dataJson);
  return isChainRefused ? { ...response, isChainRefused } : response;
}

const OUTCOMES_BY_MESSAGE = {
  '': 'accepted', Filtered: 'unmatched', Duplicate: 'duplicate',
} as const;
type SuccessMessage = keyof typeof OUTCOMES_BY_MESSAGE;

/** The response to a request that is on disk. */
export function buildAcceptedResponse(id: string, message: SuccessMessage): WebhookResponse {
  return buildSuccess(message, `{"request":"${id}"}`, id);
}

/** The response to a duplicate; `dataJson` is the data of the first response. */
export function buildDuplicateResponse(
  { dataJson, requestId }: { readonly dataJson: string; readonly requestId: string | null },
): WebhookResponse {
  return buildSuccess('Duplicate', dataJson, requestId);
}

function buildSuccess(
  message: SuccessMessage, dataJson: string, requestId: string | null = null,
): WebhookResponse {
  const outcome = OUTCOMES_BY_MESSAGE[message];
  const body = `{"success":true,"message":"${message}","data":${dataJson}}`;
  return { status: 200, outcome, body, message, dataJson, requestId };
}

function encodeFailure(message: string): string {
  return `{"success":false,"message":${JSON.stringify(message)},"data":{}}`;
}
