/** Addresses as numbers: what a textual form hides (embedded IPv4, zones, brackets) comes out. */
import { isIP, isIPv4 } from 'node:net';

export type IpAddress = { readonly address: string; readonly family: 'ipv4' | 'ipv6' };

const NAT64_PREFIX = [0x64, 0xff9b, 0, 0, 0, 0];
const LOCAL_NAT64_PREFIX = [0x64, 0xff9b, 1];
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];
const COMPATIBLE_PREFIX = [0, 0, 0, 0, 0, 0];

/** `[::1]` without its brackets, `example.com.` without the root's dot, in lower case. */
export function plainHost(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith('[') && lower.endsWith(']')) return lower.slice(1, -1);
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/**
 * The address that a packet to `text` ends up at, or null when `text` is no IP literal. IPv4 inside
 * IPv6 is unwrapped: mapped `::ffff:a.b.c.d` (RFC 4291 §2.5.5), the old compatible `::a.b.c.d`, and
 * NAT64's `64:ff9b::/96` (RFC 6052) and whatever /96 of `64:ff9b:1::/48` (RFC 8215).
 */
export function parseIpAddress(text: string): IpAddress | null {
  const [address = '', zone] = text.split('%', 2);
  if (isIP(address) === 0) return null;
  if (isIPv4(address)) return zone === undefined ? { address, family: 'ipv4' } : null;
  const groups = groupsOf(address);
  const embedded = groups.slice(0, 6);
  const isEmbedding = isSame(embedded, MAPPED_PREFIX) || isSame(embedded, NAT64_PREFIX)
    || isSame(groups.slice(0, 3), LOCAL_NAT64_PREFIX)
    || (isSame(embedded, COMPATIBLE_PREFIX) && (groups[6] ?? 0) !== 0);
  if (!isEmbedding) return { address, family: 'ipv6' };
  return { address: dotted(groups[6] ?? 0, groups[7] ?? 0), family: 'ipv4' };
}

/** The eight groups of a valid IPv6 address without a zone. */
function groupsOf(address: string): number[] {
  const lastColon = address.lastIndexOf(':');
  const tail = address.slice(lastColon + 1);
  const text = tail.includes('.')
    ? `${address.slice(0, lastColon + 1)}${hexadecimal(tail)}` : address;
  const [head = '', rest] = text.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const gap = rest === undefined ? 0 : 8 - before.length - after.length;
  const zeros = Array.from({ length: gap }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}

function hexadecimal(dottedAddress: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dottedAddress.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

function isSame(left: readonly number[], right: readonly number[]): boolean {
  return left.every((group, index) => group === right[index]);
}
