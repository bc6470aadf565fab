/** Responds to a read with a record, or with 304 where the caller has its version. */
import type { IncomingHttpHeaders } from 'node:http';
import { formatHttpDate } from '../base/clock.ts';
import { problemResponses } from '../server/problem.ts';
import type {
  Exchange, HeaderList, HeaderText, ParameterSpec, ResponseSpec,
} from '../server/http-route.ts';
import {
  evaluateConditions, isConditional, preconditionFailedError,
} from './conditional-request.ts';
import { Representation } from './representation.ts';

export const ETAG_HEADER = { ETag: 'Strong tag of this version' };

export const IF_NONE_MATCH: ParameterSpec = {
  name: 'If-None-Match', in: 'header', schema: { kind: 'string' },
  description: 'Tags of versions the caller has: 304 when one is current',
};

/** The responses to a conditional read besides the record. */
export const CONDITIONAL_RESPONSES: readonly ResponseSpec[] = [
  { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
  ...problemResponses(404, 412),
];

/** The header of records that are given in several media types. */
export const VARY_BY_ACCEPT: HeaderText = 'Vary: Accept\r\n';

/**
 * `bytes` may be a part of the record; the headers are always those of the whole, and
 * `moreHeaders`. Throws `precondition_failed`, for reads with If-Match.
 */
export function sendRepresentation(
  exchange: Exchange, noun: string, representation: Representation, bytes = representation.bytes,
  moreHeaders: HeaderText = '',
): void {
  const { headers } = exchange.request;
  if (isConditional(headers) && isNotModified(headers, noun, representation)) {
    return sendNotModified(exchange, representation, moreHeaders);
  }
  exchange.send(200, representation.headerText + moreHeaders, bytes);
}

export type EncodedRecord = {
  readonly bytes: Buffer;
  /** `Content-Type` and what else the format needs. */
  readonly headers: HeaderList;
};

/** Sends a record in another media type, with the tag of these bytes. Throws the same error. */
export function sendEncoded(
  exchange: Exchange, noun: string, { id, updatedAtMs }: Representation,
  { bytes, headers }: EncodedRecord,
): void {
  const encodedRecord = new Representation(id, bytes, updatedAtMs);
  if (isNotModified(exchange.request.headers, noun, encodedRecord)) {
    return sendNotModified(exchange, encodedRecord, VARY_BY_ACCEPT);
  }
  exchange.send(200, [
    ...headers, 'ETag', encodedRecord.etag, 'Last-Modified', formatHttpDate(updatedAtMs),
    'Cache-Control', 'no-cache', 'Vary', 'Accept',
  ], bytes);
}

/**
 * `sendRepresentation` for a record that is shown with members of other records. No date tells when
 * those changed, so conditions with dates are ignored (RFC 9110 §13.1.3).
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

/** Whether the caller has this version. Throws `precondition_failed`. */
function isNotModified(
  headers: IncomingHttpHeaders, noun: string, representation: Representation,
): boolean {
  const result = evaluateConditions(headers, representation, true);
  if (result === 'failed') throw preconditionFailedError(noun);
  return result === 'not_modified';
}

function sendNotModified(
  exchange: Exchange, { etag }: Representation, moreHeaders: HeaderText = '',
): void {
  exchange.send(304, `ETag: ${etag}\r\nCache-Control: no-cache\r\n${moreHeaders}`);
}
