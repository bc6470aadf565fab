/** The responses of the public endpoint. Each body is exactly `{"success", "message", "data"}`. */
import { CHAIN_REFUSED } from '../../../base/webhook-chain.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { formatHeaders } from '../../../server/exchange/header-text.ts';
import type { ErrorFormat, Exchange } from '../../../server/http-route.ts';
import { ActionResult } from '../../actions/action.ts';
import {
  ChainRefusal, FAILED_MESSAGE, encodeData, type LogHolder,
} from '../../actions/run-action.ts';
import type { RouteOutcome } from '../run-webhook-routes.ts';

const JSON_TYPE = 'application/json';
const JSON_HEADERS = formatHeaders(['Content-Type', JSON_TYPE]);
const CHAIN_REFUSED_HEADERS = formatHeaders(
  ['Content-Type', JSON_TYPE, 'X-Hookshelf-Chain', CHAIN_REFUSED]);
// A string is sent in one write with its head; a buffer would take two.
const EMPTY_SUCCESS = '{"success":true,"message":"","data":{}}';

const NO_DATA = '{}';
const FILTERED = '{"success":true,"message":"Filtered","data":{}}';

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

/** The response to a request. */
export type WebhookResponse = {
  readonly status: 200 | 400; readonly body: string;
  /** The member `data` of the body. */
  readonly dataJson: string;
  /** The request's chain of webhooks was refused, here or further on. */
  readonly isChainRefused?: boolean;
};

/** The response to a run, with the result that it was made of. */
type ResultResponse = WebhookResponse & { readonly result: ActionResult };

export function sendWebhookResponse(
  exchange: Exchange, { status, body, isChainRefused = false }: WebhookResponse,
): void {
  exchange.send(status, isChainRefused ? CHAIN_REFUSED_HEADERS : JSON_HEADERS, body);
}

export function buildResultResponse(result: ActionResult, holder: LogHolder): ResultResponse {
  const dataJson = encodeData(result.data, holder);
  return dataJson === null ? encodeResult(ActionResult.fail(FAILED_MESSAGE), NO_DATA)
    : encodeResult(result, dataJson);
}

/** The response of a webhook with an `actionConfiguration`. */
export function buildOutcomeResponse({ result, dataJson }: RouteOutcome): WebhookResponse {
  return encodeResult(result, dataJson);
}

/**
 * The response of a webhook with routes: the data of each route that ran, or the message of the
 * first that failed.
 */
export function buildRoutesResponse(outcomes: readonly RouteOutcome[]): WebhookResponse {
  const isChainRefused = outcomes.some(({ result }) => result instanceof ChainRefusal);
  const failure = outcomes.find(({ result }) => !result.success);
  if (failure !== undefined) {
    return {
      status: 400, body: encodeFailure(failure.result.message ?? ''), dataJson: NO_DATA,
      isChainRefused,
    };
  }
  if (outcomes.length === 0) return { status: 200, body: FILTERED, dataJson: NO_DATA };
  const routes = outcomes.map(({ name, dataJson }) => `${JSON.stringify(name)}:${dataJson}`);
  return { ...buildSuccess('', `{"routes":{${routes.join(',')}}}`), isChainRefused };
}

/** The response to a request that is on disk. */
export function buildAcceptedResponse(
  id: string, message: '' | 'Filtered' | 'Duplicate',
): WebhookResponse {
  return buildSuccess(message, `{"request":"${id}"}`);
}

/** The response to a duplicate; `dataJson` is the data of the first response. */
export function buildDuplicateResponse(dataJson: string): WebhookResponse {
  return buildSuccess('Duplicate', dataJson);
}

function buildSuccess(message: string, dataJson: string): WebhookResponse {
  const body = `{"success":true,"message":${JSON.stringify(message)},"data":${dataJson}}`;
  return { status: 200, body, dataJson };
}

function encodeResult(result: ActionResult, dataJson: string): ResultResponse {
  const { success, message } = result;
  const status = success ? 200 : 400;
  const isChainRefused = result instanceof ChainRefusal;
  if (success && message === null && dataJson === NO_DATA) {
    return { status, body: EMPTY_SUCCESS, result, dataJson, isChainRefused };
  }
  const text = JSON.stringify(message ?? '');
  const body = `{"success":${success},"message":${text},"data":${dataJson}}`;
  return { status, body, result, dataJson, isChainRefused };
}

function encodeFailure(message: string): string {
  return `{"success":false,"message":${JSON.stringify(message)},"data":{}}`;
}
