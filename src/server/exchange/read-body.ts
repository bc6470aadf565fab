/**
 * Reads request bodies whole, never past their limit. It listens to 'data' and 'end': iterating
 * over the stream costs an incoming webhook a quarter of its throughput. Another program's server
 * that the API is mounted in may have read the body before the request gets here: then what it kept
 * of the body counts.
 */
import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { isDeeperThan } from '../../base/json/encode.ts';
import { JSON_DEPTH_MAX, parseJson } from '../../base/json/parse.ts';
import { findDeclaredCharset } from '../../base/text/charset.ts';
import { quote } from '../../base/text/error-message.ts';
import { parseMediaType } from '../../base/text/parse-form.ts';
import type { MemoryBudget } from '../../base/memory-budget.ts';
import type { Exchange, HttpRoute } from '../http-route.ts';
import { cutShortError } from './body-stream.ts';
import { BUFFERED_BYTES_MAX, BufferedRequest, type BodyReader } from './buffered-request.ts';
import { announcedLength, announcesBody } from './request-head.ts';

type BodyLimits = {
  /** The limit of one body. */
  readonly bodyBytesMax: number;
  readonly memoryBudget: MemoryBudget;
};

/**
 * The raw body. Throws `too_large` over the limit for one body, before anything is read when the
 * head says so; `unavailable` when the budget is needed for other bodies; `malformed` when the body
 * was cut short; `misconfigured` when a body parser in front of us has read it and not kept its
 * bytes. Bytes that are not read stay with the request, which is paused.
 */
export function readWholeBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { bodyBytesMax: bytesMax } = limits;
  return new Promise((resolve, reject) => {
    const reader: BodyReader = { resolve, reject };
    const announcedBytes = announcedLength(request);
    if ((announcedBytes ?? 0) > bytesMax) return reject(tooLargeError(bytesMax));
    if (request.destroyed && !request.complete) return reject(cutShortError());
    if (request instanceof BufferedRequest && announcedBytes !== null
      && announcedBytes <= BUFFERED_BYTES_MAX && request.readWhole(reader)) return undefined;
    if (isConsumed(request)) return reader.resolve(readConsumedBytes(request, bytesMax));
    if (request.readableEnded) return reader.resolve(Buffer.alloc(0));
    return collectBody(request, limits, reader);
  });
}

/** A function of its own: the closures are made only for bodies that need them. */
function collectBody(
  request: IncomingMessage, { bodyBytesMax: bytesMax, memoryBudget: budget }: BodyLimits,
  reader: BodyReader,
): void {
  const collector = new ByteCollector();
  const stop = (): void => {
    budget.endArrival(arrivingBody);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  };
  const refuse = (error: AppError): void => {
    stop();
    request.pause();
    collector.clear();
    reader.reject(error);
  };
  const arrivingBody = { bytes: 0, giveUp: (): void => refuse(budgetExceededError()) };
  const onData = (chunk: Buffer): void => {
    if (collector.length + chunk.length > bytesMax) return refuse(tooLargeError(bytesMax));
    collector.add(chunk);
    return budget.addArrived(arrivingBody, chunk.length);
  };
  let isEnded = false;
  // The listeners stay: removing each costs more than one more call.
  const onEnd = (): void => {
    isEnded = true;
    budget.endArrival(arrivingBody);
    reader.resolve(collector.take());
  };
  const onClose = (): void => {
    budget.endArrival(arrivingBody);
    if (!isEnded) reader.reject(cutShortError());
  };
  // We emit an AppError when the body came too late or broken; after an error of the connection
  // 'close' follows. The listener stays, as an error without one would end the process.
  const onError = (thrown: Error): void => {
    if (!(thrown instanceof AppError)) return;
    stop();
    reader.reject(thrown);
  };
  request.on('error', onError).on('data', onData).on('end', onEnd).on('close', onClose);
}

/**
 * Throws `unsupported_media_type` unless the request's body is of one of the media types, in UTF-8
 * and not compressed.
 */
export function checkMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const { 'content-type': contentType = '', 'content-encoding': encoding } = request.headers;
  // Nearly all requests say the media type alone, as we do.
  if (encoding === undefined && mediaTypes.includes(contentType)) return;
  readMediaType(request, mediaTypes);
  const charset = findDeclaredCharset(contentType);
  if (charset === null || UTF8_OR_ASCII.test(charset)) return;
  throw new AppError('unsupported_media_type',
    `send the body in UTF-8, not in the charset ${quote(charset)}`);
}

const UTF8_OR_ASCII = /^(?:utf-?8|(?:us-)?ascii)$/i;

