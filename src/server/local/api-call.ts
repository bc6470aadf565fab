/**
 * Calls our own routes over HTTP, through a socket or in memory. Problem documents (RFC 9457) come
 * back as the AppErrors that they were made from.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { http } from '../../base/node-modules.ts';
import { parseProblem } from '../problem.ts';
import { watchLiveness } from './liveness.ts';
import type { LivenessOptions } from './liveness.ts';

export type ApiCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A buffer or stream is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Whether the response is an attachment of any media type. */
  readonly isForAttachment?: boolean;
  /** Ends the call, which then throws `unavailable`. */
  readonly signal?: AbortSignal;
};

export type ApiResponse = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or text of a text type; null without a body. */
  readonly body: unknown;
};

/** The server of calls: options of `node:http` that name its socket or create a connection. */
export type ApiTarget = Pick<RequestOptions, 'socketPath' | 'createConnection'> & {
  /** Set where the server may hang. */
  readonly liveness?: LivenessOptions;
  readonly network?: NetworkTransport;
};

/** Calls to a server on the network, where any other program may respond. */
type NetworkTransport = {
  readonly clock: Clock;
  readonly connect: () => Promise<Socket>;
  /** The path as the request line has it, and the headers that every request has. */
  readonly buildHead: (path: string) => RequestHead;
  /** The error of a connection that broke: `cause`, or one that says how to mend it. */
  readonly toLostError: (cause: unknown) => unknown;
  /** Throws for a response that our routes cannot have sent. */
  readonly checkResponse: (response: IncomingMessage, call: ApiCall) => void;
};

export type RequestHead = {
  readonly path: string; readonly headers: Readonly<Record<string, string>>;
};

/** Bounds our memory; a page of the largest possible records is far smaller. */
const RESPONSE_BYTES_MAX = 256 << 20;
const EXPECT_HEADERS = { expect: '100-continue' };
const CONTINUE_MS_MAX = 3000;

/** Throws the error of a problem document, and `unavailable` when the connection breaks. */
export async function callApi(target: ApiTarget, call: ApiCall): Promise<ApiResponse> {
  return readResponse(await openResponse(target, call));
}

/** `callApi` for a response of any status: it throws `unavailable` alone. */
export async function callApiAnyStatus(target: ApiTarget, call: ApiCall): Promise<ApiResponse> {
  return readResponse(await sendCall(target, call));
}

async function readResponse(response: IncomingMessage): Promise<ApiResponse> {
  const bytes = await readResponseBody(response);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: parseResponseBody(response, bytes) };
}

/**
 * The query of the next page, from `rel="next"` in a Link header (RFC 8288); null: this page is the
 * last. Only the query of the link is used: its path may be one that only a reverse proxy knows.
 */
export function findNextQuery({ link }: ApiResponse['headers']): string | null {
  const [, query] = /^<[^<>?]*\?([^<>]*)>; rel="next"$/.exec(String(link ?? '')) ?? [];
  return query ?? null;
}

/** `callApi` without reading the body: the caller reads it as it arrives. */
export async function openResponse(target: ApiTarget, call: ApiCall): Promise<IncomingMessage> {
  const response = await sendCall(target, call);
  try {
    target.network?.checkResponse(response, call);
  } catch (thrown) {
    response.destroy();
    throw thrown;
  }
  const status = response.statusCode ?? 0;
  if (status < 400) return response;
  const document = parseResponseBody(response, await readResponseBody(response));
  throw parseProblem(status, document, response.headers['retry-after']);
}

async function sendCall(target: ApiTarget, call: ApiCall): Promise<IncomingMessage> {
  const { method, body, signal } = call;
  const { liveness, network, ...connection } = target;
  const { path, headers } = network?.buildHead(call.path) ?? { path: call.path, headers: {} };
  const bytes = body === undefined || isStream(body) ? undefined : encodeBody(body);
  const socket = await network?.connect();
  return new Promise((resolve, reject) => {
    const connectionOptions = socket === undefined ? connection
      : { ...connection, createConnection: () => socket };
    const request = http.request({
      // `agent: false` makes a new connection for each call. An agent would override ours.
      ...'createConnection' in connectionOptions ? {} : { agent: false }, ...connectionOptions,
      method, path, host: 'localhost', signal,
      headers: { ...headers, ...network !== undefined && isStream(body) ? EXPECT_HEADERS : {},
        ...buildHeaders(call, bytes) },
    });
    if (isStream(body)) body.on('error', (cause) => {
      reject(unreadableBodyError(cause));
      request.destroy();
    });
    request.on('socket', deferWriteErrors).on('response', resolve);
    request.on('error', (cause) =>
      reject(connectionLostError(network?.toLostError(cause) ?? cause)));
    if (liveness !== undefined) watchLiveness(request, liveness);
    if (isStream(body) && network !== undefined) pipeAfterContinue(body, request, network.clock);
    else if (isStream(body)) pipeBody(body, request);
    else request.end(bytes);
  });
}

