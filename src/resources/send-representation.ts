/** Answers a read with one record, or with 304 where the caller has that version of it. */
import type { IncomingHttpHeaders } from 'node:http';
import { problemResponses } from '../server/problem.ts';
import type { ResponseSpec, Exchange, ParameterSpec } from '../server/http-route.ts';
import { evaluate, isConditional } from './conditional.ts';
import { preconditionFailed } from './expectation.ts';
import type { Representation } from './representation.ts';

export const ETAG_HEADER = { ETag: 'Strong tag of this version' };

export const IF_NONE_MATCH: ParameterSpec = {
  name: 'If-None-Match', in: 'header', schema: { kind: 'string' },
  description: 'Tags of versions the caller has: 304 when one is current',
};

/** Beside the answer with the record. */
export const CONDITIONAL_ANSWERS: readonly ResponseSpec[] = [
  { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
  ...problemResponses(404, 412),
];

/** Throws `precondition_failed`, which a read with If-Match asks for. */
export function sendRepresentation(
  exchange: Exchange, noun: string, found: Representation,
): void {
  const { headers } = exchange.request;
  if (isConditional(headers) && isCurrent(headers, noun, found)) {
    return sendCurrent(exchange, found);
  }
  exchange.send(200, found.headerText, found.bytes);
}

/**
 * The same of a record that is shown with members of others: no date tells when those changed, so
 * that conditions with dates are passed over (RFC 9110 §13.1.3).
 */
export function sendUndated(exchange: Exchange, noun: string, found: Representation): void {
  const headers = {
    ...exchange.request.headers,
    'if-modified-since': undefined, 'if-unmodified-since': undefined,
  };
  if (isCurrent(headers, noun, found)) return sendCurrent(exchange, found);
  exchange.send(200, [
    'Content-Type', 'application/json', 'ETag', found.etag, 'Cache-Control', 'no-cache',
  ], found.bytes);
}

/** Whether the caller has it. */
function isCurrent(headers: IncomingHttpHeaders, noun: string, found: Representation): boolean {
  const verdict = evaluate(headers, found, true);
  if (verdict === 'failed') throw preconditionFailed(noun);
  return verdict === 'not_modified';
}

function sendCurrent(exchange: Exchange, { etag }: Representation): void {
  exchange.send(304, ['ETag', etag, 'Cache-Control', 'no-cache']);
}
