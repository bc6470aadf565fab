/**
 * What browsers tell about where a request comes from (Host, Origin), and the answers of CORS
 * (the Fetch standard, "CORS protocol"). Pure.
 */
import { isIP } from 'node:net';

/** The host of a Host header or authority, lower case, without port, brackets and final dot. */
export function hostNameOf(authority: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(authority)?.[1];
  if (bracketed !== undefined) return bracketed.toLowerCase();
  const colon = authority.indexOf(':');
  const name = colon < 0 ? authority : authority.slice(0, colon);
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

/** Whether a host name or address can only be this machine. */
export function isLoopbackName(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}

export const PREFLIGHT_HEADERS: readonly string[] = [
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age', '600',
];

const EXPOSED = [
  'Allow', 'ETag', 'Last-Modified', 'Link', 'Location', 'Retry-After', 'WWW-Authenticate',
  'X-Request-Id', 'X-Total-Count',
].join(', ');

/** Headers of every answer to `origin`; null when cross-origin use is off altogether. */
export function corsHeadersFor(
  origin: string | undefined, allowed: readonly string[],
): readonly string[] | null {
  if (allowed.length === 0) return null;
  if (allowed.includes('*')) return ALLOW_ALL;
  if (origin === undefined || !allowed.includes(origin)) return VARY;
  return [
    'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY,
  ];
}

const VARY: readonly string[] = ['Vary', 'Origin'];
const ALLOW_ALL: readonly string[] = [
  'Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED,
];
