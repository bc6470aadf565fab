/**
 * One attempt: it gets a connection, sends the request and reads the whole response. One deadline
 * covers all of it, the wait for a connection too. Exactly one outcome is reported, once; after it
 * the connection is either back in its pool or closed, at the latest WRITE_END_MS_MAX later.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { ByteCollector } from '../base/structures/byte-collector.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { http } from '../base/node-modules.ts';
import { HttpResponse } from './http-response.ts';
import {
  NetworkError, PROXY_AUTHENTICATION_REQUIRED, invalidError, proxyRefusedError, timeoutError,
  toNetworkError,
} from './network-error.ts';
import type { Pool, PoolWaiter } from './connection/pool.ts';
import type { PooledSocket } from './connection/pooled-socket.ts';

/** The part of a call that is the same in all of its attempts. */
export type PreparedRequest = {
  readonly pool: Pool;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
};

export type HttpOutcome = HttpResponse | NetworkError;

/** A longer body is cut here, and its connection is closed. */
const RESPONSE_BYTES_MAX = 1024 * 1024;

/**
 * How long a request may still be written after its response is complete; then its connection is
 * closed. node:tls reports the end of a write in a later phase of the loop, when the response of a
 * quick target has already been read. A longer wait would send a body to a target that has
 * responded without it.
 */
const WRITE_END_MS_MAX = 200;

/** How many 1xx responses may come before the final one: a target could send them without end. */
const INTERIM_MAX = 100;

type AttemptPhase = 'waiting for a connection' | 'waiting for the answer' | 'reading the answer';

