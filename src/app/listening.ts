/**
 * Listens for an app: on TCP, or on the sockets that a supervisor has opened, for everybody, and on
 * the control socket for the owner of the data directory. A service that needs no token stays on
 * loopback: that rule is checked here. A unix socket of a supervisor counts as loopback.
 */
import { dirname } from 'node:path';
import {
  RENEWAL_HINT, examineValidity, readCertificate, readExpiryMs,
} from './certificate.ts';
import { makeControlSocketPath, removeSocketFolder } from './control-socket.ts';
import { createServerLimits } from './room-options.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Dispatcher, RequestListeners } from '../server/routing/dispatcher.ts';
import { listenOnActivatedSocket } from '../server/listening/activated-listener.ts';
import type { ActivatedSocket } from '../server/listening/activated-sockets.ts';
import { createHttpServer, listenOnPort, listenOnSocket } from '../server/listening/listener.ts';
import type {
  Certificate, ReservedPort, Listener, ServerLimits,
} from '../server/listening/listener.ts';
import { isLoopbackName, parseHostName } from '../access/host-check.ts';
import type { Settings } from '../settings/load-settings.ts';

/** The port and certificate that root has opened before it became the user who serves. */
export type PreopenedResources = {
  readonly port: ReservedPort | null;
  readonly certificate: Certificate | null;
};

type ListeningOptions = {
  readonly data: string;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: Dispatcher;
  readonly allowAnonymous?: boolean;
  /** Whether callers need a token. */
  readonly needsToken: () => boolean;
  readonly preopenedResources?: PreopenedResources;
  /** The process listens on these sockets alone, if there are any. */
  readonly activatedSockets?: readonly ActivatedSocket[];
};

export type BoundAddress =
  | { readonly url: string; readonly host: string; readonly port: number }
  /** A unix socket of a supervisor: `unix:` and its path, or its name where none is told. */
  | { readonly url: string };

// No setting for TCP counts here, so that none locks the operator out. The callers own the
// directory: an import may take as long as it needs.
const CONTROL_LIMITS: ServerLimits = {
  requestTimeoutMs: 0, headersTimeoutMs: 0, keepAliveTimeoutMs: 65_000, connectionsMax: 1000,
};
const PORT_MAX = 65_535;
const TOKEN_LENGTH_MIN = 16;
/** Stands for a unix socket, whose peers are on this machine. */
const LOOPBACK_NAME = 'localhost';

export class Listening {
  readonly #options: ListeningOptions;
  readonly #listeners: Listener[] = [];
  #secureListeners: Listener[] = [];
  /** The end of the certificate in use, in milliseconds since the epoch; null without one. */
  #certificateExpiresMs: number | null = null;
  #port: number | null = null;
  readonly #addresses: BoundAddress[] = [];
  #socketFolder: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** Opens the control socket and resolves to its path. */
  async listenOnControl(): Promise<string> {
    const { data, dispatcher, clock } = this.#options;
    const path = makeControlSocketPath(data);
    if (dirname(path) !== data) this.#socketFolder = dirname(path);
    const server = createHttpServer(dispatcher.listeners('control'), CONTROL_LIMITS, clock);
    this.#listeners.push(await listenOnSocket(server, path, clock));
    return path;
  }

  /**
   * Listens on a port, or on all activated sockets, and resolves to the addresses. Throws `usage`
   * for a host that is not loopback while no token is needed, and `unavailable` once this is
   * closed.
   */
  async listen(
    address: { readonly port?: number; readonly host?: string },
  ): Promise<readonly string[]> {
    const { activatedSockets = [], settings } = this.#options;
    if (this.#closing !== null) throw createClosedError();
    const certificate =
      this.#options.preopenedResources?.certificate ?? readCertificate(settings);
    const listeners = activatedSockets.length === 0
      ? [await this.#listenOnPort(address, certificate)]
      : await this.#listenOnActivatedSockets(activatedSockets, certificate);
    this.#port = listeners.find(({ port }) => port !== null)?.port ?? null;
    if (certificate !== null) {
      this.#secureListeners = listeners;
      this.#checkValidity(certificate);
    }
    return listeners.map(({ url }) => url);
  }

  async #listenOnPort(
    address: { readonly port?: number; readonly host?: string }, certificate: Certificate | null,
  ): Promise<Listener> {
    const { settings, clock } = this.#options;
    const { host = settings.server.host, port = settings.server.port } = address;
    if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
      throw new AppError('usage', `the port must be an integer from 0 to ${PORT_MAX}`);
    }
    const server = createHttpServer(
      this.#chooseListeners(host), createServerLimits(settings), clock, certificate ?? undefined,
    );
    const reservedPort = this.#options.preopenedResources?.port ?? null;
    const isReserved = reservedPort?.host === host && reservedPort.port === port;
    const listener =
      await listenOnPort(server, host, port, clock, isReserved ? reservedPort : null);
    await this.#keep(listener);
    if (listener.port !== null) {
      this.#addresses.push({ url: listener.url, host, port: listener.port });
    }
    return listener;
  }

