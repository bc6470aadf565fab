/**
 * What callers of the public endpoint read: every body is exactly `{"success", "message", "data"}`.
 */
import type { ErrorCode } from '../../../base/errors.ts';
import type { ErrorFormat, Exchange } from '../../../server/route.ts';
import type { ActionResult } from '../../actions/action.ts';
import { FAILED_MESSAGE, encodeData } from '../../actions/run-action.ts';
import type { RouteOutcome } from './run-routes.ts';

const JSON_TYPE = 'application/json';
const JSON_HEADERS = ['Content-Type', JSON_TYPE] as const;
// Text goes out in one write with its head; a buffer would take two pieces.
const DONE = '{"success":true,"message":"","data":{}}';

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

/** Answers with what an action gave. */
export function answer(exchange: Exchange, { success, message, data }: ActionResult): void {
  const text = encodeData(data, exchange);
  if (text === null) return exchange.send(400, JSON_HEADERS, failure(FAILED_MESSAGE));
  if (success && message === null && text === '{}') return exchange.send(200, JSON_HEADERS, DONE);
  const body = `{"success":${success},"message":${JSON.stringify(message ?? '')},"data":${text}}`;
  exchange.send(success ? 200 : 400, JSON_HEADERS, body);
}

/**
 * Answers for a webhook with routes: with the data of each route that ran, or the message of the
 * first that failed.
 */
export function answerRoutes(exchange: Exchange, outcomes: readonly RouteOutcome[]): void {
  const failed = outcomes.find(({ result }) => !result.success);
  if (failed !== undefined) {
    return exchange.send(400, JSON_HEADERS, failure(failed.result.message ?? ''));
  }
  if (outcomes.length === 0) return exchange.send(200, JSON_HEADERS, FILTERED);
  const routes = outcomes.map(({ name, dataJson }) => `${JSON.stringify(name)}:${dataJson}`);
  const body = `{"success":true,"message":"","data":{"routes":{${routes.join(',')}}}}`;
  exchange.send(200, JSON_HEADERS, body);
}

function failure(message: string): string {
  return `{"success":false,"message":${JSON.stringify(message)},"data":{}}`;
}