export class HttpAttempt implements PoolWaiter {
  /** Read by the pool: set when the attempt begins anew after a reused connection failed. */
  needsFreshSocket = false;
  readonly #preparedRequest: PreparedRequest;
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: HttpOutcome) => void;
  #deadline: Timer | null = null;
  #writeDeadline: Timer | null = null;
  #phase: AttemptPhase = 'waiting for a connection';
  #connection: PooledSocket | null = null;
  /** The request under way; null while the attempt waits for a connection, also a second one. */
  #request: ClientRequest | null = null;
  #response: IncomingMessage | null = null;
  /** The response is complete, and the connection goes back to its pool once its request ends. */
  #isReleasable = false;
  /** The outcome has been reported. */
  #isDone = false;

  constructor(
    preparedRequest: PreparedRequest, clock: Clock, onOutcome: (outcome: HttpOutcome) => void,
  ) {
    this.#preparedRequest = preparedRequest;
    this.#clock = clock;
    this.#onOutcome = onOutcome;
  }

  start(timeoutMs: number): void {
    this.#deadline = this.#clock.startTimer(timeoutMs, () => {
      this.abandon(timeoutError(`the attempt (${this.#phase})`, timeoutMs));
    });
    this.#preparedRequest.pool.take(this);
  }

  /** Ends the attempt with `error`, in whatever phase it is. */
  abandon(error: NetworkError): void {
    if (this.#isDone) return;
    this.#preparedRequest.pool.withdraw(this);
    this.#fail(error);
  }

  onConnectFailure(error: NetworkError): void {
    this.#fail(error);
  }

  onSocket(connection: PooledSocket): void {
    this.#connection = connection;
    this.#phase = 'waiting for the answer';
    const { method, path, headers, body } = this.#preparedRequest;
    let request: ClientRequest;
    try {
      request = http.request({
        method, path, headers, createConnection: () => connection.socket,
      });
    } catch {
      this.#fail(invalidError('the request cannot be sent'));
      return;
    }
    this.#request = request;
    // Without an agent node:http would close the connection after the response. It sets this to
    // false itself when the response says `Connection: close`.
    request.shouldKeepAlive = true;
    request.on('response', (response) => this.#onResponse(request, connection, response));
    let interimCount = 0;
    request.on('information', () => {
      interimCount += 1;
      if (interimCount === INTERIM_MAX + 1) this.#fail(interimError());
    });
    request.on('error', (error) => this.#onRequestError(request, error));
    request.on('close', () => this.#onRequestClose(request, connection));
    if (body === undefined) request.end();
    else request.end(body);
  }

  #onResponse(request: ClientRequest, connection: PooledSocket, response: IncomingMessage): void {
    this.#phase = 'reading the answer';
    this.#response = response;
    const collector = new ByteCollector();
    response.on('data', (chunk: Buffer) => {
      if (this.#isDone) return;
      collector.add(chunk);
      if (collector.length <= RESPONSE_BYTES_MAX) return;
      const body = collector.take().subarray(0, RESPONSE_BYTES_MAX);
      connection.discard();
      this.#succeed(new HttpResponse(response, body, true));
    });
    response.on('end', () => {
      if (this.#isDone) return;
      this.#returnConnection(request, connection, response);
      this.#succeed(new HttpResponse(response, collector.take(), false));
    });
    response.on('error', (error) => this.#onRequestError(request, error));
  }

  /**
   * Called at the end of a response. The connection goes back to its pool in `#onRequestClose`:
   * until then node:http may still be busy with it.
   */
  #returnConnection(
    request: ClientRequest, connection: PooledSocket, response: IncomingMessage,
  ): void {
    // Read in the first response on a connection alone. Without the header the text `undefined`
    // names no time-out, so that nothing is limited.
    if (!connection.isReused) connection.limitKeepAlive(String(response.headers['keep-alive']));
    if (!request.shouldKeepAlive || !response.complete) {
      connection.discard();
      return;
    }
    this.#isReleasable = true;
    if (request.writableFinished) return;
    // From here on a byte or an end from the server closes the connection. So does the deadline:
    // the request closes with it, and the pool then finds that the connection cannot be used again.
    connection.isResponseComplete = true;
    this.#writeDeadline = this.#clock.startTimer(WRITE_END_MS_MAX, () => connection.discard());
  }

  #onRequestClose(request: ClientRequest, connection: PooledSocket): void {
    this.#writeDeadline?.cancel();
    if (this.#isReleasable) {
      this.#isReleasable = false;
      this.#preparedRequest.pool.release(connection);
    } else if (this.#phase === 'waiting for the answer') {
      // After a 101, which nobody asked for, node:http closes the connection without an error.
      this.#onRequestError(request, cutError());
    }
  }

  #onRequestError(request: ClientRequest, error: Error): void {
    if (this.#isDone || request !== this.#request) return;
    const connection = this.#connection;
    connection?.discard();
    // Some servers send a body after a 204, which has none: what comes after the end of a response
    // breaks the connection, and not the response. The event `end` is still to come.
    if (this.#response?.complete === true) return;
    // The server closed an idle connection as we began to use it: nothing was wrong with the
    // request, so it is sent again on a new one, within the same attempt.
    if (connection !== null && connection.isReused && !connection.hasReceived) {
      this.#connection = null;
      this.#request = null;
      this.needsFreshSocket = true;
      this.#phase = 'waiting for a connection';
      this.#preparedRequest.pool.take(this);
      return;
    }
    this.#fail(toNetworkError(error));
  }

  #succeed(response: HttpResponse): void {
    const isThroughProxy = this.#preparedRequest.pool.destination.proxy !== null;
    // A 407 comes from the proxy, or through a tunnel from the target, which must not send one:
    // both are treated alike.
    const isRefused = isThroughProxy && response.statusCode === PROXY_AUTHENTICATION_REQUIRED;
    this.#finish(isRefused ? proxyRefusedError(response.statusCode) : response);
  }

  #fail(error: NetworkError): void {
    if (this.#isDone) return;
    this.#connection?.discard();
    // It is set here, as the maker of the error does not know it. No other attempt has this error.
    if (this.#request !== null) error.wasConnected = true;
    this.#finish(error);
  }

  #finish(outcome: HttpOutcome): void {
    this.#isDone = true;
    this.#deadline?.cancel();
    this.#onOutcome(outcome);
  }
}

function interimError(): NetworkError {
  return new NetworkError('network', 'EINTERIM', 'too many answers came before the answer');
}

function cutError(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
}
