/**
 * One attempt: it gets a connection, sends the request and reads the whole answer. One deadline
 * covers all of it, the wait for a connection too. Exactly one outcome is reported, once; after it
 * the connection is either back in its pool or closed, at the latest WRITE_END_MS_MAX later.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { ByteCollector } from '../base/structures/byte-collector.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { http } from '../base/node-modules.ts';
import { HttpResponse } from './response.ts';
import {
  NetworkError, invalidError, networkErrorOf, proxyRefusal, timeoutError,
} from './network-error.ts';
import type { Pool, Waiter } from './connection/pool.ts';
import type { PooledSocket } from './connection/pooled-socket.ts';

/** What stays the same in every attempt of one call. */
export type PreparedRequest = {
  readonly pool: Pool;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
};

export type HttpOutcome = HttpResponse | NetworkError;

/** An answer is read so far, then its connection is dropped. */
const RESPONSE_BYTES_MAX = 1024 * 1024;

/**
 * A request that is still being written when its answer is complete has so long to end, then its
 * connection is closed. node:tls tells of the end of a write in a later phase of the loop, when the
 * answer of a quick target has already been read. Longer waits would send a body to a target that
 * has answered without it.
 */
const WRITE_END_MS_MAX = 200;

/** Answers with 1xx before the one that counts; a target that sends no other would keep us busy. */
const INTERIM_MAX = 100;

const PROXY_AUTHENTICATION_REQUIRED = 407;

type Step = 'waiting for a connection' | 'waiting for the answer' | 'reading the answer';

export class HttpAttempt implements Waiter {
  needsFreshSocket = false;
  readonly #prepared: PreparedRequest;
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: HttpOutcome) => void;
  #deadline: Timer | null = null;
  #writeDeadline: Timer | null = null;
  #step: Step = 'waiting for a connection';
  #pooled: PooledSocket | null = null;
  #request: ClientRequest | null = null;
  #isReleasable = false;
  #isDone = false;

  constructor(prepared: PreparedRequest, clock: Clock, onOutcome: (outcome: HttpOutcome) => void) {
    this.#prepared = prepared;
    this.#clock = clock;
    this.#onOutcome = onOutcome;
  }

  start(timeoutMs: number): void {
    this.#deadline = this.#clock.startTimer(timeoutMs, () => {
      this.abandon(timeoutError(`the attempt (${this.#step})`, timeoutMs));
    });
    this.#prepared.pool.take(this);
  }

  /** Ends the attempt with `error`, whatever it is at. */
  abandon(error: NetworkError): void {
    if (this.#isDone) return;
    this.#prepared.pool.withdraw(this);
    this.#fail(error);
  }

  onConnectFailure(error: NetworkError): void {
    this.#fail(error);
  }

  onSocket(pooled: PooledSocket): void {
    this.#pooled = pooled;
    this.#step = 'waiting for the answer';
    const { method, path, headers, body } = this.#prepared;
    let request: ClientRequest;
    try {
      request = http.request({
        method, path, headers, createConnection: () => pooled.socket,
      });
    } catch {
      this.#fail(invalidError('the request cannot be sent'));
      return;
    }
    this.#request = request;
    // Without an agent node:http takes a connection to be for one request.
    request.shouldKeepAlive = true;
    request.on('response', (response) => this.#onResponse(request, pooled, response));
    let interimCount = 0;
    request.on('information', () => {
      interimCount += 1;
      if (interimCount > INTERIM_MAX) this.#fail(interimError());
    });
    request.on('error', (error) => this.#onRequestError(request, error));
    request.on('close', () => this.#onRequestClose(request, pooled));
    if (body === undefined) request.end();
    else request.end(body);
  }

  #onResponse(request: ClientRequest, pooled: PooledSocket, response: IncomingMessage): void {
    this.#step = 'reading the answer';
    const collector = new ByteCollector();
    response.on('data', (chunk: Buffer) => {
      if (this.#isDone) return;
      collector.add(chunk);
      if (collector.length <= RESPONSE_BYTES_MAX) return;
      const body = collector.take().subarray(0, RESPONSE_BYTES_MAX);
      pooled.discard();
      this.#succeed(new HttpResponse(response, body, true));
    });
    response.on('end', () => {
      if (this.#isDone) return;
      this.#giveBack(request, pooled, response);
      this.#succeed(new HttpResponse(response, collector.take(), false));
    });
    response.on('error', (error) => this.#onRequestError(request, error));
  }

  /** Called at the end of an answer, when node:http may still be busy with the connection. */
  #giveBack(request: ClientRequest, pooled: PooledSocket, response: IncomingMessage): void {
    if (!pooled.isReused) pooled.noteKeepAlive(String(response.headers['keep-alive']));
    if (!request.shouldKeepAlive || !response.complete) {
      pooled.discard();
      return;
    }
    this.#isReleasable = true;
    if (request.writableFinished) return;
    pooled.isAnswered = true;
    this.#writeDeadline = this.#clock.startTimer(WRITE_END_MS_MAX, () => pooled.discard());
  }

  #onRequestClose(request: ClientRequest, pooled: PooledSocket): void {
    this.#writeDeadline?.cancel();
    if (this.#isReleasable) {
      this.#isReleasable = false;
      this.#prepared.pool.release(pooled);
    } else if (this.#step === 'waiting for the answer') {
      // After an unwanted 101 node:http closes the connection and says no more.
      this.#onRequestError(request, cutError());
    }
  }

  #onRequestError(request: ClientRequest, error: Error): void {
    if (this.#isDone || request !== this.#request) return;
    const pooled = this.#pooled;
    pooled?.discard();
    // The server closed an idle connection as we began to use it: nothing was wrong with the
    // request, so it goes again on a new one, within the same attempt.
    if (pooled !== null && pooled.isReused && !pooled.hasAnswered) {
      this.#pooled = null;
      this.#request = null;
      this.needsFreshSocket = true;
      this.#step = 'waiting for a connection';
      this.#prepared.pool.take(this);
      return;
    }
    this.#fail(networkErrorOf(error));
  }

  #succeed(response: HttpResponse): void {
    const isThroughProxy = this.#prepared.pool.destination.proxy !== null;
    // Through a tunnel no answer of the proxy gets here, but the target has no business with 407.
    const isRefused = isThroughProxy && response.statusCode === PROXY_AUTHENTICATION_REQUIRED;
    this.#finish(isRefused ? proxyRefusal(response.statusCode) : response);
  }

  #fail(error: NetworkError): void {
    if (this.#isDone) return;
    this.#pooled?.discard();
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
