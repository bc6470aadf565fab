/**
 * One connection, ready to carry requests: DNS, TCP, TLS to the proxy, CONNECT, TLS to the target,
 * whichever of them the route needs, all under one deadline. Exactly one of the two outcomes is
 * reported, once; after a failure or `cancel` no socket and no timer is left.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { DenyList } from '../policy/deny-list.ts';
import { dial } from './dial.ts';
import { NetworkError, networkErrorOf, proxyError, timeoutError } from '../network-error.ts';
import type { Proxy } from '../policy/proxy.ts';
import { resolveHost } from './resolve.ts';
import type { Lookup } from './resolve.ts';
import { secure } from './tls.ts';
import type { SessionSlot, TlsOptions } from './tls.ts';
import type { Route } from '../policy/target.ts';
import { openTunnel } from './tunnel.ts';
import { Undertaking } from './pending-connection.ts';

export type ConnectOptions = {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly denyList: DenyList;
  readonly connectTimeoutMs: number;
  readonly isVerified: boolean;
  /** Called for the first TLS connection: reading the root certificates takes time. */
  readonly secureContext: () => SecureContext;
};

export type Sessions = { readonly target: SessionSlot; readonly proxy: SessionSlot };

export interface ConnectListener {
  onConnect(socket: Socket): void;
  onConnectFailure(error: NetworkError): void;
}

export type Connecting = {
  /** Gives up without a report. */
  cancel(): void;
};

export function connect(
  route: Route, sessions: Sessions, options: ConnectOptions, listener: ConnectListener,
): Connecting {
  const undertaking = new Undertaking(options.clock);
  const way = new Way(route, sessions, options, undertaking);
  const fail = (error: NetworkError): void => {
    if (undertaking.isEnded) return;
    undertaking.giveUp();
    listener.onConnectFailure(error);
  };
  undertaking.startTimer(options.connectTimeoutMs, () => {
    const details = { isProxyFailure: way.isAtProxy };
    fail(timeoutError(`connecting (${way.step})`, options.connectTimeoutMs, details));
  });
  way.go().then(
    (socket) => {
      if (undertaking.isEnded) return;
      undertaking.complete();
      listener.onConnect(socket);
    },
    (error: unknown) => fail(way.explain(error)),
  );
  return { cancel: () => undertaking.giveUp() };
}

type Step = 'name look-up' | 'TCP' | 'TLS with the proxy' | 'proxy tunnel' | 'TLS';

class Way {
  step: Step = 'name look-up';
  readonly #route: Route;
  readonly #sessions: Sessions;
  readonly #options: ConnectOptions;
  readonly #undertaking: Undertaking;

  constructor(
    route: Route, sessions: Sessions, options: ConnectOptions, undertaking: Undertaking,
  ) {
    this.#route = route;
    this.#sessions = sessions;
    this.#options = options;
    this.#undertaking = undertaking;
  }

  /** Whether the target has not been asked for yet: what goes wrong now is the proxy's. */
  get isAtProxy(): boolean {
    return this.#route.proxy !== null && this.step !== 'TLS' && this.step !== 'proxy tunnel';
  }

  async go(): Promise<Socket> {
    const { proxy, isTls, hostname, authority } = this.#route;
    const socket = proxy === null ? await this.#dialTarget() : await this.#dialProxy(proxy);
    if (!isTls) return socket;
    if (proxy !== null) {
      this.#enter('proxy tunnel');
      await openTunnel(socket, authority, proxy);
    }
    this.#enter('TLS');
    return this.#secure(socket, hostname, this.#sessions.target);
  }

  explain(thrown: unknown): NetworkError {
    return this.#route.proxy !== null && this.step !== 'TLS' ? proxyError(thrown)
      : networkErrorOf(thrown);
  }

  async #dialTarget(): Promise<Socket> {
    const { hostname, port } = this.#route;
    const { lookup, denyList } = this.#options;
    const addresses = await resolveHost(hostname, lookup, denyList);
    this.#enter('TCP');
    return dial(this.#undertaking, addresses, port);
  }

  // The proxy is configured, so it may stand at an address that targets may not.
  async #dialProxy(proxy: Proxy): Promise<Socket> {
    const addresses = await resolveHost(proxy.hostname, this.#options.lookup, null);
    this.#enter('TCP');
    const socket = await dial(this.#undertaking, addresses, proxy.port);
    if (!proxy.isTls) return socket;
    this.#enter('TLS with the proxy');
    return this.#secure(socket, proxy.hostname, this.#sessions.proxy);
  }

  #secure(socket: Socket, hostname: string, slot: SessionSlot): Promise<Socket> {
    const { isVerified, secureContext } = this.#options;
    const tls: TlsOptions = { isVerified, secureContext: secureContext() };
    return secure(this.#undertaking, socket, hostname, tls, slot);
  }

  // A step that ends after the undertaking was given up must not begin the next.
  #enter(step: Step): void {
    if (this.#undertaking.isEnded) throw new Error('given up');
    this.step = step;
  }
}
