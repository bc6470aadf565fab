/**
 * Servers that listen: on a TCP port, plain or with TLS, and on a unix socket that only the owner
 * of the data directory can open. Closing one answers what is in flight first.
 */
import { rmSync } from 'node:fs';
import type { Server, ServerOptions } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { createServer } from 'node:net';
import type { ListenOptions, Server as NetServer, Socket } from 'node:net';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, isAccessRefused, messageOf, systemCodeOf } from '../../base/errors.ts';
import { http, loadHttps } from '../../base/node-modules.ts';
import { SOCKET_PATH_BYTES_MAX, withPrivateUmask } from '../../base/network/unix-socket.ts';
import { respondToClientError, rejectTunnel } from './client-error.ts';
import { cutIdleConnections } from './idle-connections.ts';
import { BufferedRequest } from '../exchange/buffered-request.ts';
import { createResponseClass } from '../exchange/single-write-response.ts';
import type { RequestListeners } from '../routing/dispatcher.ts';

export type ServerLimits = {
  /** Until the whole request has arrived; 0 is no limit. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly connectionsMax: number;
};

export type Certificate = { readonly cert: Buffer; readonly key: Buffer };

type HttpServer = Server | TlsServer;

export interface Listener {
  /** `http://127.0.0.1:8000`; for a unix socket its path. */
  readonly url: string;
  /** The port listened on; null for a unix socket. */
  readonly port: number | null;
  /** Serves new TLS connections with another certificate. */
  renew(certificate: Certificate): void;
  /**
   * Stops accepting, closes idle connections and resolves when the last answer is out. After
   * `timeoutMs` what is left is cut.
   */
  close(timeoutMs: number): Promise<void>;
}

// Late clients are looked for this often, so they are cut within two seconds of their limit.
const CHECK_INTERVAL_MS = 500;
const IDLE_CHECK_MS = 50;

/** A server that is not listening yet; give it connections with `emit('connection', duplex)`. */
export function createHttpServer(
  listeners: RequestListeners, limits: ServerLimits, clock: Clock, certificate?: Certificate,
): HttpServer {
  const options: ServerOptions = {
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: computeHeadersTimeout(limits),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Answered by the guard, with a problem document.
    requireHostHeader: false,
  };
  // Apart, as the options' type asks for a class of responses that is generic in the request.
  Object.assign(options, {
    IncomingMessage: BufferedRequest,
    ServerResponse: createResponseClass(limits.keepAliveTimeoutMs),
  });
  // Counted from the connection on: what keeps sending pieces of a handshake is cut as well.
  const handshakeTimeout = options.headersTimeout;
  const server = certificate === undefined ? http.createServer(options)
    : loadHttps().createServer({ ...options, ...certificate, handshakeTimeout });
  // A client that ends its side after its request, as `nc -N` does, still wants the answer. The
  // option has no type, but Node has had it, off by default, since its first releases.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = limits.connectionsMax;
  // Node silently drops headers past this limit, perhaps the Host or a token. The limit for the
  // size of the whole head bounds their number too.
  server.maxHeadersCount = 0;
  server.on('request', listeners.request);
  server.on('checkContinue', listeners.checkContinue);
  // Other expectations may be passed over (RFC 9110 §10.1.1); Node's own answer says nothing.
  server.on('checkExpectation', listeners.request);
  server.on('connect', (_request, socket) => rejectTunnel(socket, clock, listeners.countRejection));
  server.on('clientError', (error: Error, socket) =>
    respondToClientError(error, socket, clock, listeners.countRejection));
  return server;
}

// Node refuses a longer limit for the head than for the whole; 0 is none.
function computeHeadersTimeout({ headersTimeoutMs, requestTimeoutMs }: ServerLimits): number {
  return requestTimeoutMs === 0 ? headersTimeoutMs : Math.min(headersTimeoutMs, requestTimeoutMs);
}

/** A port that is reserved before its server exists. */
export type ReservedPort = {
  readonly host: string; readonly port: number; readonly server: NetServer;
};

/** Reserves a port for a later server; connections until then are closed. Throws `conflict`. */
export async function reservePort(host: string, port: number): Promise<ReservedPort> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, { host, port });
  // If no server follows, this must not keep the process alive.
  server.unref();
  return { host, port, server };
}

/**
 * Listens on a port, or takes a held one over; 0 asks the kernel for one. Throws `conflict` when it
 * is taken.
 */