  /** Listens on all sockets, or none: the app closes sockets that were open before a failure. */
  async #listenOnActivatedSockets(
    sockets: readonly ActivatedSocket[], certificate: Certificate | null,
  ): Promise<Listener[]> {
    const { settings, clock } = this.#options;
    const limits = createServerLimits(settings);
    const results = await Promise.allSettled(sockets.map(async (socket) => {
      const listener = await listenOnActivatedSocket(socket, {
        limits, clock, certificate,
        chooseListeners: (host) => this.#chooseListeners(host ?? LOOPBACK_NAME),
      });
      await this.#keep(listener);
      return listener;
    }));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      const { url, host, port } = result.value;
      this.#addresses.push(host === null || port === null ? { url } : { url, host, port });
      return result.value;
    });
  }

  /** Keeps the listener; closes it again if this has been closed meanwhile. */
  async #keep(listener: Listener): Promise<void> {
    if (this.#closing !== null) {
      await listener.close(0);
      throw createClosedError();
    }
    this.#listeners.push(listener);
  }

  #chooseListeners(host: string): RequestListeners {
    this.#checkExposure(host);
    return this.#options.dispatcher.listeners(isLoopbackName(host) ? 'loopback' : 'network');
  }

  /**
   * Throws as `listen` does of the host of the settings. The addresses of activated sockets are not
   * known before they are listened on.
   */
  checkHost(): void {
    const { activatedSockets = [], settings } = this.#options;
    if (activatedSockets.length === 0) this.#checkExposure(settings.server.host);
  }

  #checkExposure(host: string): void {
    const { settings, allowAnonymous, needsToken } = this.#options;
    checkExposure(host, settings, needsToken() || allowAnonymous === true);
  }

  /** The addresses it listens on, without the control socket. */
  get addresses(): readonly BoundAddress[] {
    return this.#addresses;
  }

  /** The absolute URL of this service, as links to it say it. */
  get baseUri(): string {
    const { server } = this.#options.settings;
    const scheme = server.tlsCert === null ? 'http' : 'https';
    return server.baseUri ?? `${scheme}://localhost:${this.#port ?? server.port}`;
  }

  /** False when the settings name no certificate. */
  renewCertificate(): boolean {
    const certificate = readCertificate(this.#options.settings);
    if (certificate === null) return false;
    for (const listener of this.#secureListeners) listener.renew(certificate);
    this.#checkValidity(certificate);
    return true;
  }

  /** The end of the certificate in use, in milliseconds since the epoch; null without one. */
  get certificateExpiresMs(): number | null {
    return this.#certificateExpiresMs;
  }

  #checkValidity(certificate: Certificate): void {
    const { clock, logger } = this.#options;
    this.#certificateExpiresMs = readExpiryMs(certificate);
    const { problem } = examineValidity(this.#certificateExpiresMs, clock.now());
    if (problem !== null) logger.warning(`${problem}; ${RENEWAL_HINT}`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const timeoutMs = this.#options.settings.server.shutdownTimeout * 1000;
    this.#options.dispatcher.drain();
    await Promise.all(this.#listeners.map((listener) => listener.close(timeoutMs)));
    if (this.#socketFolder !== null) removeSocketFolder(this.#socketFolder);
  }
}

/**
 * Throws `usage` where others reach the host and everybody may do everything, or can guess the
 * token. `isGuarded`: callers need a token, or the operator has said that they need none.
 */
export function checkExposure(host: string, settings: Settings, isGuarded: boolean): void {
  checkTokenLength(host, settings);
  if (isGuarded || isLoopbackName(host)) return;
  throw new AppError('usage', `on ${host} anybody could read and change everything: set `
    + 'HOOKSHELF_API_TOKEN, make a token with token:create, or give --allow-anonymous');
}

/** Throws `usage` for a configured token that is too short where others can come. */
export function checkTokenLength(host: string, settings: Settings): void {
  if (isLoopbackName(host) || !hasShortToken(settings)) return;
  throw new AppError('usage', `on ${host} the API token must have at least ${TOKEN_LENGTH_MIN} `
    + `characters, or it can be guessed: ${LONG_TOKEN_ADVICE}`);
}

const LONG_TOKEN_ADVICE = 'make one with `openssl rand -hex 32`, or with token:create';

function hasShortToken({ server: { apiToken } }: Settings): boolean {
  return apiToken !== null && apiToken.length < TOKEN_LENGTH_MIN;
}

/**
 * Finds the danger of `checkExposure` for a service on loopback: the settings tell of a proxy, and
 * others come through it. That is a warning and no error, since the proxy may pass on incoming
 * webhooks alone. null: there is nothing to warn of. `isGuarded` is that of `checkExposure`.
 */
export function examineForwarding(
  settings: Settings, isGuarded: boolean,
): { readonly problem: string; readonly advice: string } | null {
  const sign = describeForwarding(settings);
  if (sign === null) return null;
  if (!isGuarded) {
    return {
      problem: `${sign}, and the API asks for no token: whoever comes through a proxy can read `
        + 'and change everything',
      advice: 'set HOOKSHELF_API_TOKEN, make a token with token:create, or, where the proxy '
        + 'passes on incoming webhooks alone, give serve --allow-anonymous',
    };
  }
  return !hasShortToken(settings) ? null : {
    problem: `${sign}, and the API token has fewer than ${TOKEN_LENGTH_MIN} characters: whoever `
      + 'comes through a proxy can guess it',
    advice: LONG_TOKEN_ADVICE,
  };
}

/** The setting by which callers reach a service on loopback from elsewhere; null: none does. */
function describeForwarding({ server: { baseUri, trustProxy } }: Settings): string | null {
  if (baseUri !== null && !isLoopbackName(parseHostName(new URL(baseUri).host))) {
    return `server.baseUri is ${baseUri}`;
  }
  const hasProxy = Array.isArray(trustProxy) ? trustProxy.length > 0 : trustProxy === true;
  return hasProxy ? 'server.trustProxy tells of a proxy' : null;
}

function createClosedError(): AppError {
  return new AppError('unavailable', 'the app is closed');
}
