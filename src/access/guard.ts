/**
 * Who may come in. Before a request is served: the host it was meant for, the web page it comes
 * from, and the token it carries. What comes through the control socket is trusted: who can open
 * that can read and write the data directory itself.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import type { AllowedMethods, Entrance, Guard } from '../server/routing/dispatcher.ts';
import type { HttpExchange } from '../server/exchange/exchange.ts';
import {
  PREFLIGHT_HEADERS, corsHeadersFor, hostNameOf, isLoopbackAddress, isLoopbackName,
} from './origin.ts';
import type { Access } from '../server/route.ts';
import { targetHost } from '../server/routing/target.ts';
import { checkToken } from './bearer.ts';
import type { TokenVerifier } from './bearer.ts';

export type GuardOptions = {
  readonly tokens: TokenVerifier;
  /** Origins as browsers send them, `https://example.com`; `*` for all, which needs a token. */
  readonly corsOrigins: readonly string[];
  /** Host names, or `name:port`, that a service on loopback answers to besides its own. */
  readonly allowedHosts: readonly string[];
  readonly baseUri: string | null;
};

/** Throws `usage` for settings that would let any web page in. */
export function createGuard(options: GuardOptions): Guard {
  if (options.corsOrigins.includes('*') && !options.tokens.isRequired) {
    throw new AppError('usage', 'server.corsOrigins ["*"] needs an API token: set '
      + 'HOOKSHELF_API_TOKEN, or name the origins');
  }
  return new RequestGuard(options);
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

class RequestGuard implements Guard {
  readonly #tokens: TokenVerifier;
  readonly #corsOrigins: readonly string[];
  // Without `*`: the last token may expire while --allow-anonymous opens what it leaves behind.
  readonly #namedOrigins: readonly string[];
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  // Nearly every request names the same host.
  #lastHost: string | undefined;

  constructor(options: GuardOptions) {
    const base = options.baseUri === null ? null : new URL(options.baseUri);
    this.#tokens = options.tokens;
    this.#corsOrigins = options.corsOrigins.map(withoutSlash);
    this.#namedOrigins = this.#corsOrigins.filter((origin) => origin !== '*');
    const hosts = options.allowedHosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(base === null ? hosts : [...hosts, hostNameOf(base.host)]);
    this.#origins = new Set([...this.#corsOrigins, ...base === null ? [] : [base.origin]]);
  }

  admit(exchange: HttpExchange, isServed: boolean, allowedMethods: AllowedMethods): boolean {
    const { entrance, request } = exchange;
    if (entrance === 'control') return false;
    if (entrance !== 'embedded') checkHostCount(request);
    const { origin } = request.headers;
    const isRequired = this.#tokens.isRequired;
    if (this.#corsOrigins.length > 0) {
      const allowed = isRequired ? this.#corsOrigins : this.#namedOrigins;
      exchange.corsHeaders = corsHeadersFor(origin, allowed);
    }
    if (!isRequired && isOnLoopback(request, entrance) && !isOpenToPages(exchange.path)) {
      this.#checkHost(request);
      if (origin !== undefined) this.#checkOrigin(request, origin);
    }
    if (!isServed && isPreflight(request)) {
      return answerPreflight(exchange, allowedMethods(exchange.path));
    }
    if (isRequired) this.#checkAccess(exchange, isServed);
    return false;
  }

  #checkHost(request: IncomingMessage): void {
    const host = targetHost(request);
    // Without one (HTTP/1.0) it is no browser.
    if (host === undefined || host === this.#lastHost) return;
    const name = hostNameOf(host);
    if (isLoopbackName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase())) {
      this.#lastHost = host;
      return;
    }
    throw new AppError('misdirected', `this service does not answer to the host ${
      JSON.stringify(host.slice(0, 256))}: name it in server.allowedHosts, or set a token`);
  }

  #checkOrigin(request: IncomingMessage, origin: string): void {
    const { method = '', headers: { host } } = request;
    if (SAFE_METHODS.includes(method) || this.#origins.has(origin)) return;
    if (host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)) return;
    throw new AppError('forbidden', 'pages of this origin may not change anything here: name the '
      + 'origin in server.corsOrigins');
  }

  #checkAccess(exchange: HttpExchange, isServed: boolean): void {
    const access = isServed ? exchange.route.access : accessOfUnserved(exchange.path);
    // `control` routes are not found here, so only their neighbours' rules matter.
    if (access === 'public' || access === 'control') return;
    checkToken(exchange.request, this.#tokens, access);
  }
}

// Whoever has no token shall not learn what there is.
function accessOfUnserved(path: string): Access {
  return path === '/api' || path.startsWith('/api/') ? 'read' : 'public';
}

/** Webhooks have callers anywhere, and health checks tell nothing. */
function isOpenToPages(path: string): boolean {
  return path === '/healthz' || path === '/readyz'
    || path === '/webhook/in' || path.startsWith('/webhook/in/');
}

function isOnLoopback(request: IncomingMessage, entrance: Entrance): boolean {
  if (entrance !== 'embedded') return entrance === 'loopback';
  return isLoopbackAddress(request.socket.localAddress ?? '');
}

// RFC 9112 §3.2: exactly one Host. Two would let a proxy and us see different hosts.
function checkHostCount(request: IncomingMessage): void {
  const { rawHeaders } = request;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count === 1 || (count === 0 && request.httpVersion === '1.0')) return;
  throw new AppError('malformed', `a request has one Host header, not ${count}`);
}

function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers.origin !== undefined
    && request.headers['access-control-request-method'] !== undefined;
}

function answerPreflight(exchange: HttpExchange, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return false;
  const allow = allowed.join(', ');
  const isAllowed = exchange.corsHeaders?.includes('Access-Control-Allow-Origin') === true;
  const headers = isAllowed ? ['Access-Control-Allow-Methods', allow, ...PREFLIGHT_HEADERS] : [];
  exchange.send(204, ['Allow', allow, ...headers]);
  return true;
}

function withoutSlash(origin: string): string {
  return origin.endsWith('/') ? origin.slice(0, -1) : origin;
}
