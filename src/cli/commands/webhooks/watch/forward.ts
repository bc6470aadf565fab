/** Sends a kept request on to a program under development, as it came. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { http, loadHttps } from '../../../../base/node-modules.ts';
import { METHODS_WITHOUT_BODY } from '../../../../client/request-encoding.ts';
import { MASK } from '../../../../webhooks/http/url-credentials.ts';

type ForwardedRequest = {
  readonly method: string;
  /** Without `?`. */
  readonly query: string;
  /** In the order and case received. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** Who sends it on, for `Via` (RFC 9110 §7.6.3): a request that comes back is known by it. */
  readonly pseudonym: string;
};

type Forwarded = {
  readonly status: number;
  /** `OK` */
  readonly text: string;
  readonly durationMs: number;
};

/** Whoever stops at a breakpoint thinks for long. */
const SILENCE_MS_MAX = 600_000;
// Those of one connection (RFC 9110 §7.6.1), and those that say where it goes and how long it is.
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'host', 'content-length', 'expect',
]);

/** Throws `usage`. */
export function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new AppError('usage', '--forward must be a URL such as http://localhost:3000/hook, not '
    + JSON.stringify(text));
}

/** The answer's status; its body is read past. Throws `unavailable` when there is none. */
export async function forward(
  target: URL, given: ForwardedRequest, nowMs: () => number,
): Promise<Forwarded> {
  const startedMs = nowMs();
  const response = await send(target, given);
  response.resume();
  const { statusCode: status = 0, statusMessage: text = '' } = response;
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
  });
  return { status, text, durationMs: Math.round(nowMs() - startedMs) };
}

function send(target: URL, given: ForwardedRequest): Promise<IncomingMessage> {
  const { method, query, headers, body } = given;
  const search = [target.search.slice(1), query].filter((part) => part !== '').join('&');
  const { request: open } = target.protocol === 'https:' ? loadHttps() : http;
  const dropped = new Set([...OWN_HEADERS, ...namedByConnection(headers)]);
  const passed = headers.filter(([name, value]) =>
    // What was not stored cannot be sent on.
    !dropped.has(name.toLowerCase()) && value !== MASK);
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(new AppError('unavailable',
      `no answer from ${target.host}: ${messageOf(cause)}`, {}, cause));
    let request: ClientRequest;
    try {
      request = open({
        protocol: target.protocol, hostname: unbracketed(target.hostname), port: target.port,
        path: target.pathname + (search === '' ? '' : `?${search}`), method, agent: false,
        headers: [
          'Host', target.host, ...passed.flat(), 'Via', `1.1 ${given.pseudonym}`,
          ...lengthOf(given), 'Connection', 'close',
        ],
      });
    } catch (cause) {
      return fail(cause);
    }
    request.once('response', resolve);
    request.once('error', fail);
    request.setTimeout(SILENCE_MS_MAX, () =>
      request.destroy(new Error(`nothing came for ${SILENCE_MS_MAX / 1000} s`)));
    request.end(body);
    return undefined;
  });
}

/** None where none is expected and none came: most GETs have no length. */
function lengthOf({ method, headers, body }: ForwardedRequest): string[] {
  const isExpected = body.length > 0 || !METHODS_WITHOUT_BODY.has(method)
    || headers.some(([name]) => name.toLowerCase() === 'content-length');
  return isExpected ? ['Content-Length', String(body.length)] : [];
}

/** Headers that the sender meant for the connection to us alone. */
function namedByConnection(headers: ForwardedRequest['headers']): string[] {
  return headers.filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
}

function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
