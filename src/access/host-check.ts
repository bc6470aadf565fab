/**
 * Checks the host that a request was sent to. While no token is needed, a service on loopback
 * accepts its own names only: otherwise a web page could reach it under a name that its owner has
 * pointed at this machine (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { AppError } from '../base/errors.ts';
import { quote } from '../base/text/error-message.ts';
import { getTargetHost } from '../server/exchange/request-head.ts';

/**
 * Returns the check of a request, which throws `misdirected`. `allowedHosts`: host names, or
 * `name:port`, besides those of loopback. `baseUri`: the address under which users reach the
 * service, whose host is allowed too; null when none is set.
 */
export function createHostCheck(
  allowedHosts: readonly string[], baseUri: URL | null,
): (request: IncomingMessage) => void {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
  if (baseUri !== null) hosts.add(parseHostName(baseUri.host));
  // The last host that was accepted: nearly every request names the same.
  let lastHost: string | undefined;
  return (request) => {
    const host = getTargetHost(request);
    // A request without a host comes from no browser, as browsers always send one; so it is no
    // DNS rebinding.
    if (host === undefined || host === lastHost) return;
    const name = parseHostName(host);
    if (isLoopbackName(name) || hosts.has(name) || hosts.has(host.toLowerCase())) {
      lastHost = host;
      return;
    }
    // The message is logged: it must not hold credentials.
    const quotedHost = quote(host.slice(host.lastIndexOf('@') + 1));
    throw new AppError('misdirected',
      `this service does not answer to the host ${quotedHost}: name it in `
      + 'server.allowedHosts, or set a token');
  };
}

/**
 * Throws `malformed` unless the request has one Host header (RFC 9112 §3.2). With two, a proxy and
 * we could see different hosts.
 */
export function checkHostCount(request: IncomingMessage): void {
  const { rawHeaders } = request;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count === 1 || (count === 0 && request.httpVersion === '1.0')) return;
  throw new AppError('malformed', `a request has one Host header, not ${count}`);
}

/** The host name of a Host header or authority: lower case, without port, brackets, final dot. */
export function parseHostName(authority: string): string {
  const literal = /^\[([^\]]*)\](?::\d*)?$/.exec(authority)?.[1];
  if (literal !== undefined) return literal.toLowerCase();
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
