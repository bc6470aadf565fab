/**
 * Reads the head of a request: its target (RFC 9112 §3.2), its host, the length of its body, and
 * whether its connection can be used again. Targets are split by hand: a URL object costs a GET 9 %
 * (`get-one`).
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../base/errors.ts';

/** `search` is the raw query without `?`, empty where there is none. */
type Target = { readonly path: string; readonly search: string };

/**
 * The path is normalized, so that guard and router decide on the same one. Throws `malformed` for a
 * target that has no path.
 */
export function splitTarget(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): Target {
  if (url === '*' && method !== 'OPTIONS') throw notPathError();
  const target = url.startsWith('/') ? url : stripAuthority(url);
  const question = target.indexOf('?');
  if (question < 0) return { path: normalizePath(target), search: '' };
  return {
    path: normalizePath(target.slice(0, question)), search: target.slice(question + 1),
  };
}

/** The target without scheme and host, which a proxy sends (absolute form); `*` stays. */
function stripAuthority(url: string): string {
  if (url === '*') return url;
  const rest = ABSOLUTE_FORM.exec(url)?.[2];
  if (rest === undefined) throw notPathError();
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The host that a request is for: the target's in absolute form, whatever `Host` says (§3.2.2). */
export function getTargetHost({ url = '', headers }: IncomingMessage): string | undefined {
  return url.startsWith('/') ? headers.host : ABSOLUTE_FORM.exec(url)?.[1] ?? headers.host;
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]+)(.*)$/i;

function notPathError(): AppError {
  return new AppError('malformed', 'the request target is not a path');
}

/**
 * Decodes the percent-encoding of unreserved characters (RFC 3986 §6.2.2.2), so that equivalent
 * paths become equal. Fixed segments of routes hold such characters alone: from here on router and
 * guard compare a path as it stands. Encoded slashes stay.
 */
function normalizePath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(ENCODED, (encoded, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return UNRESERVED.test(character) ? character : encoded;
  });
}

const ENCODED = /%([0-9A-Fa-f]{2})/g;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** The length of the body; null when it is chunked. */
export function announcedLength({ headers }: IncomingMessage): number | null {
  if (headers['transfer-encoding'] !== undefined) return null;
  return Number(headers['content-length'] ?? 0);
}

export function announcesBody(request: IncomingMessage): boolean {
  return announcedLength(request) !== 0;
}

/** Whether the bytes that follow the request on its connection cannot be trusted to be another. */
export function endsConnection(request: IncomingMessage): boolean {
  const { headers, httpVersionMajor, httpVersionMinor } = request;
  // A proxy in front of us may see another end of the request than we do (RFC 9112 §6.1).
  if (httpVersionMinor === 0 && httpVersionMajor === 1
    && headers['transfer-encoding'] !== undefined) return true;
  // The request asks for another protocol (RFC 9110 §7.8). We speak none, and Node then drops the
  // requests that follow in the same chunk: the client would take the next response for theirs.
  return headers.upgrade !== undefined && /upgrade/i.test(headers.connection ?? '');
}

/**
 * The beginning of the path that a framework cut off before it called us: Express's `baseUrl`, or
 * the part of `originalUrl` before `url`. Empty when there is none.
 */
export function readMountPath(request: IncomingMessage): string {
  const base: unknown = Reflect.get(request, 'baseUrl');
  if (typeof base === 'string') return base;
  const { url = '' } = request;
  const original: unknown = Reflect.get(request, 'originalUrl');
  const isCut = typeof original === 'string' && original.endsWith(url);
  return isCut ? original.slice(0, original.length - url.length) : '';
}
