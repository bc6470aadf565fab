/**
 * The client's address, for the log. Headers count only from proxies that the operator trusts.
 * Parsing takes time in proportion to a header's length, whatever it holds.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import { ADDRESS_GROUPS } from '../../base/network/address-groups.ts';
import { AddressSet } from '../../base/network/address-set.ts';

/** The trusted proxies as addresses and CIDRs; true: all on loopback and in private networks. */
export type TrustProxy = boolean | readonly string[];

/** The client's address. `peer` is the address of the connection, `''` on a unix socket. */
export type ClientAddressResolver = (request: IncomingMessage, peer: string | undefined) => string;

// An address with its zone, brackets and port is always shorter.
const NODE_LENGTH_MAX = 100;
const MAPPED = '::ffff:';
const PRIVATE_GROUPS = ['loopback', 'private'];

/**
 * Behind trusted proxies the client is the rightmost address of `X-Forwarded-For`, else of
 * `Forwarded` (RFC 7239), that is not a trusted proxy's: the client may have written itself all to
 * the left of it. Without trusted proxies, or if the header names nobody, the client is the peer.
 */
export function createClientAddressResolver(trustProxy: TrustProxy): ClientAddressResolver {
  if (trustProxy === false) return (_request, peer = '') => unmapAddress(peer);
  const proxies = new AddressSet();
  const entries = trustProxy === true
    ? PRIVATE_GROUPS.flatMap((group) => ADDRESS_GROUPS.get(group) ?? []) : trustProxy;
  for (const entry of entries) proxies.add(entry);
  // The peer of a unix socket is on this machine.
  const isTrusted = (address: string): boolean =>
    address === '' ? trustProxy === true : proxies.hasLiteral(address);
  return (request, peer = '') => {
    let client = unmapAddress(peer);
    if (!isTrusted(client)) return client;
    for (const node of listNodesFromRight(request)) {
      const address = parseAddress(node);
      if (address === null) break;
      client = unmapAddress(address);
      if (!isTrusted(client)) break;
    }
    return client;
  };
}

/** The peers that each proxy has named, the nearest proxy's first. */
function* listNodesFromRight({ headers }: IncomingMessage): Generator<string> {
  const { forwarded, 'x-forwarded-for': list } = headers;
  const plain = Array.isArray(list) ? list.join() : list;
  if (plain !== undefined) yield* listItemsFromRight(plain);
  // A comma splits in quotes too: no address holds one, and a quote that a client left open must
  // not swallow the entry that its proxy added.
  else for (const element of listItemsFromRight(forwarded ?? '')) yield parseForParameter(element);
}

/** The headers by which proxies say that, or for whom, they pass a request on. */
export const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

/**
 * Whether a proxy has passed the request on: its client may be anywhere. No proxy need be trusted
 * for it, as a client who writes such a header himself only loses by it.
 */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
}

function* listItemsFromRight(list: string): Generator<string> {
  let end = list.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    const item = list.slice(comma + 1, end).trim();
    if (item !== '') yield item;
    end = comma;
  }
}

/** The `for` of an element such as `for="[2001:db8::1]:80";proto=https`; `''` without one. */
function parseForParameter(element: string): string {
  for (const pair of element.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim().toLowerCase() !== 'for') continue;
    const value = pair.slice(equals + 1).trim();
    const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
    return isQuoted ? value.slice(1, -1) : value;
  }
  return '';
}

function parseAddress(node: string): string | null {
  if (node.length > NODE_LENGTH_MAX) return null;
  const address = stripPort(node);
  return isIP(address) === 0 ? null : address;
}

function stripPort(text: string): string {
  const literal = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  if (literal !== undefined) return literal;
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}

function unmapAddress(address: string): string {
  const bare = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : '';
  return isIPv4(bare) ? bare : address;
}
