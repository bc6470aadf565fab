/** Who asked, for the log. Headers are believed only behind a proxy that the operator named. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The address of the client: with `trustProxy` the one that the nearest proxy added, last, to
 * `Forwarded` (RFC 7239) or `X-Forwarded-For`, else the peer's. `''` on a unix socket.
 */
export function clientAddressOf(
  request: IncomingMessage, peerAddress: string | undefined, trustProxy: boolean,
): string {
  const forwarded = trustProxy ? forwardedFor(request) : null;
  return forwarded ?? unmapped(peerAddress ?? '');
}

function forwardedFor(request: IncomingMessage): string | null {
  const { forwarded, 'x-forwarded-for': list } = request.headers;
  const standard = forwarded?.split(',').at(-1)?.split(';')
    .map((pair) => /^\s*for\s*=\s*"?([^"]*)"?\s*$/i.exec(pair)?.[1])
    .find((value) => value !== undefined);
  const plain = (Array.isArray(list) ? list.join() : list)?.split(',').at(-1);
  for (const candidate of [standard, plain]) {
    const address = candidate === undefined ? '' : withoutPort(candidate.trim());
    if (isIP(address) !== 0) return address;
  }
  return null;
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  if (bracketed !== undefined) return bracketed;
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}

function unmapped(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
