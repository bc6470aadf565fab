/**
 * Checks a caller's method, headers and body and encodes them. Headers become one flat array of
 * names and values in turn, the form that node:http takes fastest.
 */
import * as types from 'node:util/types';
import { CONNECTION_HEADERS } from '../base/network/connection-headers.ts';
import { invalidError } from './network-error.ts';
import type { RequestTarget } from './policy/request-target.ts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The body that a caller sends: bytes, or text, which goes out in UTF-8. */
export type OutgoingBody = Buffer | Uint8Array | string;

const NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const BAD_VALUE_PATTERN = /[^\t\x20-\x7e\x80-\xff]/;
/** Methods that send no Content-Length when there is no body (RFC 9110 §8.6). */
export const METHODS_WITHOUT_BODY: ReadonlySet<string> =
  new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
const USER_AGENT = 'hookshelf';
const LOWER_NAMES_CACHED_MAX = 1000;

// The same few names come with every request. All clients share the cache: it holds checked names
// alone, and nothing of a request.
const lowerNames = new Map<string, string>();

/** `method` in upper case; throws NetworkError `invalid` when it cannot be sent. */
export function checkMethod(method: string): string {
  if (typeof method !== 'string') throw invalidError('the method is not text');
  const upper = method.toUpperCase();
  if (!NAME_PATTERN.test(upper)) throw invalidError('the method is not a token');
  if (REFUSED_METHODS.has(upper)) throw invalidError(`the method ${upper} is not for a client`);
  return upper;
}

/** A body as it is sent. Throws NetworkError `invalid` for what is neither text nor bytes. */
export function encodeBody(body: OutgoingBody | undefined): Buffer | undefined {
  if (body === undefined || body === null || Buffer.isBuffer(body)) return body ?? undefined;
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  // A view of the same bytes, without a copy.
  if (types.isUint8Array(body)) {
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  }
  throw invalidError('the body is neither text nor bytes');
}

/**
 * The headers of a request, names and values in turn. Throws NetworkError `invalid` for a header
 * that cannot be sent, or that the client alone sets.
 */
export function encodeHeaders(
  target: RequestTarget, method: string, headers: RequestHeaders, body: Buffer | undefined,
): string[] {
  const flat = [...target.headers];
  let hasUserAgent = false;
  let hasAuthorization = false;
  for (const name in headers) {
    if (!Object.hasOwn(headers, name)) continue;
    const lower = checkName(name);
    hasUserAgent ||= lower === 'user-agent';
    hasAuthorization ||= lower === 'authorization';
    const value = headers[name] ?? '';
    if (Array.isArray(value)) for (const item of value) flat.push(name, checkValue(name, item));
    else flat.push(name, checkValue(name, value));
  }
  if (!hasUserAgent) flat.push('User-Agent', USER_AGENT);
  if (!hasAuthorization && target.authorization !== null) {
    flat.push('Authorization', target.authorization);
  }
  if (body !== undefined || !METHODS_WITHOUT_BODY.has(method)) {
    flat.push('Content-Length', String(body?.length ?? 0));
  }
  return flat;
}

/** The name in lower case. */
function checkName(name: string): string {
  const knownLowerName = lowerNames.get(name);
  if (knownLowerName !== undefined) return knownLowerName;
  if (!NAME_PATTERN.test(name)) throw invalidError('a header name is not a token');
  const lower = name.toLowerCase();
  if (CONNECTION_HEADERS.has(lower)) {
    throw invalidError(`the header ${name} is set by the client alone`);
  }
  if (lowerNames.size >= LOWER_NAMES_CACHED_MAX) lowerNames.clear();
  lowerNames.set(name, lower);
  return lower;
}

// The value stays out of the message: it may be a secret.
function checkValue(name: string, value: unknown): string {
  if (typeof value !== 'string' || BAD_VALUE_PATTERN.test(value)) {
    throw invalidError(`the value of the header ${name} holds a character that cannot be sent`);
  }
  return value;
}
