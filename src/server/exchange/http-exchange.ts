/**
 * One request and its response. Every request makes one, so it has plain fields alone: no closures,
 * no promises, no URL object. Anything that only few requests need is computed on demand.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { encodeChecked, encodeJson } from '../../base/json/encode.ts';
import { createTaggedLogger } from '../../base/log.ts';
import type { MemoryBudget } from '../../base/memory-budget.ts';
import type { RateLimitedLog } from '../../base/rate-limited-log.ts';
import { readTraceId } from '../../base/trace-context.ts';
import type { Logger } from '../../base/log.ts';
import {
  addAcceptHeaders, checkMediaType, checkUnread, findConsumedJson, parseJsonBody, readWholeBody,
} from './read-body.ts';
import { readBodyChunks } from './body-stream.ts';
import { isForwarded, type ClientAddressResolver } from './client-address.ts';
import { discardInput, endConnection, hasFailed } from './connection-end.ts';
import { formatHeaders, parseHeaderText } from './header-text.ts';
import type { Meter } from '../metrics/metrics.ts';
import { announcedLength, announcesBody, endsConnection, readMountPath } from './request-head.ts';
import { createErrorResponse } from '../problem.ts';
import type {
  Entrance, Exchange, Grant, HeaderList, HeaderText, HttpRoute, Pull,
} from '../http-route.ts';
import { VIA_HEADER, VIA_MCP } from '../http-route.ts';
import { cutStalledReader, writePulled } from './response-stream.ts';
import type { ResponseBatcher } from './whole-response.ts';

/** Settings and services that all exchanges of a server share. */
export type ExchangeContext = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bodyBytesMax: number;
  readonly memoryBudget: MemoryBudget;
  /** Readers that take nothing for so long are cut. */
  readonly stallMs: number;
  /** Streamed bodies of which nothing arrives for so long are cut. */
  readonly bodyStallMs: number;
  readonly batcher: ResponseBatcher;
  readonly resolveClientAddress: ClientAddressResolver;
  readonly baseUri?: string | null;
  readonly accessLog: 'all' | 'errors' | 'off';
  /** Logs the failed requests with `errors`: on a full disk that is each write. */
  readonly failureLog: RateLimitedLog;
  /** Set when the server stops: from then on each response closes its connection. */
  isDraining: boolean;
};

const CALLERS: Readonly<Record<Entrance, string>> = {
  control: 'socket', process: 'local', loopback: 'local', network: 'anonymous',
  embedded: 'anonymous',
};

/** A route with its metrics. */
export type Endpoint = {
  readonly route: HttpRoute;
  readonly meter: Meter;
  readonly refusesQuery: boolean;
  /** Whether a body that says anything is refused, as the route would not heed it. */
  readonly refusesBody: boolean;
};

// Node reads past an unread body of up to this length, so that the connection can be used again.
const SKIPPED_BYTES_MAX = 65_536;
const SLOW_MS = 1_000;
/** A handler with this header says by itself which origins may read the response. */
const ALLOW_ORIGIN = /^Access-Control-Allow-Origin:/im;
// Errors with these codes are logged here. Others with a 5xx status were logged where they arose.
const LOGGED_CODES: readonly ErrorCode[] = ['internal', 'damaged', 'misconfigured'];
const JSON_MEDIA_TYPES = ['application/json'];
/** `{}`, `[]`, `null`, `""` or nothing. */
const EMPTY_BODY = /^(?:\{\s*\}|\[\s*\]|null|""|)$/;
const EMPTY_BODY_BYTES_MAX = 64;

