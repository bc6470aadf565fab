/**
 * Listens on a TCP port, plain or with TLS, and on a unix socket that only the owner of the data
 * directory can open. A listener that closes serves its pending requests first. Sockets that a
 * supervisor has opened are in activated-listener.ts.
 */
import { rmSync } from 'node:fs';
import type { Server, ServerOptions } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer, createServer } from 'node:net';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, isAccessRefused, messageOf, systemCodeOf } from '../../base/errors.ts';
import { explainFileError } from '../../base/file-error.ts';
import { http, loadHttps } from '../../base/node-modules.ts';
import { SOCKET_PATH_BYTES_MAX, withPrivateUmask } from '../../base/network/unix-socket.ts';
import { respondToClientError, rejectTunnel } from './client-error.ts';
import { cutIdleConnections } from './idle-connections.ts';
import { BufferedRequest } from '../exchange/buffered-request.ts';
import { createResponseClass } from '../exchange/whole-response.ts';
import type { RequestListeners } from '../routing/dispatcher.ts';

export type ServerLimits = {
  /** Time until the whole request has arrived; 0 is no limit. */
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
  /** null for a unix socket. */
  readonly port: number | null;
  /** Uses another certificate for new TLS connections. */
  renew(certificate: Certificate): void;
  /**
   * Stops accepting, closes idle connections and resolves when the last response is sent. The
   * connections that are left after `timeoutMs` are cut. Idempotent.
   */
  close(timeoutMs: number): Promise<void>;
}

// Node looks for clients over their time limit this often: they are cut within two seconds of it.
const CHECK_INTERVAL_MS = 500;
const IDLE_CHECK_MS = 50;

/** A server that does not listen yet. `emit('connection', duplex)` gives it connections. */
export function createHttpServer(
  listeners: RequestListeners, limits: ServerLimits, clock: Clock, certificate?: Certificate,
): HttpServer {
  const server = createUnattendedServer(limits, certificate);
  attend(server, listeners, clock);
  return server;
}

/** A server whose requests nobody answers yet. */
export function createUnattendedServer(
  limits: ServerLimits, certificate?: Certificate,
): HttpServer {
  const options: ServerOptions = {
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: computeHeadersTimeout(limits),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // The guard checks the header, and responds with a problem document.
    requireHostHeader: false,
  };
  // Assigned apart: the options' type wants a response class that is generic in the request.
  Object.assign(options, {
    IncomingMessage: BufferedRequest,
    ServerResponse: createResponseClass(limits.keepAliveTimeoutMs),
  });
  // The limit counts from the connection on, and cuts a client that sends a handshake bit by bit.
  const handshakeTimeout = options.headersTimeout;
  const server = certificate === undefined ? http.createServer(options)
    : loadHttps().createServer({ ...options, ...certificate, handshakeTimeout });
  // A client that ends its side after its request, as `nc -N` does, still wants the response. Node
  // has had this option since its first releases, off by default, but has no type for it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = limits.connectionsMax;
  // 0 is no limit: past a limit Node silently drops headers, perhaps the Host or a token. The limit
  // for the size of the head bounds their number too.
  server.maxHeadersCount = 0;
  return server;
}

/** Has `listeners` answer the requests from now on. */
export function attend(server: HttpServer, listeners: RequestListeners, clock: Clock): void {
  server.on('request', listeners.request);
  server.on('checkContinue', listeners.checkContinue);
  // Other expectations may be ignored (RFC 9110 §10.1.1); Node's own response says nothing.
  server.on('checkExpectation', listeners.request);
  server.on('connect', (_request, socket) => rejectTunnel(socket, clock, listeners.countRejection));
  server.on('clientError', (error: Error, socket) =>
    respondToClientError(error, socket, clock, listeners.countRejection));
}

// Node accepts no longer limit for the head than for the request; 0 is no limit.
function computeHeadersTimeout({ headersTimeoutMs, requestTimeoutMs }: ServerLimits): number {
  return requestTimeoutMs === 0 ? headersTimeoutMs : Math.min(headersTimeoutMs, requestTimeoutMs);
}