/**
 * The media type of the request's body, without parameters. Throws `unsupported_media_type` unless
 * it is one of the media types, and for a compressed body.
 */
export function readMediaType(request: IncomingMessage, mediaTypes: readonly string[]): string {
  checkNotCompressed(request);
  const mediaType = parseMediaType(request.headers['content-type']);
  if (mediaTypes.includes(mediaType)) return mediaType;
  const acceptable = mediaTypes.map((type) => `\`Content-Type: ${type}\``).join(' or ');
  throw new AppError('unsupported_media_type', `send ${acceptable}`);
}

/** Throws `unsupported_media_type`. */
export function checkNotCompressed(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new AppError('unsupported_media_type',
    `send the body without \`Content-Encoding: ${encoding}\``);
}

/** Adds the headers by which a 415 says what would be accepted (RFC 9110 §15.5.16). */
export function addAcceptHeaders(
  headers: string[], route: HttpRoute, request: IncomingMessage,
): void {
  const isEncoded = request.headers['content-encoding'] !== undefined;
  if (isEncoded) headers.push('Accept-Encoding', 'identity');
  if (route.body === undefined) return;
  const name = route.method === 'PATCH' ? 'Accept-Patch' : 'Accept-Post';
  const { mediaTypes, fileMediaTypes = [] } = route.body;
  if (route.method !== 'PUT') headers.push(name, [...mediaTypes, ...fileMediaTypes].join(', '));
}

/** Throws `malformed`. */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    throw new AppError(thrown.code, `the body is ${thrown.message}`, {}, thrown.cause);
  }
}

/**
 * The parsed JSON body of a route with a limit of its own, whose bodies may be larger than
 * `server.maxBodyBytes`. The budget of bodies does not count it: its route must be for few callers.
 * Throws `unsupported_media_type`, `too_large`, `malformed`, and what `Exchange.readChunks` throws.
 */
export async function readLargeJson(
  exchange: Exchange, mediaTypes: readonly string[], bytesMax: number,
): Promise<unknown> {
  const { request } = exchange;
  checkMediaType(request, mediaTypes);
  const json = findConsumedJson(request);
  if (json !== undefined) return json;
  const consumedBytes = isConsumed(request) ? findConsumedBytes(request) : null;
  const length = consumedBytes?.length ?? announcedLength(request) ?? 0;
  if (length > bytesMax) throw tooLargeError(bytesMax);
  if (consumedBytes !== null) return parseJsonBody(consumedBytes);
  const collector = new ByteCollector();
  for await (const chunk of exchange.readChunks()) {
    if (collector.length + chunk.length > bytesMax) throw tooLargeError(bytesMax);
    collector.add(chunk);
  }
  return parseJsonBody(collector.take());
}

function budgetExceededError(): AppError {
  const problem = 'too many bodies are arriving, and nothing of this one for the longest time';
  return new AppError('unavailable', problem, { retryAfterS: 1 });
}

function tooLargeError(bytesMax: number): AppError {
  return new AppError('too_large', `the body is larger than ${bytesMax} bytes`);
}

/** Whether another program has read the request's body, or a part of it. */
function isConsumed(request: IncomingMessage): boolean {
  if (request instanceof BufferedRequest) return false;
  return request.readableDidRead || (request.readableEnded && announcesBody(request));
}

/** Throws `misconfigured` when another program has read the body, or a part of it. */
export function checkUnread(request: IncomingMessage): void {
  if (isConsumed(request)) throw bodyConsumedError();
}

/**
 * The bytes of a body that another program has read and kept: `request.rawBody`, or `request.body`
 * of `express.raw()`. null when there are none, or when they were decompressed.
 */
function findConsumedBytes(request: IncomingMessage): Buffer | null {
  if (request.headers['content-encoding'] !== undefined) return null;
  const bytes = [getMember(request, 'rawBody'), getMember(request, 'body')]
    .find(ArrayBuffer.isView);
  if (bytes === undefined) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readConsumedBytes(request: IncomingMessage, bytesMax: number): Buffer {
  const bytes = findConsumedBytes(request);
  if (bytes === null) throw bodyConsumedError();
  if (bytes.length > bytesMax) throw tooLargeError(bytesMax);
  return bytes;
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
function bodyConsumedError(): AppError {
  return new AppError('misconfigured', 'the body of the request had been read before it came to '
    + 'hookshelf: mount its handler in front of whatever parses bodies');
}

function getMember(request: IncomingMessage, name: string): unknown {
  const value: unknown = Reflect.get(request, name);
  return value;
}
