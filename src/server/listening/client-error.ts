/**
 * Responds on connections on which no request could be read: Node's parser gave up, or a limit of
 * time or size was exceeded. There is no response object, so the response is written to the socket.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { AppError, systemCodeOf } from '../../base/errors.ts';
import { http, loadCrypto } from '../../base/node-modules.ts';
import { isStreamingBody } from '../exchange/body-stream.ts';
import { endConnection, hasFailed, markFailed } from '../exchange/connection-end.ts';
import { BufferedRequest } from '../exchange/buffered-request.ts';
import { PROBLEM_MEDIA_TYPE, toProblem, type Problem } from '../problem.ts';
import { readRequestId, type CountRejection } from '../routing/dispatcher.ts';

/**
 * Sends a problem document with 400, 408, 413 or 431, after the responses to earlier requests on
 * the connection, and closes it.
 */
export function respondToClientError(
  error: Error, socket: Duplex, clock: Clock, countRejection: CountRejection,
): void {
  const isTimeout = systemCodeOf(error) === 'ERR_HTTP_REQUEST_TIMEOUT';
  // Node reports the timeout once for each request, and leaves the connection to us. A body that is
  // read chunk by chunk has a limit for each chunk instead (body-stream.ts).
  if (hasFailed(socket) || (isTimeout && isStreamingBody(socket))) return;
  markFailed(socket);
  // Node's parser would report an error for everything that still comes in.
  socket.removeAllListeners('data');
  socket.on('error', ignore);
  if (!socket.writable || UNANSWERABLE_CODES.includes(systemCodeOf(error) ?? '')) {
    socket.destroy();
    return;
  }
  runAfterResponses(socket, () => respondAndClose(error, socket, clock, countRejection));
}

/** Responds to a CONNECT: Node would close the connection without a word. */
export function rejectTunnel(socket: Duplex, clock: Clock, countRejection: CountRejection): void {
  socket.on('error', ignore);
  const problem = toProblem(new AppError('malformed', 'CONNECT is for proxies, and this is none'));
  countRejection('CONNECT', problem.status);
  endConnection(socket, clock, encodeResponse(problem));
}

// The peer has gone, or cannot read a response yet.
const UNANSWERABLE_CODES = ['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT'];
const UNKNOWN_METHOD = 'UNKNOWN';

/** Calls `run` once the complete requests before the broken one have their responses. */
function runAfterResponses(socket: Duplex, run: () => void): void {
  const pendingResponse = findCurrentResponse(socket);
  if (pendingResponse === null || !pendingResponse.req.complete) run();
  else pendingResponse.once('finish', () => runAfterResponses(socket, run));
}

/** The response that Node is writing to the socket, for which it has no public name. */
export function findCurrentResponse(socket: Duplex): ServerResponse | null {
  const current: unknown = '_httpMessage' in socket ? socket._httpMessage : null;
  return current instanceof http.ServerResponse ? current : null;
}

/**
 * Whether the input that failed is the rest of a body whose request has its response already. A
 * second response would be taken for that to the next request. Node has no public name for the
 * request that its parser is at.
 */
function hasResponded(socket: Duplex): boolean {
  const parser: unknown = 'parser' in socket ? socket.parser : null;
  if (typeof parser !== 'object' || parser === null || !('incoming' in parser)) return false;
  return parser.incoming instanceof http.IncomingMessage && !parser.incoming.complete;
}

function respondAndClose(
  error: Error, socket: Duplex, clock: Clock, countRejection: CountRejection,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const pendingResponse = findCurrentResponse(socket);
  // The response may still be on its way to the kernel: the head came with the rest in one piece.
  const hasSent = pendingResponse === null ? hasResponded(socket) : pendingResponse.headersSent;
  if (hasSent) return endConnection(socket, clock);
  const code = systemCodeOf(error);
  // The handler that reads the body responds, in its route's error format.
  if (pendingResponse !== null && failBodyReader(pendingResponse.req, toAppError(code))) return;
  const problem = toProblem(
    code === 'HPE_HEADER_OVERFLOW' ? headersTooLargeError() : toAppError(code));
  // A request that has a route is counted there, however it ends.
  if (pendingResponse === null) countRejection(UNKNOWN_METHOD, problem.status);
  const requestId = pendingResponse === null ? null : readRequestId(pendingResponse.req);
  endConnection(socket, clock, encodeResponse(problem, requestId ?? createRequestId()));
}

/** False when no handler is reading the body. */
function failBodyReader(request: IncomingMessage, error: AppError): boolean {
  if (request instanceof BufferedRequest && request.failReader(error)) return true;
  return request.listenerCount('error') > 0 && request.emit('error', error);
}

function createRequestId(): string {
  return loadCrypto().randomBytes(8).toString('hex');
}

/** Encodes a response with a problem document, after which the connection is closed. */
export function encodeResponse(problem: Problem, requestId = createRequestId()): string {
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

function headersTooLargeError(): AppError {
  return new AppError('headers_too_large', 'the head of the request is larger than 16 KiB');
}

function toAppError(code: string | undefined): AppError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('timeout', 'the request did not arrive in time');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('too_large', 'the chunk extensions of the body are too large');
    case 'HPE_INVALID_EOF_STATE':
      return new AppError('malformed', 'the request was cut short');
    default:
      return new AppError('malformed', 'this is not an HTTP request');
  }
}

function ignore(): void {}