export async function listenOnPort(
  server: HttpServer, host: string, port: number, clock: Clock,
  reservedPort: ReservedPort | null = null,
): Promise<Listener> {
  const sockets = trackSockets(server);
  await listen(server, { host, port }, reservedPort);
  server.ref();
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  const scheme = isTls(server) ? 'https' : 'http';
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `${scheme}://${name}:${address.port}`;
  return { url, port: address.port, ...createLifecycle(server, sockets, clock) };
}

/** Listens on a unix socket (mode 0600), in place of what a dead owner left there. */
export async function listenOnSocket(
  server: HttpServer, path: string, clock: Clock,
): Promise<Listener> {
  assert(Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX, `${path} is too long for a socket`);
  try {
    rmSync(path, { force: true });
  } catch (cause) {
    throw toListenError(cause, { path });
  }
  const sockets = trackSockets(server);
  // listen() creates the socket before it returns.
  await withPrivateUmask(() => listen(server, { path }));
  return { url: path, port: null, ...createLifecycle(server, sockets, clock) };
}

function isTls(server: HttpServer): server is TlsServer {
  return 'setSecureContext' in server;
}

function listen(
  server: NetServer, options: ListenOptions, reservedPort: ReservedPort | null = null,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => reject(toListenError(cause, options));
    server.once('error', onError);
    server.listen(reservedPort?.server ?? options, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function toListenError(cause: unknown, options: ListenOptions): AppError {
  const { host, port, path } = options;
  if (path !== undefined && isAccessRefused(cause)) {
    return new AppError('forbidden', `not allowed to make ${path}: run as the owner of the data `
      + 'directory, or name another one with --data', {}, cause);
  }
  const address = path ?? `${host ?? ''} port ${port ?? ''}`;
  switch (systemCodeOf(cause)) {
    case 'EADDRINUSE':
      return new AppError('conflict', `${address} is in use: stop what listens there, or choose `
        + 'another with --port', {}, cause);
    case 'EACCES':
      return new AppError('forbidden', `not allowed to listen on ${address}: choose a port from `
        + '1024 on with --port (root names it there or in HOOKSHELF_SERVER_PORT)', {}, cause);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new AppError('usage', `${host ?? ''} is no address of this machine: choose another `
        + 'with --host', {}, cause);
    default:
      return new AppError('internal',
        `cannot listen on ${address}: ${messageOf(cause)}`, {}, cause);
  }
}

type TrackedSockets = {
  /** Every open connection. */
  readonly all: ReadonlySet<Socket>;
  /** Those that carry HTTP: with TLS their handshake is done, and its bytes do not count. */
  readonly ready: ReadonlySet<Socket>;
};

function trackSockets(server: HttpServer): TrackedSockets {
  const track = (event: string): ReadonlySet<Socket> => {
    const sockets = new Set<Socket>();
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    return sockets;
  };
  const all = track('connection');
  return { all, ready: isTls(server) ? track('secureConnection') : all };
}

function createLifecycle(
  server: HttpServer, sockets: TrackedSockets, clock: Clock,
): Pick<Listener, 'renew' | 'close'> {
  let closing: Promise<void> | null = null;
  const { keepAliveTimeout } = server;
  const idleCheck = keepAliveTimeout === 0 ? null
    : cutIdleConnections(server, keepAliveTimeout, clock);
  return {
    renew(certificate) {
      assert(isTls(server), 'only a TLS server has a certificate');
      server.setSecureContext(certificate);
    },
    close(timeoutMs) {
      idleCheck?.cancel();
      closing ??= closeServer(server, sockets, clock, timeoutMs);
      return closing;
    },
  };
}

function closeServer(
  server: HttpServer, sockets: TrackedSockets, clock: Clock, timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const deadline = clock.startTimer(timeoutMs, () => {
      // Node's `closeAllConnections` passes over those that are not, or no longer, HTTP.
      for (const socket of sockets.all) socket.destroy();
    });
    // A connection may become idle after an answer that was begun before closing was.
    const cutIdleSockets = (): void => {
      server.closeIdleConnections();
      // Node does not count a connection as idle before its first request.
      for (const socket of sockets.ready) if (socket.bytesRead === 0) socket.destroy();
    };
    let timer = clock.startTimer(IDLE_CHECK_MS, function check() {
      cutIdleSockets();
      timer = clock.startTimer(IDLE_CHECK_MS, check);
    });
    server.close(() => {
      deadline.cancel();
      timer.cancel();
      resolve();
    });
    cutIdleSockets();
  });
}
