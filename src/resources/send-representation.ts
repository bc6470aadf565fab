/** Answers a read with one record, or with 304 where the caller has that version of it. */
import type { IncomingHttpHeaders } from 'node:http';
import { problemResponses } from '../server/problem.ts';
import type { ResponseSpec, Exchange, ParameterSpec } from '../server/http-route.ts';
import { evaluateConditions, isConditional } from './conditional-request.ts';
import { preconditionFailedError } from './expectation.ts';
import type { Representation } from './representation.ts';

export const ETAG_HEADER = { ETag: 'Strong tag of this version' };

export const IF_NONE_MATCH: ParameterSpec = {
  name: 'If-None-Match', in: 'header', schema: { kind: 'string' },
  description: 'Tags of versions the caller has: 304 when one is current',
};

/** Beside the answer with the record. */
export const CONDITIONAL_RESPONSES: readonly ResponseSpec[] = [
  { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
  ...problemResponses(404, 412),
];

/** Throws `precondition_failed`, which a read with If-Match asks for. */
export function sendRepresentation(
  exchange: Exchange, noun: string, representation: Representation,
): void {
  const { headers } = exchange.request;
  if (isConditional(headers) && isNotModified(headers, noun, representation)) {
    return sendNotModified(exchange, representation);
  }
  exchange.send(200, representation.headerText, representation.bytes);
}

/**
 * The same of a record that is shown with members of others: no date tells when those changed, so
 * that conditions with dates are passed over (RFC 9110 §13.1.3).
 */
export function sendUndatedRepresentation(
  exchange: Exchange, noun: string, representation: Representation,
): void {
  const headers = {
    ...exchange.request.headers,
    'if-modified-since': undefined, 'if-unmodified-since': undefined,
  };
  if (isNotModified(headers, noun, representation)) {
    return sendNotModified(exchange, representation);
  }
  exchange.send(200, [
    'Content-Type', 'application/json', 'ETag', representation.etag, 'Cache-Control', 'no-cache',
  ], representation.bytes);
}

/** Whether the caller has it. */
function isNotModified(
  headers: IncomingHttpHeaders, noun: string, representation: Representation,
): boolean {
  const result = evaluateConditions(headers, representation, true);
  if (result === 'failed') throw preconditionFailedError(noun);
  return result === 'not_modified';
}

function sendNotModified(exchange: Exchange, { etag }: Representation): void {
  exchange.send(304, ['ETag', etag, 'Cache-Control', 'no-cache']);
}
