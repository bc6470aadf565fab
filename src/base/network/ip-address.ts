/** Addresses as numbers: what a textual form hides (embedded IPv4, zones, brackets) comes out. */
import { isIP, isIPv4 } from 'node:net';

export type IpAddress = { readonly address: string; readonly family: 'ipv4' | 'ipv6' };

/** The first groups of an address; null is any. */
type AddressPattern = readonly (number | null)[];

const IPV4_COMPATIBLE: AddressPattern = [0, 0, 0, 0, 0, 0];
/** Prefixes of addresses that end with an IPv4 address. */
const EMBEDDED_AT_END: readonly AddressPattern[] = [
  IPV4_COMPATIBLE,
  [0, 0, 0, 0, 0, 0xffff],
  [0, 0, 0, 0, 0xffff, 0],
  [0x64, 0xff9b, 0, 0, 0, 0],
  [0x64, 0xff9b, 1],
  [null, null, null, null, 0, 0x5efe],
  [null, null, null, null, 0x200, 0x5efe],
];
const SIX_TO_FOUR: AddressPattern = [0x2002];
const TEREDO: AddressPattern = [0x2001, 0];

/** `[::1]` without its brackets, `example.com.` without the root's dot, in lower case. */
export function normalizeHost(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith('[') && lower.endsWith(']')) return lower.slice(1, -1);
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/**
 * The addresses that a packet to `text` may end up at, the one of the literal itself first; none
 * when `text` is no IP literal. IPv4 inside IPv6 comes out: mapped `::ffff:a.b.c.d` and the old
 * compatible `::a.b.c.d` (RFC 4291 §2.5.5), translated `::ffff:0:a.b.c.d` (RFC 2765 §2.1), NAT64's
 * `64:ff9b::/96` (RFC 6052) and whatever /96 of `64:ff9b:1::/48` (RFC 8215), 6to4 (RFC 3056 §2),
 * both ends of Teredo (RFC 4380 §4) and ISATAP (RFC 5214 §6.1).
 */
export function parseIpAddresses(text: string): readonly IpAddress[] {
  const [address = '', zone] = text.split('%', 2);
  if (isIP(address) === 0) return [];
  if (isIPv4(address)) return zone === undefined ? [{ address, family: 'ipv4' }] : [];
  const groups = parseGroups(address);
  return [{ address, family: 'ipv6' }, ...findEmbeddedIpv4(groups)];
}

function findEmbeddedIpv4(groups: readonly number[]): IpAddress[] {
  const [, second = 0, third = 0, fourth = 0, , , seventh = 0, last = 0] = groups;
  if (EMBEDDED_AT_END.some((pattern) => isMatch(groups, pattern))
    && (seventh !== 0 || !isMatch(groups, IPV4_COMPATIBLE))) return [createIpv4(seventh, last)];
  if (isMatch(groups, SIX_TO_FOUR)) return [createIpv4(second, third)];
  // Teredo holds the client's address with its bits inverted.
  if (isMatch(groups, TEREDO)) {
    return [createIpv4(third, fourth), createIpv4(seventh ^ 0xffff, last ^ 0xffff)];
  }
  return [];
}

/** The eight groups of a valid IPv6 address without a zone. */
function parseGroups(address: string): number[] {
  const lastColon = address.lastIndexOf(':');
  const tail = address.slice(lastColon + 1);
  const text = tail.includes('.')
    ? `${address.slice(0, lastColon + 1)}${encodeAsGroups(tail)}` : address;
  const [head = '', rest] = text.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const gap = rest === undefined ? 0 : 8 - before.length - after.length;
  const zeros = Array.from({ length: gap }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}

function encodeAsGroups(dottedAddress: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dottedAddress.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function createIpv4(high: number, low: number): IpAddress {
  const address = `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  return { address, family: 'ipv4' };
}

function isMatch(groups: readonly number[], pattern: AddressPattern): boolean {
  return pattern.every((group, index) => group === null || group === groups[index]);
}
