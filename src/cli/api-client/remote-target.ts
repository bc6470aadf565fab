/**
 * The target of a server elsewhere: its API over HTTP or HTTPS, under the rules of the HTTP client.
 * Anything may answer at that address, so a response counts only when it looks like hookshelf's.
 */
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createClientOptions } from '../../app/room-options.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import { createConnector } from '../../client/connector.ts';
import {
  CLIENT_CERTIFICATE_WANTED, NetworkError, toNetworkError,
} from '../../client/network-error.ts';
import type { ApiCall, RequestHead, ApiTarget } from '../../server/local/api-call.ts';
import { PROBLEM_MEDIA_TYPE } from '../../server/problem.ts';
import type { Settings } from '../../settings/load-settings.ts';
import { withLiveness } from './check-liveness.ts';

type RemoteOptions = {
  /** With a path where a reverse proxy puts the service below one. */
  readonly url: URL;
  readonly token: string | null;
  readonly settings: Settings;
  readonly clock: Clock;
};

// The user has named this address: it may be on this machine or in this network.
const NOT_DENIED: ReadonlySet<string> = new Set(['loopback', 'private']);
const CONTROL_PATH = '/control/';
const FOLLOW_PATH = '/api/follow/';
const SETTINGS_PATH = '/api/settings';
/** Incoming webhooks take no API token: the sender's own signature authorizes there. */
const WEBHOOKS_PATH = '/webhook/in/';
const OUR_TYPES = /^(application\/(json|jsonl|x-ndjson)|text\/event-stream)\b/;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Throws `usage` when `http.*` settings cannot be used. */
export function createRemoteTarget({ url, token, settings, clock }: RemoteOptions): ApiTarget {
  const base = url.origin + trimSlashes(url.pathname);
  const options = createClientOptions(settings);
  const connector = createConnector(base, {
    ...options, denyAddresses: options.denyAddresses.filter((entry) => !NOT_DENIED.has(entry)),
  }, clock);
  const authorization: Record<string, string> =
    token === null ? {} : { Authorization: `Bearer ${token}` };
  const buildHead = (path: string): RequestHead => {
    if (path.startsWith(CONTROL_PATH)) throw createLocalOnlyError(base);
    const target = connector.resolveTarget(path);
    return {
      path: target.path,
      headers: {
        ...toRecord(target.headers), 'User-Agent': 'hookshelf',
        ...path.startsWith(WEBHOOKS_PATH) ? {} : authorization,
        // A connection serves one request.
        Connection: 'close',
      },
    };
  };
  return withLiveness({
    network: {
      clock, buildHead,
      connect: () => connector.connect().catch((thrown: unknown) => {
        throw createUnreachableError(thrown, base);
      }),
      toLostError: (cause) => toLostError(cause, base),
      checkResponse: (response, call) => checkResponse(response, call, base, token !== null),
    },
  }, `the server at ${base}`, clock);
}

/** `list` holds names and values in turn. */
function toRecord(list: readonly string[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2) {
    pairs[list[index] ?? ''] = list[index + 1] ?? '';
  }
  return pairs;
}

function createLocalOnlyError(base: string): AppError {
  return new AppError('usage', `the API of ${base} does not offer this: run the command on that `
    + 'machine, with --data');
}

const UNKNOWN_AUTHORITY_HINT =
  'is it the right server? A CA of your own is trusted with NODE_EXTRA_CA_CERTS=<file>';

/** How each refusal is mended. All others are of certificates that nobody vouches for. */
const CERTIFICATE_HINTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'renew it on the server, or set the clock of this machine right',
  CERT_NOT_YET_VALID: 'its time has not come; set the clock of this machine right',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for other names; name the server as its certificate does',
};

function createUnreachableError(thrown: unknown, base: string): AppError {
  const hint = findHint(thrown);
  return new AppError('unavailable', `cannot reach ${base}: ${messageOf(thrown)}`
    + (hint === null ? '' : `: ${hint}`), {}, thrown);
}

function findHint(thrown: unknown): string | null {
  if (!(thrown instanceof NetworkError) || thrown.isProxyFailure) return null;
  if (thrown.kind === 'certificate') {
    return CERTIFICATE_HINTS[thrown.code] ?? UNKNOWN_AUTHORITY_HINT;
  }
  return CLIENT_CERTIFICATE_WANTED.test(thrown.code)
    ? 'commands have none; name an address of it that takes a token alone' : null;
}

/** A server that wants a certificate says so only after the request was sent (TLS 1.3). */
function toLostError(cause: unknown, base: string): unknown {
  const error = toNetworkError(cause);
  return CLIENT_CERTIFICATE_WANTED.test(error.code) ? createUnreachableError(error, base) : cause;
}

/** Throws for a redirect, for a 401, and for a response that is not hookshelf's. */
function checkResponse(
  { statusCode: status = 0, headers }: IncomingMessage, call: ApiCall, base: string,
  hasToken: boolean,
): void {
  if (REDIRECTS.includes(status)) throw createRedirectError(status, headers.location, base);
  if (status === 401) throw createUnauthorizedError(call, base, hasToken);
  const type = headers['content-type'] ?? '';
  const isAttachment = call.isForAttachment === true
    && headers['content-disposition']?.startsWith('attachment') === true;
  const isOurs = status >= 400 ? type.startsWith(PROBLEM_MEDIA_TYPE)
    : status === 204 || isAttachment || OUR_TYPES.test(type);
  if (isOurs) return;
  throw new AppError('unavailable', `${base} answered ${call.method} ${call.path.split('?')[0]} `
    + `with ${status} (${STATUS_CODES[status] ?? 'an unknown status'}), and not as hookshelf does: `
    + 'is the address right, with its path? A proxy on the way may have answered');
}

function createRedirectError(status: number, location: string | undefined, base: string): AppError {
  const target = location !== undefined && URL.canParse(location, base)
    ? new URL(location, base) : null;
  const where = target === null ? '' : ` to ${target.origin}${target.pathname}`;
  return new AppError('unavailable', `${base} redirects${where} (status ${status}), and redirects `
    + 'are not followed: name the address where the server is');
}

function createUnauthorizedError(call: ApiCall, base: string, hasToken: boolean): AppError {
  const scope = getScopeFor(call);
  return new AppError('unauthorized', hasToken
    ? `${base} does not accept the token: it is of another server, revoked or expired (this needs `
      + `the scope ${scope})`
    : `${base} wants a token of scope ${scope}: name the file that holds one with --token-file`);
}

/** The scope of a token that a call takes, as people are told. */
function getScopeFor({ method, path }: ApiCall): string {
  if (path.startsWith(FOLLOW_PATH)) return 'follow';
  if (path === SETTINGS_PATH) return 'admin';
  return method === 'GET' ? 'read' : 'write, or admin to change webhooks';
}

/** Removes the slashes at the end, in linear time. */
function trimSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
