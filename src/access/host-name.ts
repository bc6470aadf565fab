/** Parses host names, and tells which can only be this machine. Pure. */
import { isIP } from 'node:net';

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
