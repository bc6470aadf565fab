/**
 * Requests from another program's server that the API is mounted in. That program may have read a
 * request's body, or cut off the beginning of its path, before the request gets here.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { isDeeperThan } from '../../base/json/encode.ts';
import { JSON_DEPTH_MAX } from '../../base/json/parse.ts';
import { BufferedRequest } from './buffered-request.ts';

/** Whether another program has read the request's body, or a part of it. */
export function isConsumed(request: IncomingMessage): boolean {
  if (request instanceof BufferedRequest) return false;
  return request.readableDidRead || (request.readableEnded && announcesBody(request));
}

/** Whether the request's head announces a body. */
export function announcesBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

/**
 * The bytes of a body that another program has read and kept: `request.rawBody`, or `request.body`
 * of `express.raw()`. null when there are none, or when they were decompressed.
 */
export function findConsumedBytes(request: IncomingMessage): Buffer | null {
  if (request.headers['content-encoding'] !== undefined) return null;
  const bytes = [getMember(request, 'rawBody'), getMember(request,
    'body')].find(ArrayBuffer.isView);
  if (bytes === undefined) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * A body that another program has parsed, as `express.json()` does: an object in `request.body`.
 * Undefined when the body is unread or its bytes are there. Throws `malformed` when it is nested
 * deeper than a body that we parse may be.
 */
export function findConsumedJson(request: IncomingMessage): object | undefined {
  if (!isConsumed(request) || findConsumedBytes(request) !== null) return undefined;
  const body = getMember(request, 'body');
  if (!isJsonObject(body) && !Array.isArray(body)) return undefined;
  if (!isDeeperThan(body, JSON_DEPTH_MAX)) return body;
  throw new AppError('malformed', `the body is nested deeper than ${JSON_DEPTH_MAX} levels`);
}

/** The error for a body that another program has read, when its bytes are needed. */
export function bodyConsumedError(): AppError {
  return new AppError('misconfigured', 'the body of the request had been read before it came to '
    + 'hookshelf: mount its handler in front of whatever parses bodies');
}

/**
 * The beginning of the path that a framework cut off: Express's `baseUrl`, or the part of
 * `originalUrl` before `url`. Empty when there is none.
 */
export function mountPathOf(request: IncomingMessage): string {
  if (request instanceof BufferedRequest) return '';
  const base = getMember(request, 'baseUrl');
  if (typeof base === 'string') return base;
  const { url = '' } = request;
  const original = getMember(request, 'originalUrl');
  const isCut = typeof original === 'string' && original.endsWith(url);
  return isCut ? original.slice(0, original.length - url.length) : '';
}

function getMember(request: IncomingMessage, name: string): unknown {
  const value: unknown = Reflect.get(request, name);
  return value;
}
