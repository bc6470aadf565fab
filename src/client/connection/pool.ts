/**
 * The connections to one destination: a limited number, kept alive between requests; the one used
 * last is used first. A connection that is being opened belongs to one request: when that request
 * is abandoned the connection is given up, and the next request in the queue opens its own.
 */
import type { Socket } from 'node:net';
import { connect } from './connect.ts';
import type { Connecting, ConnectOptions } from './connect.ts';
import { NetworkError } from '../network-error.ts';
import { PooledSocket } from './pooled-socket.ts';
import type { SocketUser } from './pooled-socket.ts';
import type { Destination } from '../policy/target.ts';

export type PoolOptions = ConnectOptions & {
  readonly socketsMax: number;
  /** A connection nobody used for so long is closed. */
  readonly idleTimeoutMs: number;
};

/** Wants a connection: exactly one of its callbacks follows each `take`, unless withdrawn. */
export interface Waiter extends SocketUser {
  /** A connection that has served before will not do. */
  readonly needsFreshSocket: boolean;
  onSocket(socket: PooledSocket): void;
  onConnectFailure(error: NetworkError): void;
}

export type PoolStatistics = {
  readonly host: string;
  /** Calls under way, those that wait for anything included. */
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
  /** Kept by the client; a pool that a call will come back to must not be forgotten. */
  callsUnderWay = 0;
  readonly #options: PoolOptions;
  readonly #sockets = new Set<PooledSocket>();
  readonly #idle: PooledSocket[] = [];
  readonly #connecting = new Map<Waiter, Connecting>();
  readonly #waiting = new Set<Waiter>();
  readonly #sessions = { target: { session: null }, proxy: { session: null } };

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
      waiting: this.#waiting.size,
    };
  }

  /** Finds `waiter` a connection, at once when one is idle. */
  take(waiter: Waiter): void {
    const socket = waiter.needsFreshSocket ? null : this.#takeIdle();
    if (socket !== null) {
      socket.use(waiter);
      waiter.onSocket(socket);
      return;
    }
    // One that needs a fresh connection must not wait while idle ones fill the pool.
    if (this.#size >= this.#options.socketsMax) this.#idle[0]?.discard();
    if (this.#size < this.#options.socketsMax) this.#connectFor(waiter);
    else if (this.#waiting.size < WAITING_MAX) this.#waiting.add(waiter);
    else waiter.onConnectFailure(tooMany());
  }

  /** Ends what `take` began. */
  withdraw(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    const connecting = this.#connecting.get(waiter);
    if (connecting === undefined) return;
    this.#connecting.delete(waiter);
    connecting.cancel();
    this.#serveNext();
  }

  /** Takes back a connection whose answer was read to its end. */
  release(socket: PooledSocket): void {
    socket.markIdle();
    if (!socket.isUsableAt(this.#options.clock.monotonicMs())) {
      socket.discard();
      return;
    }
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#idle.push(socket);
    } else if (next.needsFreshSocket) {
      socket.discard();
    } else {
      this.#waiting.delete(next);
      socket.use(next);
      next.onSocket(socket);
    }
  }

  /** Abandons every attempt with `error` and closes every connection. */
  async close(error: NetworkError): Promise<void> {
    const closed = [...this.#sockets].map(({ socket }) => closeOf(socket));
    const users = [...this.#sockets].map(({ user }) => user).filter((user) => user !== null);
    for (const waiter of [...this.#waiting, ...this.#connecting.keys(), ...users]) {
      waiter.abandon(error);
    }
    for (const socket of [...this.#sockets]) socket.discard();
    await Promise.all(closed);
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

  #connectFor(waiter: Waiter): void {
    const settle = (): void => {
      this.#connecting.delete(waiter);
    };
    this.#connecting.set(waiter, connect(this.destination, this.#sessions, this.#options, {
      onConnect: (socket) => {
        settle();
        waiter.onSocket(this.#adopt(socket, waiter));
      },
      onConnectFailure: (error) => {
        settle();
        this.#serveNext();
        waiter.onConnectFailure(error);
      },
    }));
  }

  #adopt(socket: Socket, user: SocketUser): PooledSocket {
    const pooled = new PooledSocket(socket, this.#options, (closed) => {
      this.#sockets.delete(closed);
      const index = this.#idle.indexOf(closed);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#serveNext();
    });
    this.#sockets.add(pooled);
    pooled.use(user);
    return pooled;
  }

  #serveNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#size >= this.#options.socketsMax) return;
    this.#waiting.delete(next);
    this.#connectFor(next);
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

function tooMany(): NetworkError {
  const message = 'too many requests wait for a connection to this host';
  return new NetworkError('busy', 'EBUSY', message);
}
