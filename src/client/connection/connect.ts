/**
 * Opens one connection that can carry requests: DNS, TCP, TLS to the proxy, CONNECT, TLS to the
 * target, as far as the destination needs these steps, all under one deadline. It reports success
 * or failure exactly once, and nothing after `cancel`; after a failure or `cancel` no socket and no
 * timer is left.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { systemCodeOf } from '../../base/errors.ts';
import { http } from '../../base/node-modules.ts';
import type { DenyList } from '../policy/deny-list.ts';
import { dial } from './dial.ts';
import {
  NetworkError, proxyCutError, proxyError, proxyRefusedError, timeoutError, toNetworkError,
} from '../network-error.ts';
import type { Proxy } from '../policy/proxy.ts';
import { resolveHost } from './resolve.ts';
import type { Lookup } from './resolve.ts';
import { startTls } from './tls.ts';
import type { SessionSlot, TlsOptions } from './tls.ts';
import type { Destination } from '../policy/request-target.ts';
import { PendingConnection } from './pending-connection.ts';

export type ConnectOptions = {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly denyList: DenyList;
  readonly connectTimeoutMs: number;
  readonly verifiesCertificates: boolean;
  /** For TLS with the proxy or a target. Called when a connection is made, and not before. */
  readonly secureContext: () => SecureContext;
  /** For TLS with the target alone, which is shown a certificate of ours; absent: the same. */
  readonly targetContext?: (() => SecureContext) | undefined;
};

type TlsSessions = { readonly target: SessionSlot; readonly proxy: SessionSlot };

interface ConnectListener {
  onConnect(socket: Socket): void;
  onConnectFailure(error: NetworkError): void;
}

export type OpeningConnection = {
  /** Gives up without a report. */
  cancel(): void;
};

export function connect(
  destination: Destination, sessions: TlsSessions, options: ConnectOptions,
  listener: ConnectListener,
): OpeningConnection {
  const pending = new PendingConnection(options.clock);
  const attempt = new ConnectionAttempt(destination, sessions, options, pending);
  const fail = (error: NetworkError): void => {
    if (pending.isEnded) return;
    pending.giveUp();
    listener.onConnectFailure(error);
  };
  pending.startTimer(options.connectTimeoutMs, () => {
    const details = { isProxyFailure: attempt.isAtProxy };
    fail(timeoutError(`connecting (${attempt.phase})`, options.connectTimeoutMs, details));
  });
  attempt.run().then(
    (socket) => {
      if (pending.isEnded) return;
      pending.complete();
      listener.onConnect(socket);
    },
    (error: unknown) => fail(attempt.explain(error)),
  );
  return { cancel: () => pending.giveUp() };
}

type ConnectPhase = 'name look-up' | 'TCP' | 'TLS with the proxy' | 'proxy tunnel' | 'TLS';

class ConnectionAttempt {
  phase: ConnectPhase = 'name look-up';
  readonly #destination: Destination;
  readonly #sessions: TlsSessions;
  readonly #options: ConnectOptions;
  readonly #pending: PendingConnection;

  constructor(
    destination: Destination, sessions: TlsSessions, options: ConnectOptions,
    pending: PendingConnection,
  ) {
    this.#destination = destination;
    this.#sessions = sessions;
    this.#options = options;
    this.#pending = pending;
  }

  /** Whether the proxy has not been asked for the target yet, so that a failure is the proxy's. */
  get isAtProxy(): boolean {
    return this.#destination.proxy !== null
      && this.phase !== 'TLS' && this.phase !== 'proxy tunnel';
  }

  async run(): Promise<Socket> {
    const { proxy, isTls, hostname, authority } = this.#destination;
    const socket = proxy === null ? await this.#dialTarget() : await this.#dialProxy(proxy);
    if (!isTls) return socket;
    if (proxy !== null) {
      this.#enterPhase('proxy tunnel');
      await openTunnel(socket, authority, proxy);
    }
    this.#enterPhase('TLS');
    const { secureContext, targetContext = secureContext } = this.#options;
    return this.#startTls(socket, hostname, this.#sessions.target, targetContext);
  }

  /** The error of `run` as a NetworkError: whose it is depends on the phase. */
  explain(thrown: unknown): NetworkError {
    return this.#destination.proxy !== null && this.phase !== 'TLS' ? proxyError(thrown)
      : toNetworkError(thrown);
  }

  async #dialTarget(): Promise<Socket> {
    const { hostname, port } = this.#destination;
    const { lookup, denyList } = this.#options;
    const addresses = await resolveHost(hostname, lookup, denyList);
    this.#enterPhase('TCP');
    return dial(this.#pending, addresses, port);
  }

  // The proxy is configured, so it may stand at an address that targets may not.
  async #dialProxy(proxy: Proxy): Promise<Socket> {
    const addresses = await resolveHost(proxy.hostname, this.#options.lookup, null);
    this.#enterPhase('TCP');
    const socket = await dial(this.#pending, addresses, proxy.port);
    if (!proxy.isTls) return socket;
    this.#enterPhase('TLS with the proxy');
    const { secureContext } = this.#options;
    return this.#startTls(socket, proxy.hostname, this.#sessions.proxy, secureContext);
  }

  #startTls(
    socket: Socket, hostname: string, slot: SessionSlot, secureContext: () => SecureContext,
  ): Promise<Socket> {
    const { verifiesCertificates } = this.#options;
    const tls: TlsOptions = { verifiesCertificates, secureContext: secureContext() };
    return startTls(this.#pending, socket, hostname, tls, slot);
  }

  // A step that ends after the connection was given up must not start the next. `connect` does not
  // report this error.
  #enterPhase(step: ConnectPhase): void {
    if (this.#pending.isEnded) throw new Error('given up');
    this.phase = step;
  }
}

/**
 * Opens a tunnel (CONNECT, RFC 9110 §9.3.6): the proxy joins our socket to the target's. Resolves
 * when `socket`, connected to the proxy, leads to `authority` (`host:port`). Rejects with
 * NetworkError `proxy`. Has no deadline of its own: destroying the socket ends it.
 */
function openTunnel(socket: Socket, authority: string, proxy: Proxy): Promise<void> {
  return new Promise((resolve, reject) => {
    const credentials = proxy.authorization === null
      ? [] : ['Proxy-Authorization', proxy.authorization];
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: ['Host', authority, 'Connection', 'keep-alive', ...credentials],
      createConnection: () => socket,
    });
    request.on('connect', (response, _socket, head) => {
      const statusCode = response.statusCode ?? 0;
      if (statusCode < 200 || statusCode > 299) reject(proxyRefusedError(statusCode));
      // No target speaks first in TLS, so these bytes are the proxy's own.
      else if (head.length > 0) reject(proxyError(new Error('bytes before the tunnel was used')));
      else resolve();
    });
    request.on('error', (error) =>
      reject(systemCodeOf(error) === 'ECONNRESET' ? proxyCutError(error) : proxyError(error)));
    request.end();
  });
}
