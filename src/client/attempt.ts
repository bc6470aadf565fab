/**
 * One attempt: it gets a connection, sends the request and reads the whole answer. One deadline
 * covers all of it, the wait for a connection too. Exactly one outcome is reported, once; after it
 * the connection is either back in its pool or closed.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import { fieldOf } from './answer-head.ts';
import { AnswerReader, cutError } from './answer-reader.ts';
import { HttpResponse } from './response.ts';
import { NetworkError, networkErrorOf, proxyRefusal, timeoutError } from './network-error.ts';
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
const COPIED_BYTES_MAX = 16 * 1024;
const NO_BODY = Buffer.alloc(0);

const PROXY_AUTHENTICATION_REQUIRED = 407;

type Step = 'waiting for a connection' | 'waiting for the answer' | 'reading the answer';

export class HttpAttempt implements Waiter {
  needsFreshSocket = false;
  readonly #prepared: PreparedRequest;
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: HttpOutcome) => void;
  #deadline: Timer | null = null;
  #step: Step = 'waiting for a connection';
  #pooled: PooledSocket | null = null;
  readonly #reader: AnswerReader;
  #isDone = false;

  constructor(prepared: PreparedRequest, clock: Clock, onOutcome: (outcome: HttpOutcome) => void) {
    this.#prepared = prepared;
    this.#clock = clock;
    this.#onOutcome = onOutcome;
    this.#reader = newReader(prepared);
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
    send(pooled.socket, this.#prepared);
  }

  onBytes(bytes: Buffer): void {
    const pooled = this.#pooled;
    if (pooled === null) return;
    let progress: ReturnType<AnswerReader['read']>;
    try {
      progress = this.#reader.read(bytes);
    } catch (thrown) {
      this.#fail(networkErrorOf(thrown));
      return;
    }
    const { head } = this.#reader;
    if (head === null) return;
    this.#step = 'reading the answer';
    if (progress === 'more') return;
    if (progress === 'whole' && head.isKeptAlive && head.framing !== 'close') {
      this.#giveBack(pooled, head.fields);
    } else {
      pooled.discard();
    }
    this.#succeed(new HttpResponse(head, this.#reader.takeBody(), progress === 'cut'));
  }

  onEnd(): void {
    const { head } = this.#reader;
    if (head === null || !this.#reader.end()) {
      this.#onCut(cutError());
      return;
    }
    this.#pooled?.discard();
    this.#succeed(new HttpResponse(head, this.#reader.takeBody(), false));
  }

  onClose(error: Error | null): void {
    this.#onCut(error ?? cutError());
  }

  #giveBack(pooled: PooledSocket, fields: readonly string[]): void {
    if (!pooled.isReused) pooled.noteKeepAlive(fieldOf(fields, 'keep-alive') ?? '');
    // An early answer: what is left of the body would be sent to nobody.
    if (pooled.socket.writableLength > 0) pooled.discard();
    else this.#prepared.pool.release(pooled);
  }

  #onCut(error: Error): void {
    const pooled = this.#pooled;
    if (this.#isDone || pooled === null) return;
    pooled.discard();
    // The server closed an idle connection as we began to use it: nothing was wrong with the
    // request, so it goes again on a new one, within the same attempt.
    if (pooled.isReused && !pooled.hasAnswered) {
      this.#pooled = null;
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

function newReader({ method }: PreparedRequest): AnswerReader {
  return new AnswerReader(method === 'HEAD', RESPONSE_BYTES_MAX);
}

// A small body goes with its head in one piece: to copy it costs less than a second piece does.
function send(socket: Socket, { method, path, headers, body = NO_BODY }: PreparedRequest): void {
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  head += '\r\n';
  if (body.length > COPIED_BYTES_MAX) {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
    return;
  }
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, 'latin1');
  body.copy(bytes, head.length);
  socket.write(bytes);
}
