/**
 * The connections to one destination: a limited number, kept alive between requests; the one used
 * last is used first. A connection that is being opened belongs to one request: when that request
 * is abandoned the connection is given up, and the next request in the queue opens its own.
 */
import type { Socket } from 'node:net';
import { connect } from './connect.ts';
import type { OpeningConnection, ConnectOptions } from './connect.ts';
import { NetworkError, closedError } from '../network-error.ts';
import { PooledSocket } from './pooled-socket.ts';
import type { SocketUser } from './pooled-socket.ts';
import type { Destination } from '../policy/request-target.ts';

export type PoolOptions = ConnectOptions & {
  readonly socketsMax: number;
  /** A connection nobody used for so long is closed. */
  readonly idleTimeoutMs: number;
};

/**
 * A request that waits for a connection: one of its callbacks follows each `take`, unless
 * `withdraw` does. Then it uses the connection.
 */
export interface PoolWaiter extends SocketUser {
  /** Whether it must have a connection that no request has used before. */
  readonly needsFreshSocket: boolean;
  onSocket(socket: PooledSocket): void;
  onConnectFailure(error: NetworkError): void;
}

export type PoolStatistics = {
  readonly host: string;
  /** Calls under way, also those that wait for something. */
  readonly inFlight: number;
  /** Open connections, idle ones included. */
  readonly sockets: number;
  readonly idle: number;
  readonly connecting: number;
  /** Attempts in the queue for a connection. */
  readonly waiting: number;
};

const WAITING_MAX = 10_000;

export class Pool {
  readonly destination: Destination;
  /** `HttpClient` counts them here: a pool is not forgotten while a call waits to try again. */
  callsUnderWay = 0;
  readonly #options: PoolOptions;
  readonly #sockets = new Set<PooledSocket>();
  readonly #idle: PooledSocket[] = [];
  readonly #connecting = new Map<PoolWaiter, OpeningConnection>();
  readonly #queue = new Set<PoolWaiter>();
  readonly #tlsSessions = { target: { session: null }, proxy: { session: null } };

  constructor(destination: Destination, options: PoolOptions) {
    this.destination = destination;
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#size === 0 && this.callsUnderWay === 0;
  }

  get statistics(): PoolStatistics {
    return {
      host: this.destination.authority,
      inFlight: this.callsUnderWay,
      sockets: this.#sockets.size,
      idle: this.#idle.length,
      connecting: this.#connecting.size,
      waiting: this.#queue.size,
    };
  }

  /**
   * Gives `waiter` a connection: at once when one is idle; else a new one, as soon as it is open;
   * where the pool is full, the first that another request releases or whose place becomes free.
   */
  take(waiter: PoolWaiter): void {
    const socket = waiter.needsFreshSocket ? null : this.#takeIdle();
    if (socket !== null) {
      socket.use(waiter);
      waiter.onSocket(socket);
      return;
    }
    // A waiter that needs a fresh connection must not wait while idle ones fill the pool.
    // `discard` removes it from the pool at once, so the next condition sees a free place.
    if (this.#size >= this.#options.socketsMax) this.#idle[0]?.discard();
    if (this.#size < this.#options.socketsMax) this.#connectFor(waiter);
    else if (this.#queue.size < WAITING_MAX) this.#queue.add(waiter);
    else waiter.onConnectFailure(tooManyError());
  }

  /** Ends what `take` began. */
  withdraw(waiter: PoolWaiter): void {
    this.#queue.delete(waiter);
    const openingConnection = this.#connecting.get(waiter);
    if (openingConnection === undefined) return;
    this.#connecting.delete(waiter);
    openingConnection.cancel();
    this.#serveNext();
  }

  /** Takes back a connection whose response was read to its end. */
  release(socket: PooledSocket): void {
    socket.markIdle();
    if (!socket.isUsableAt(this.#options.clock.monotonicMs())) {
      socket.discard();
      return;
    }
    const [next] = this.#queue;
    if (next === undefined) {
      this.#idle.push(socket);
    } else if (next.needsFreshSocket) {
      // The end of this socket frees a place in the pool: the next waiter opens its own.
      socket.discard();
    } else {
      this.#queue.delete(next);
      socket.use(next);
      next.onSocket(socket);
    }
  }

  /**
   * Abandons every attempt, each with an error of its own, as attempts write into their errors, and
   * closes every connection.
   */
  async close(): Promise<void> {
    const closings = [...this.#sockets].map(({ socket }) => untilClosed(socket));
    const users = [...this.#sockets].map(({ user }) => user).filter((user) => user !== null);
    // The queue comes first: its next waiter would open a connection for each one that ends.
    for (const waiter of [...this.#queue, ...this.#connecting.keys(), ...users]) {
      waiter.abandon(closedError());
    }
    for (const socket of [...this.#sockets]) socket.discard();
    await Promise.all(closings);
  }

  get #size(): number {
    return this.#sockets.size + this.#connecting.size;
  }

  #takeIdle(): PooledSocket | null {
    const nowMs = this.#options.clock.monotonicMs();
    for (;;) {
      const socket = this.#idle.pop();
      if (socket === undefined) return null;
      if (socket.isUsableAt(nowMs)) return socket;
      socket.discard();
    }
  }

  #connectFor(waiter: PoolWaiter): void {
    this.#connecting.set(waiter, connect(this.destination, this.#tlsSessions, this.#options, {
      onConnect: (socket) => {
        this.#connecting.delete(waiter);
        waiter.onSocket(this.#adopt(socket, waiter));
      },
      onConnectFailure: (error) => {
        this.#connecting.delete(waiter);
        this.#serveNext();
        waiter.onConnectFailure(error);
      },
    }));
  }

  /** Makes a new socket a connection of this pool, in use by `user`. */
  #adopt(socket: Socket, user: SocketUser): PooledSocket {
    const pooledSocket = new PooledSocket(socket, this.#options, (closedSocket) => {
      this.#sockets.delete(closedSocket);
      const index = this.#idle.indexOf(closedSocket);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#serveNext();
    });
    this.#sockets.add(pooledSocket);
    pooledSocket.use(user);
    return pooledSocket;
  }

  /** Opens a connection for the next waiter in the queue, if there is room for one. */
  #serveNext(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#size >= this.#options.socketsMax) return;
    this.#queue.delete(next);
    this.#connectFor(next);
  }
}

function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

function tooManyError(): NetworkError {
  const message = 'too many requests wait for a connection to this host';
  return new NetworkError('busy', 'EBUSY', message);
}