/** A port that is taken before its server exists. */
export type ReservedPort = {
  readonly host: string; readonly port: number; readonly server: NetServer;
};

/** Takes a port for a later server. Until then its connections are closed. Throws `conflict`. */
export async function reservePort(host: string, port: number): Promise<ReservedPort> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, { host, port }, (cause) => toListenError(cause, { host, port }));
  // If no server follows, the port must not keep the process alive.
  server.unref();
  return { host, port, server };
}

/**
 * Listens on `port`, or on a reserved one; 0 asks the kernel for a free port. Throws `conflict`
 * when it is in use.
 */
export async function listenOnPort(
  server: HttpServer, host: string, port: number, clock: Clock,
  reservedPort: ReservedPort | null = null,
): Promise<Listener> {
  const sockets = trackSockets(server);
  await listen(server, reservedPort?.server ?? { host, port },
    (cause) => toListenError(cause, { host, port }));
  server.ref();
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  const url = formatUrl(server, address);
  return { url, port: address.port, ...createLifecycle(server, sockets, clock) };
}

export function formatUrl(server: HttpServer, { family, address, port }: AddressInfo): string {
  const name = family === 'IPv6' ? `[${address}]` : address;
  return `${isTls(server) ? 'https' : 'http'}://${name}:${port}`;
}

/** Listens on a unix socket (mode 0600), and replaces the file that a dead owner left there. */
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
  // listen() creates the socket before it returns, so the mode holds from the start.
  await withPrivateUmask(() =>
    listen(server, { path }, (cause) => toListenError(cause, { path })));
  return { url: path, port: null, ...createLifecycle(server, sockets, clock) };
}

function isTls(server: HttpServer): server is TlsServer {
  return 'setSecureContext' in server;
}

/** `backlog`: how many connections the kernel queues; absent: Node's default. */
export function listen(
  server: NetServer, target: NetServer | (ListenOptions & { readonly fd?: number }),
  toError: (cause: Error) => AppError, backlog?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => reject(toError(cause));
    server.once('error', onError);
    server.listen(target, backlog, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function toListenError(cause: unknown, options: ListenOptions): AppError {
  const { host, port, path } = options;
  if (path !== undefined && isAccessRefused(cause)) {
    return new AppError('forbidden', `cannot make ${path}: ${explainFileError(cause)}`, {}, cause);
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
  /** Connections that carry HTTP: with TLS, those whose handshake is done. */
  readonly ready: ReadonlySet<Socket>;
};

export function trackSockets(server: HttpServer): TrackedSockets {
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

/** `idleMs`: how long a close leaves connections that are idle to begin a request. */
export function createLifecycle(
  server: HttpServer, sockets: TrackedSockets, clock: Clock, idleMs = 0,
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
      closing ??= closeServer(server, sockets, clock, { timeoutMs, idleMs });
      return closing;
    },
  };
}

function closeServer(
  server: HttpServer, sockets: TrackedSockets, clock: Clock,
  { timeoutMs, idleMs }: { readonly timeoutMs: number; readonly idleMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const deadline = clock.startTimer(timeoutMs, () => {
      // Node's `closeAllConnections` spares connections that are not, or no longer, HTTP.
      for (const socket of sockets.all) socket.destroy();
    });
    // It is called repeatedly: a connection may become idle after a response that was under way.
    const cutIdleSockets = (): void => {
      server.closeIdleConnections();
      // To Node a connection without a request is not idle.
      for (const socket of sockets.ready) if (socket.bytesRead === 0) socket.destroy();
    };
    let timer = clock.startTimer(Math.max(idleMs, IDLE_CHECK_MS), function check() {
      // After a standstill timers run before the loop reads: requests may have come meanwhile.
      setImmediate(cutIdleSockets);
      timer = clock.startTimer(IDLE_CHECK_MS, check);
    });
    // The close of an HTTP server cuts idle connections: that of a plain one only stops accepting.
    NetServer.prototype.close.call(server, () => {
      deadline.cancel();
      timer.cancel();
      // Ends Node's timer that looks for slow clients, too.
      server.close();
      resolve();
    });
    if (idleMs === 0) cutIdleSockets();
  });
}