type WriteCallback = Parameters<Duplex['_write']>[2];

/**
 * Makes an error of a write come after all that the peer has sent. A server that rejects a body
 * closes while we still send it: the error would end the socket with the response unread in it.
 */
function deferWriteErrors(socket: Duplex): void {
  const { _write: write, _writev: writeAll } = socket;
  const defer = (callback: WriteCallback): WriteCallback => (error) => {
    const isDeferred = error !== null && error !== undefined && !socket.readableEnded;
    if (isDeferred) socket.once('end', () => callback(error));
    else callback(error);
  };
  socket._write = (chunk, encoding, callback) =>
    write.call(socket, chunk, encoding, defer(callback));
  // A stream that is no socket, such as that in memory, may have null here.
  if (typeof writeAll !== 'function') return;
  socket._writev = (chunks, callback) => writeAll.call(socket, chunks, defer(callback));
}

function buildHeaders(
  { headers = {}, body }: ApiCall, bytes: Buffer | string | undefined,
): Record<string, string | number> {
  if (body === undefined) return { ...headers };
  const length = bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) };
  return { 'content-type': 'application/json', ...length, ...headers };
}

/**
 * Sends the body once the server has said `100 Continue`: when a server rejects a request and
 * closes while the body is being sent, its response can be lost. A proxy that never says so gets
 * the body after a while.
 */
function pipeAfterContinue(body: Readable, request: ClientRequest, clock: Clock): void {
  const begin = (): void => {
    timer.cancel();
    request.off('continue', begin).off('response', stop).off('close', cancel);
    pipeBody(body, request);
  };
  const stop = (): void => {
    cancel();
    request.end();
  };
  const cancel = (): void => {
    timer.cancel();
    body.destroy();
  };
  const timer = clock.startTimer(CONTINUE_MS_MAX, begin);
  request.on('continue', begin).on('response', stop).on('close', cancel);
  request.flushHeaders();
}

function pipeBody(body: Readable, request: ClientRequest): void {
  request.on('close', () => body.destroy());
  body.pipe(request);
}

function isStream(body: unknown): body is Readable {
  return typeof body === 'object' && body !== null && 'pipe' in body;
}

function encodeBody(body: unknown): Buffer | string {
  return Buffer.isBuffer(body) ? body : encodeJson(body);
}

/** Throws `unavailable` when the connection breaks, and for a body that is too long for us. */
export async function readResponseBody(response: IncomingMessage): Promise<Buffer> {
  const bytes = await readBodyUpTo(response, RESPONSE_BYTES_MAX);
  if (bytes === null) throw tooLongError();
  return bytes;
}

/** null: the body is longer, and was given up. Throws `unavailable` when the connection breaks. */
export async function readBodyUpTo(
  response: IncomingMessage, bytesMax: number,
): Promise<Buffer | null> {
  const collector = new ByteCollector();
  try {
    for await (const chunk of response) {
      collector.add(Buffer.from(chunk));
      // Leaving the loop ends the connection.
      if (collector.length > bytesMax) return null;
    }
  } catch (cause) {
    throw connectionLostError(cause);
  }
  return collector.take();
}

function tooLongError(): AppError {
  return new AppError('unavailable',
    `the server's answer is longer than ${RESPONSE_BYTES_MAX >> 20} MiB: ask for less at a time`);
}

/** Matches `application/ld+json` and the like, too. JSON Lines and BibTeX are text. */
const JSON_TYPE = /^application\/([^;]*\+)?json\s*(;|$)/i;

function parseResponseBody({ headers }: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) return null;
  if (!JSON_TYPE.test(headers['content-type'] ?? 'application/json')) return bytes.toString();
  try {
    return parseJsonText(bytes.toString());
  } catch (cause) {
    throw new AppError('internal', 'the answer is not JSON', {}, cause);
  }
}

/** The error for a body that cannot be read to its end, as a file on a broken disk. */
function unreadableBodyError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const message = `what is sent cannot be read to its end: ${messageOf(cause)}`;
  return new AppError('usage', message, {}, cause);
}

/** The error for a connection that ended before its response did. */
export function connectionLostError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const message = `the connection to the server broke: ${messageOf(cause)}; what was under way `
    + 'may or may not have been done';
  return new AppError('unavailable', message, {}, cause);
}
