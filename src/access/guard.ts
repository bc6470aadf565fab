/**
 * Checks each request before it is served: the host that it was sent to, the web page that it comes
 * from, and its token. Requests through the control socket are trusted: a process that can open it
 * can read and write the data directory itself.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import type { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { HttpExchange } from '../server/exchange/http-exchange.ts';
import type { Access } from '../server/http-route.ts';
import type {
  AllowedMethods, Entrance, Guard, GuardOutcome,
} from '../server/routing/dispatcher.ts';
import { checkPermission, getGrant } from './token-verifier.ts';
import type { TokenVerifier } from './token-verifier.ts';
import {
  Cors, isPreflight, mayPageRead, respondToPreflight, respondToWebhookPreflight,
} from './cors.ts';
import { checkHostCount, createHostCheck, isLoopbackAddress } from './host-check.ts';
import { ALWAYS_REQUIRED } from './scope.ts';

export type GuardOptions = {
  readonly tokens: TokenVerifier;
  /**
   * Origins as browsers send them, such as `https://example.com`; `*`: all, which needs a token.
   */
  readonly corsOrigins: readonly string[];
  /** Host names, or `name:port`, that a service on loopback accepts besides its own. */
  readonly allowedHosts: readonly string[];
  readonly baseUri: string | null;
  /** Logs why requests are rejected, a few each second: anybody may send any number. */
  readonly rejectionLog: RateLimitedLog;
};

/** Throws `usage` for settings that would let any web page in. */
export function createGuard(options: GuardOptions): Guard {
  const admit = createAdmission(options);
  return {
    admit(exchange, hasRoute, allowedMethods) {
      try {
        return admit(exchange, hasRoute, allowedMethods);
      } catch (thrown) {
        if (thrown instanceof AppError) {
          const { path, clientAddress: client, grant } = exchange;
          const who = grant === null ? {} : { who: grant.name };
          const fields = { code: thrown.code, reason: thrown.message, path, client, ...who };
          options.rejectionLog.warning(exchange, 'a request was refused', fields);
        }
        throw thrown;
      }
    },
  };
}

function createAdmission(
  { tokens, corsOrigins, allowedHosts, baseUri }: GuardOptions,
): Guard['admit'] {
  if (corsOrigins.includes('*') && !tokens.isRequired) {
    throw new AppError('usage', 'server.corsOrigins ["*"] needs an API token: set '
      + 'HOOKSHELF_API_TOKEN, or name the origins');
  }
  const base = baseUri === null ? null : new URL(baseUri);
  const checkHost = createHostCheck(allowedHosts, base);
  const cors = new Cors(corsOrigins, base);
  return (
    exchange: HttpExchange, hasRoute: boolean, allowedMethods: AllowedMethods,
  ): GuardOutcome => {
    const { entrance, request, path } = exchange;
    const { origin } = request.headers;
    if (exchange.isControl) return 'admitted';
    if (entrance !== 'embedded') checkHostCount(request);
    if (corsOrigins.length > 0) exchange.corsHeaders = cors.headersFor(origin, tokens);
    if (!isOpenToPages(exchange) && isOnLoopback(request, entrance) && !tokens.isRequired) {
      checkHost(request);
      if (origin !== undefined) cors.checkPageMayChange(request, origin);
    }
    if (origin !== undefined && isPreflight(request)) {
      if (!hasRoute) return respondToPreflight(exchange, allowedMethods(path));
      // It decides on methods itself, but not on the pages that may call it.
      if (exchange.route.isIncomingWebhook === true && mayPageRead(exchange)) {
        return respondToWebhookPreflight(exchange);
      }
    }
    if (origin !== undefined && exchange.route.refusesForeignPages === true
      && !mayPageRead(exchange)) {
      cors.checkPageMayChange(request, origin);
    }
    const { access, bound } = hasRoute ? exchange.route
      : { access: accessToUnrouted(path), bound: undefined };
    // The control socket alone has the `control` routes, and its callers may call everything.
    if (access === 'public' || access === 'control') return 'admitted';
    if (!tokens.isRequired && access !== ALWAYS_REQUIRED) return 'admitted';
    exchange.grant = getGrant(request, tokens);
    checkPermission(exchange.grant, { access, bound });
    return 'admitted';
  };
}

// Callers without a token must not learn which paths exist.
function accessToUnrouted(path: string): Access {
  return path === '/api' || path.startsWith('/api/') ? 'read' : 'public';
}

/** Incoming webhooks have callers anywhere, and health checks reveal nothing. */
function isOpenToPages({ route, path }: HttpExchange): boolean {
  return route.isIncomingWebhook === true || path === '/healthz' || path === '/readyz';
}

function isOnLoopback(request: IncomingMessage, entrance: Entrance): boolean {
  if (entrance !== 'embedded') return entrance === 'loopback';
  return isLoopbackAddress(request.socket.localAddress ?? '');
}
