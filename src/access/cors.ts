/**
 * Rules for requests that web pages make: which origins may read the responses (the Fetch standard,
 * "CORS protocol"), and which may change anything while no token is needed.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import type { HttpExchange } from '../server/exchange/http-exchange.ts';
import type { HeaderList } from '../server/http-route.ts';
import type { GuardOutcome } from '../server/routing/dispatcher.ts';
import type { TokenVerifier } from './token-verifier.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

export class Cors {
  readonly #allowedOrigins: readonly string[];
  // Without `*`, for when the last token has expired and --allow-anonymous opens the API.
  readonly #namedOrigins: readonly string[];
  readonly #ownOrigins: ReadonlySet<string>;

  /** Origins are as browsers send them, or `*`; `baseUri` is the public URL of the service. */
  constructor(allowedOrigins: readonly string[], baseUri: URL | null) {
    this.#allowedOrigins = allowedOrigins.map((origin) =>
      origin.endsWith('/') ? origin.slice(0, -1) : origin);
    this.#namedOrigins = this.#allowedOrigins.filter((origin) => origin !== '*');
    this.#ownOrigins =
      new Set([...this.#allowedOrigins, ...baseUri === null ? [] : [baseUri.origin]]);
  }

  /** Headers of every response to `origin`; null when no page may read them. */
  headersFor(
    origin: string | undefined, tokens: Pick<TokenVerifier, 'isRequired'>,
  ): HeaderList | null {
    const origins = tokens.isRequired ? this.#allowedOrigins : this.#namedOrigins;
    if (origins.length === 0) return null;
    if (origins.includes('*')) return ALLOW_ALL;
    if (origin === undefined || !origins.includes(origin)) return VARY;
    return [
      'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY,
    ];
  }

  /** Throws `forbidden` for a change that a page of another origin requests. */
  checkPageMayChange(
    { method = '', headers: { host } }: IncomingMessage, origin: string,
  ): void {
    if (SAFE_METHODS.includes(method) || this.#ownOrigins.has(origin)) return;
    if (host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)) return;
    throw new AppError('forbidden', 'pages of this origin may not change anything here: name the '
      + 'origin in server.corsOrigins');
  }
}

/**
 * Whether a request with an origin asks for permission, as browsers do before requests that no form
 * could make.
 */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS'
    && request.headers['access-control-request-method'] !== undefined;
}

/** Responds unless the path has no methods at all. */
export function respondToPreflight(
  exchange: HttpExchange, methods: readonly string[],
): GuardOutcome {
  if (methods.length === 0) return 'admitted';
  const allow = methods.join(', ');
  const headers = mayPageRead(exchange)
    ? ['Access-Control-Allow-Methods', allow, ...PREFLIGHT_HEADERS] : [];
  exchange.send(204, ['Allow', allow, ...headers]);
  return 'responded';
}

/**
 * Allows the method and the headers that the page asks for: the webhook answers a wrong method
 * itself, and a sender's scheme may need any header. The origin must be allowed.
 */
export function respondToWebhookPreflight(exchange: HttpExchange): GuardOutcome {
  const { headers } = exchange.request;
  const method = headers['access-control-request-method'] ?? '';
  const names = headers['access-control-request-headers'] ?? '';
  exchange.send(204, [
    ...TOKENS.test(method) ? ['Access-Control-Allow-Methods', method] : [],
    ...TOKENS.test(names) ? ['Access-Control-Allow-Headers', names] : [],
    'Access-Control-Max-Age', MAX_AGE_S,
  ]);
  return 'responded';
}

/** Whether the page that calls may read the response. */
export function mayPageRead({ corsHeaders }: HttpExchange): boolean {
  return corsHeaders?.includes('Access-Control-Allow-Origin') === true;
}

// Names of methods or headers (RFC 9110 §5.6.2).
const TOKENS = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:, ?[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;
const MAX_AGE_S = '600';
const PREFLIGHT_HEADERS: readonly string[] = [
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Hookshelf-Sequence, Idempotency-Key, If-Match, If-Modified-Since, '
    + 'If-None-Match, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, '
    + 'Prefer, X-Request-Id',
  'Access-Control-Max-Age', MAX_AGE_S,
];
const EXPOSED = [
  'Allow', 'ETag', 'Hookshelf-Sequence', 'Idempotency-Replayed', 'Last-Modified', 'Link',
  'Location', 'Retry-After', 'WWW-Authenticate', 'X-Hint', 'X-Merge-Lost', 'X-Request-Id',
  'X-Search-Complete', 'X-Search-Corrected', 'X-Search-Until', 'X-Total-Count',
].join(', ');
const VARY: readonly string[] = ['Vary', 'Origin'];
const ALLOW_ALL: readonly string[] = [
  'Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED,
];
