/** A connection of a pool: it knows whether it is in use, was used, and can be used again. */
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { NetworkError } from '../network-error.ts';

// A server that keeps a connection for 5 s may close it as we send: stay clear of its limit.
const KEEP_ALIVE_MARGIN_MS = 1000;

/** The request that is on the connection. */
export interface SocketUser {
  /** Ends the request with `error`. */
  abandon(error: NetworkError): void;
}

export class PooledSocket {
  readonly socket: Socket;
  /** Whether an earlier request got its response here. */
  isReused = false;
  /** Whether a byte has come since `use`. */
  hasReceived = false;
  /** Set when the response is complete while its request is still being written. */
  isResponseComplete = false;
  readonly #clock: Clock;
  readonly #onDiscard: (socket: PooledSocket) => void;
  #user: SocketUser | null = null;
  #isDiscarded = false;
  #keepAliveMs = Infinity;
  #idleSinceMs = 0;

  constructor(
    socket: Socket, options: { readonly clock: Clock; readonly idleTimeoutMs: number },
    onDiscard: (socket: PooledSocket) => void,
  ) {
    this.socket = socket;
    this.#clock = options.clock;
    this.#onDiscard = onDiscard;
    socket.on('data', () => {
      this.hasReceived = true;
      // No request is waiting: these bytes would be taken for the response to the next one.
      if (!this.#isExpectingResponse) this.discard();
    });
    socket.on('end', () => {
      if (!this.#isExpectingResponse) this.discard();
    });
    socket.on('close', () => this.discard());
    // node:net restarts this time-out with every byte, so it costs a request nothing.
    socket.setTimeout(options.idleTimeoutMs, () => {
      if (this.#user === null) this.discard();
    });
  }

  get user(): SocketUser | null {
    return this.#user;
  }

  get #isExpectingResponse(): boolean {
    return this.#user !== null && !this.isResponseComplete;
  }

  use(user: SocketUser): void {
    this.#user = user;
    this.hasReceived = false;
    this.isResponseComplete = false;
    this.socket.ref();
  }

  /** The response is complete. An idle connection does not keep the process alive. */
  markIdle(): void {
    this.#user = null;
    this.isReused = true;
    this.#idleSinceMs = this.#clock.monotonicMs();
    this.socket.unref();
  }

  /** Whether it may carry another request; the server's `Keep-Alive: timeout=` is kept to. */
  isUsableAt(nowMs: number): boolean {
    return !this.#isDiscarded && !this.socket.destroyed && this.socket.writable
      && nowMs - this.#idleSinceMs < this.#keepAliveMs;
  }

  /** Sets the limit from the server's `Keep-Alive` header, such as `timeout=5, max=100`. */
  limitKeepAlive(header: string): void {
    const seconds = /\btimeout=(\d{1,9})/i.exec(header);
    if (seconds === null) return;
    const limitMs = Number(seconds[1]) * 1000;
    this.#keepAliveMs = Math.max(limitMs - KEEP_ALIVE_MARGIN_MS, limitMs / 2);
  }

  /** Closes the connection and gives up its place in the pool. */
  discard(): void {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.socket.destroy();
    this.#onDiscard(this);
  }
}
