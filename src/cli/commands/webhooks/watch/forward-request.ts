/** Forwards a stored request to a program under development, as it was received. */
import { MASK } from '../../../../base/log.ts';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { CONNECTION_HEADERS } from '../../../../base/network/connection-headers.ts';
import { http, loadHttps } from '../../../../base/node-modules.ts';
import { METHODS_WITHOUT_BODY } from '../../../../client/request-encoding.ts';

type RequestToForward = {
  readonly method: string;
  /** Without `?`. */
  readonly query: string;
  /** The headers in the order and case received. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** Our name in `Via` (RFC 9110 §7.6.3): we recognize a request by it that comes back. */
  readonly pseudonym: string;
};

type ForwardResult = {
  readonly status: number;
  /** `OK` */
  readonly text: string;
  readonly durationMs: number;
};

/** Generous: the target may be paused in a debugger. */
const SILENCE_MS_MAX = 600_000;
const NOT_FORWARDED_HEADERS: ReadonlySet<string> =
  new Set([...CONNECTION_HEADERS, 'proxy-authenticate']);

/** Throws `usage`. */
export function parseForwardTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new AppError('usage', '--forward must be a URL such as http://localhost:3000/hook, not '
    + JSON.stringify(text));
}

/** Resolves with the status; discards the body. Throws `unavailable` without a response. */
export async function forwardRequest(
  target: URL, request: RequestToForward, nowMs: () => number,
): Promise<ForwardResult> {
  const startedMs = nowMs();
  const response = await send(target, request);
  response.resume();
  const { statusCode: status = 0, statusMessage: text = '' } = response;
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
  });
  return { status, text, durationMs: Math.round(nowMs() - startedMs) };
}

function send(target: URL, request: RequestToForward): Promise<IncomingMessage> {
  const { method, query, headers, body } = request;
  const search = [target.search.slice(1), query].filter((part) => part !== '').join('&');
  const { request: open } = target.protocol === 'https:' ? loadHttps() : http;
  const droppedNames = new Set([...NOT_FORWARDED_HEADERS, ...listConnectionHeaders(headers)]);
  const forwardedHeaders = headers.filter(([name, value]) =>
    // A masked value was not stored and cannot be forwarded.
    !droppedNames.has(name.toLowerCase()) && value !== MASK);
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(new AppError('unavailable',
      `no answer from ${target.host}: ${messageOf(cause)}`, {}, cause));
    let clientRequest: ClientRequest;
    try {
      clientRequest = open({
        protocol: target.protocol, hostname: stripBrackets(target.hostname), port: target.port,
        path: target.pathname + (search === '' ? '' : `?${search}`), method, agent: false,
        headers: [
          'Host', target.host, ...forwardedHeaders.flat(), 'Via', `1.1 ${request.pseudonym}`,
          ...createLengthHeader(request), 'Connection', 'close',
        ],
      });
    } catch (cause) {
      return fail(cause);
    }
    clientRequest.once('response', resolve);
    clientRequest.once('error', fail);
    clientRequest.setTimeout(SILENCE_MS_MAX, () =>
      clientRequest.destroy(new Error(`nothing came for ${SILENCE_MS_MAX / 1000} s`)));
    clientRequest.end(body);
    return undefined;
  });
}

/** No header where none is expected and none was received: most GETs have no length. */
function createLengthHeader({ method, headers, body }: RequestToForward): string[] {
  const isExpected = body.length > 0 || !METHODS_WITHOUT_BODY.has(method)
    || headers.some(([name]) => name.toLowerCase() === 'content-length');
  return isExpected ? ['Content-Length', String(body.length)] : [];
}

/** Names in `Connection`: the sender meant these headers only for its connection to us. */
function listConnectionHeaders(headers: RequestToForward['headers']): string[] {
  return headers.filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
}

function stripBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