export class HttpExchange implements Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
  readonly entrance: Entrance;
  readonly isControl: boolean;
  readonly params: string[] = [];
  endpoint: Endpoint;
  path = '';
  search = '';
  /** Headers that cross-origin rules add to the response. */
  corsHeaders: HeaderList | null = null;
  grant: Grant | null = null;
  onJsonBody: (() => void) | null = null;
  /** Whether the client waits for `100 Continue` before it sends its body. */
  awaitsContinue = false;
  hasResponded = false;
  /** Whether the request is counted and logged: once its response is sent, or has failed. */
  #isFinished = false;
  /** The bytes of the body that a stream has written so far. */
  #streamedBytes = 0;
  readonly #context: ExchangeContext;
  readonly #peerAddress: string | undefined;
  /** Why the server could not do what it was asked for, as the caller was told; null: it could. */
  #failureReason: string | null = null;

  constructor(
    context: ExchangeContext, endpoint: Endpoint, request: IncomingMessage,
    response: ServerResponse, requestId: string, entrance: Entrance,
  ) {
    this.#context = context;
    this.startedMs = context.clock.monotonicMs();
    // The address is read now: a closed connection has none.
    this.#peerAddress = request.socket.remoteAddress;
    this.endpoint = endpoint;
    this.request = request;
    this.response = response;
    this.requestId = requestId;
    this.entrance = entrance;
    this.isControl = entrance === 'control' || entrance === 'process';
  }

  get route(): HttpRoute {
    return this.endpoint.route;
  }

  get caller(): string {
    if (this.grant !== null) return this.grant.name;
    const entrance =
      this.entrance === 'loopback' && isForwarded(this.request) ? 'network' : this.entrance;
    return CALLERS[entrance];
  }

  get clientAddress(): string {
    return this.#context.resolveClientAddress(this.request, this.#peerAddress);
  }

  linkTo(path: string): string {
    if (this.isControl) return path;
    const { baseUri } = this.#context;
    if (baseUri !== undefined && baseUri !== null) return baseUri + path;
    return this.entrance === 'embedded' ? readMountPath(this.request) + path : path;
  }

  /** Made at each read: few requests log anything. */
  get log(): Logger {
    const traceId = readTraceId(this.request.headers);
    return createTaggedLogger(this.#context.logger, {
      requestId: this.requestId, ...traceId === null ? {} : { traceId },
      ...this.#isOfTool ? { via: VIA_MCP } : {},
    });
  }

  /** Whether a tool of MCP calls. */
  get #isOfTool(): boolean {
    return this.request.headers[VIA_HEADER] === VIA_MCP;
  }

  send(status: number, headers: HeaderList | HeaderText, body?: Buffer | string): void {
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body?.length ?? 0;
    const { response } = this;
    const mustCloseUnread = this.#mustCloseUnread();
    const contentLength = status === 204 || status === 304 ? null : bytes;
    const closesConnection =
      mustCloseUnread || this.#context.isDraining || endsConnection(this.request);
    const headerText = this.#beginResponse(headers, contentLength, closesConnection);
    // A success is logged as such, though its caller does not learn of it.
    if (response.destroyed && status >= 400) return this.#finishAbandoned();
    if (mustCloseUnread) {
      this.#sendBeforeDiscarding(status, headerText, body);
    } else {
      // The server of another program drops a request whose client half-closes the connection, so
      // the response must not wait in the batch.
      const isUrgent = this.entrance === 'embedded';
      this.#context.batcher.add(
        { response, status, headerText, body, bytes, closesConnection }, isUrgent);
    }
    this.#finish(status, bytes);
  }

  sendJson(status: number, value: unknown, headers: HeaderList = []): void {
    this.send(status, ['Content-Type', 'application/json', ...headers], encodeJson(value));
  }

  async sendStream(status: number, headers: HeaderList, pull: Pull): Promise<void> {
    const { request, response } = this;
    // The first pieces come before the head is written: a failure can still be sent as an error.
    const first = request.method === 'HEAD' ? null : await pull();
    if (response.destroyed) return this.#finishAbandoned();
    const closesConnection = this.#context.isDraining || endsConnection(request);
    const headerText = this.#beginResponse(headers, null, closesConnection);
    response.writeHead(status, parseHeaderText(headerText));
    if (first === null) {
      response.end();
    } else {
      cutStalledReader(response, this.#stallMs, this.#context.clock);
      await writePulled(response, first, pull, (bytes) => {
        this.#streamedBytes += bytes;
      });
    }
    // A failed connection whose request is complete may still owe the responses to its earlier
    // requests.
    if (hasFailed(request.socket) && !request.complete) {
      endConnection(request.socket, this.#context.clock);
    } else {
      this.#discardBody();
    }
    return this.#finish(status, this.#streamedBytes);
  }

  readBody(): Promise<Buffer> {
    const { bodyBytesMax } = this.#context;
    if (this.awaitsContinue && (announcedLength(this.request) ?? 0) <= bodyBytesMax) {
      this.#sendContinue();
    }
    return readWholeBody(this.request, this.#context);
  }

  readChunks(): AsyncIterable<Buffer> {
    checkUnread(this.request);
    if (this.awaitsContinue) this.#sendContinue();
    const stallMs = this.isControl ? Infinity : this.#context.bodyStallMs;
    return readBodyChunks(this.request, stallMs, this.#context.clock);
  }

  #sendContinue(): void {
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  async readJsonBytes(): Promise<Buffer> {
    const { request, route: { body } } = this;
    const isExpected = body?.isOptional !== true || announcesBody(request);
    if (isExpected) checkMediaType(request, body?.mediaTypes ?? JSON_MEDIA_TYPES);
    const json = this.entrance === 'embedded' ? findConsumedJson(request) : undefined;
    const bytes = json === undefined ? await this.readBody() : Buffer.from(encodeChecked(json));
    this.onJsonBody?.();
    return bytes;
  }

  /** Throws `malformed` for a body that says anything. Clients send empty ones by habit. */
  async checkEmptyBody(): Promise<void> {
    if ((announcedLength(this.request) ?? 0) > EMPTY_BODY_BYTES_MAX) throw unheededBodyError();
    const json = this.entrance === 'embedded' ? findConsumedJson(this.request) : undefined;
    const text = json === undefined ? String(await this.readBody()) : encodeChecked(json);
    if (!EMPTY_BODY.test(text.trim())) throw unheededBodyError();
  }

  async readJson(): Promise<unknown> {
    return parseJsonBody(await this.readJsonBytes());
  }

  /**
   * Responds with the error that was thrown, or cuts the response that has begun. A bug is logged
   * in full.
   */
  fail(thrown: unknown): void {
    const { path, response } = this;
    this.#logFailure(thrown);
    if (response.destroyed && !this.#isFinished) return this.#finishAbandoned();
    const { status, headers, body } = createErrorResponse(thrown, path, this.route.errorFormat);
    if (thrown instanceof AppError && status >= 500) this.#failureReason = thrown.message;
    if (this.hasResponded) return this.#cutResponse(status);
    if (status === 415) addAcceptHeaders(headers, this.route, this.request);
    this.send(status, headers, body);
  }

  #logFailure(thrown: unknown): void {
    const { path } = this;
    if (!(thrown instanceof AppError)) {
      this.log.error('a request failed unexpectedly', { path, error: thrown });
      return;
    }
    const { message, code, details: { chainHops: hops, chainTarget: target } } = thrown;
    if (LOGGED_CODES.includes(code)) this.log.error(message, { path, code, error: thrown });
    // Any write may be a hop of webhooks that call each other (webhook-chain.ts), and this is where
    // all errors pass: the log must say where their chain ended.
    if (hops !== undefined) {
      this.log.warning(message, { path, ...target === undefined ? {} : { target }, hops });
    }
  }

  /**
   * Half a response must not look like a whole one. `status` is that of the error, which the client
   * of a stream does not see: its head was sent before.
   */
  #cutResponse(status: number): void {
    const { response } = this;
    if (response.headersSent && !response.writableEnded) response.destroy();
    if (!this.#isFinished) this.#finish(status, this.#streamedBytes);
  }

  /** Called when the handler is done: a handler that has not responded is a bug. */
  ensureResponse(): void {
    if (!this.hasResponded) this.fail(new Error(`${this.route.operationId} gave no answer`));
  }

  /**
   * Marks the request as responded to, so that a second response is a bug. Returns the lines of the
   * head, without those that Node adds (Date, Connection: keep-alive).
   */
  #beginResponse(
    headers: HeaderList | HeaderText, contentLength: number | null, closesConnection: boolean,
  ): HeaderText {
    assert(!this.hasResponded, 'answered twice');
    const handlerText = typeof headers === 'string' ? headers : formatHeaders(headers);
    this.hasResponded = true;
    const lengthLine = contentLength === null ? '' : `Content-Length: ${contentLength}\r\n`;
    const closeLine = closesConnection ? 'Connection: close\r\n' : '';
    const corsText = this.corsHeaders === null || ALLOW_ORIGIN.test(handlerText) ? ''
      : formatHeaders(this.corsHeaders);
    return `${handlerText}X-Request-Id: ${this.requestId}\r\nX-Content-Type-Options: nosniff\r\n${
      lengthLine}${closeLine}${corsText}`;
  }

  /** Discards the rest of the body after a streamed response, whose end had to be sent first. */
  #discardBody(): void {
    const { request } = this;
    if (request.destroyed || !this.#mustCloseUnread()) return;
    discardInput(request, this.#context.clock, () => {
      if (!request.complete) request.destroy();
    });
  }

  /** A command may read as slowly as its pipe does: the person who started it can end it. */
  get #stallMs(): number {
    return this.isControl ? Infinity : this.#context.stallMs;
  }

  /**
   * Whether the connection must close, as too much of the body is still to come, or the rest of it
   * cannot be read.
   */
  #mustCloseUnread(): boolean {
    const { request } = this;
    const bodyBytes = request.complete ? 0 : announcedLength(request);
    if (bodyBytes === 0) return false;
    if (hasFailed(request.socket)) return true;
    return this.awaitsContinue || bodyBytes === null || bodyBytes > SKIPPED_BYTES_MAX;
  }

  #sendBeforeDiscarding(
    status: number, headerText: string, body: Buffer | string | undefined,
  ): void {
    const { request, response } = this;
    response.writeHead(status, parseHeaderText(headerText));
    // The whole response goes out now; ending it would close the connection under the sender.
    if (body === undefined || request.method === 'HEAD') response.flushHeaders();
    else response.write(body);
    const { clock } = this.#context;
    // Node's parser reads nothing more from a connection that failed, and leaves it open.
    if (hasFailed(request.socket)) return endConnection(request.socket, clock);
    cutStalledReader(response, this.#stallMs, clock);
    discardInput(request, clock, () => response.end());
  }

  /** The connection is gone: the client has left, or it was cut, as the server stops. */
  #finishAbandoned(): void {
    this.hasResponded = true;
    const { isDraining } = this.#context;
    if (isDraining) this.#failureReason = 'the server stopped before there was an answer';
    // 499 is the usual status in logs for a client that left before its response.
    this.#finish(isDraining ? 503 : 499, this.#streamedBytes);
  }

  /** Counts the request, and logs it. */
  #finish(status: number, bytes: number): void {
    this.#isFinished = true;
    const durationMs = this.#context.clock.monotonicMs() - this.startedMs;
    const { isLongLived = false } = this.route;
    this.endpoint.meter.record(this.request.method ?? '', status, isLongLived ? null : durationMs);
    if (status < 400) this.#logCall(status);
    this.#logAccess(status, bytes, durationMs);
  }

  /** Logs each write of a customer, and of a program by a tool, with `who`: see change-log.ts. */
  #logCall(status: number): void {
    const { request: { method = '' }, path, route, grant } = this;
    if (method === 'GET' || method === 'HEAD' || route.passesOnCalls === true) return;
    const isBound = grant?.binding !== undefined;
    if (!isBound && !this.#isOfTool) return;
    const message = isBound ? 'a call with a token that is bound to webhooks' : 'a call of a tool';
    this.log.info(message,
      { who: this.caller, operation: route.operationId, method, path, status });
  }

  #logAccess(status: number, bytes: number, durationMs: number): void {
    const { accessLog, failureLog } = this.#context;
    if (accessLog === 'off') return;
    const isSlow = durationMs >= SLOW_MS && this.route.isLongLived !== true;
    if (accessLog === 'errors' && status < 500 && !isSlow) return;
    const fields = {
      method: this.request.method,
      path: this.path,
      status,
      durationMs: Math.round(durationMs * 1000) / 1000,
      bytes,
      client: this.clientAddress,
      who: this.caller,
      ...this.#failureReason === null ? {} : { reason: this.#failureReason },
    };
    if (status < 500) this.log.info('request', fields);
    else if (accessLog === 'errors') failureLog.error(this, 'request', fields);
    else this.log.error('request', fields);
  }
}

function unheededBodyError(): AppError {
  return new AppError('malformed', 'this request takes no body, and would not heed what its body '
    + 'says: send it without one, or take an endpoint that does it (/docs has all of them)');
}
