/**
 * What callers of the public endpoint read: every body is exactly `{"success", "message", "data"}`.
 */
import { CHAIN_REFUSED } from '../../../base/webhook-chain.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { formatHeaders } from '../../../server/exchange/header-text.ts';
import type { ErrorFormat, Exchange } from '../../../server/http-route.ts';
import { ActionResult } from '../../actions/action.ts';
import {
  ChainRefusal, FAILED_MESSAGE, encodeData, type LogHolder,
} from '../../actions/run-action.ts';
import type { RouteOutcome } from './run-routes.ts';

const JSON_TYPE = 'application/json';
const JSON_HEADERS = formatHeaders(['Content-Type', JSON_TYPE]);
const REFUSED_HEADERS = formatHeaders(
  ['Content-Type', JSON_TYPE, 'X-Hookshelf-Chain', CHAIN_REFUSED]);
// Text goes out in one write with its head; a buffer would take two pieces.
const DONE = '{"success":true,"message":"","data":{}}';

const NO_DATA = '{}';
const FILTERED = '{"success":true,"message":"Filtered","data":{}}';

/** What is said in place of an error's own message: the caller may be anybody. */
const MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  malformed: 'Bad request',
  timeout: 'Request timeout',
  too_large: 'Payload too large',
  internal: 'Internal error',
};

/** The program that we are mounted in is at fault, and the sender may be its author at work. */
const OURS: readonly ErrorCode[] = ['misconfigured'];

export const receiveErrorFormat: ErrorFormat = {
  mediaType: JSON_TYPE,
  encode: (code, message) => failure(OURS.includes(code)
    ? `Internal error: ${message}` : MESSAGES[code] ?? message),
};

/** What a request is answered with. */
export type ReceiveAnswer = {
  readonly status: 200 | 400; readonly body: string;
  /** The member `data` of the body. */
  readonly dataJson: string;
  /** The chain of the request was refused, here or further on. */
  readonly isChainRefused?: boolean;
};

/** Of what an action gave, with what counts of it. */
type ResultAnswer = ReceiveAnswer & { readonly result: ActionResult };

export function sendAnswer(
  exchange: Exchange, { status, body, isChainRefused = false }: ReceiveAnswer,
): void {
  exchange.send(status, isChainRefused ? REFUSED_HEADERS : JSON_HEADERS, body);
}

export function resultAnswer(result: ActionResult, holder: LogHolder): ResultAnswer {
  const dataJson = encodeData(result.data, holder);
  return dataJson === null ? withBody(ActionResult.fail(FAILED_MESSAGE), NO_DATA)
    : withBody(result, dataJson);
}

/** Of the one route of a webhook with an `actionConfiguration`. */
export function outcomeAnswer({ result, dataJson }: RouteOutcome): ReceiveAnswer {
  return withBody(result, dataJson);
}

/**
 * Of a webhook with routes: with the data of each route that ran, or the message of the first that
 * failed.
 */
export function routesAnswer(outcomes: readonly RouteOutcome[]): ReceiveAnswer {
  const isChainRefused = outcomes.some(({ result }) => result instanceof ChainRefusal);
  const failed = outcomes.find(({ result }) => !result.success);
  if (failed !== undefined) {
    return {
      status: 400, body: failure(failed.result.message ?? ''), dataJson: NO_DATA, isChainRefused,
    };
  }
  if (outcomes.length === 0) return { status: 200, body: FILTERED, dataJson: NO_DATA };
  const routes = outcomes.map(({ name, dataJson }) => `${JSON.stringify(name)}:${dataJson}`);
  return { ...success('', `{"routes":{${routes.join(',')}}}`), isChainRefused };
}

/** Of a request that is on disk. */
export function acceptedAnswer(id: string, message: '' | 'Filtered' | 'Duplicate'): ReceiveAnswer {
  return success(message, `{"request":"${id}"}`);
}

/** Of an event that was done before; `dataJson` is what the first was answered. */
export function duplicateAnswer(dataJson: string): ReceiveAnswer {
  return success('Duplicate', dataJson);
}

function success(message: string, dataJson: string): ReceiveAnswer {
  const body = `{"success":true,"message":${JSON.stringify(message)},"data":${dataJson}}`;
  return { status: 200, body, dataJson };
}

function withBody(result: ActionResult, dataJson: string): ResultAnswer {
  const { success, message } = result;
  const status = success ? 200 : 400;
  const isChainRefused = result instanceof ChainRefusal;
  if (success && message === null && dataJson === NO_DATA) {
    return { status, body: DONE, result, dataJson, isChainRefused };
  }
  const text = JSON.stringify(message ?? '');
  const body = `{"success":${success},"message":${text},"data":${dataJson}}`;
  return { status, body, result, dataJson, isChainRefused };
}

function failure(message: string): string {
  return `{"success":false,"message":${JSON.stringify(message)},"data":{}}`;
}
