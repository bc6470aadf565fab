/** Parses the proxy's URL and decides which requests go through the proxy. Pure. */
import { AppError } from '../../base/errors.ts';
import { AddressSet } from '../../base/network/address-set.ts';
import { basicAuthorization } from './authorization.ts';
import { normalizeHost } from '../../base/network/ip-address.ts';

export type Proxy = {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of Proxy-Authorization, or null without credentials. */
  readonly authorization: string | null;
};

/**
 * Parses a URL with `http://` or `https://`, perhaps with credentials. Throws `usage` for anything
 * else, without showing it.
 */
export function parseProxy(text: string): Proxy {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError('usage',
      'http.proxy must be a URL such as http://user:password@proxy.example:3128');
  }
  const isTls = url.protocol === 'https:';
  return {
    isTls,
    hostname: normalizeHost(url.hostname),
    port: url.port === '' ? defaultPort(isTls) : Number(url.port),
    authorization: basicAuthorization(url),
  };
}

export function defaultPort(isTls: boolean): number {
  return isTls ? 443 : 80;
}

type BypassRule = { readonly host: string; readonly port: number | null };

/**
 * Whether a host bypasses the proxy. Entries: a host or address (that one alone), `.suffix` (the
 * names below it), either with `:port`; `[v6]`; a CIDR block (IP literals only: nothing is looked
 * up); `*` for all. Throws `usage` for what is none of these.
 */
export function createProxyBypass(
  entries: readonly string[],
): (hostname: string, port: number) => boolean {
  const addresses = new AddressSet();
  const rules: BypassRule[] = [];
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== '')) {
    if (addresses.add(entry) || addresses.add(normalizeHost(entry))) continue;
    const rule = parseRule(entry);
    if (rule === null) {
      throw new AppError('usage', `http.noProxy: ${JSON.stringify(entry)} is no host, .suffix,`
        + ' host:port, [IPv6 address], CIDR block or *');
    }
    rules.push(rule);
  }
  return (hostname, port) => addresses.has(hostname)
    || rules.some((rule) => matchesRule(rule, hostname, port));
}

function parseRule(entry: string): BypassRule | null {
  const match = /^(\[[^\]]+\]|[^:/[\]\s]+)(?::(\d{1,5}))?$/.exec(entry);
  if (match === null) return null;
  const [, host = '', port] = match;
  return { host: normalizeHost(host), port: port === undefined ? null : Number(port) };
}

function matchesRule(rule: BypassRule, hostname: string, port: number): boolean {
  if (rule.port !== null && rule.port !== port) return false;
  if (rule.host === '*') return true;
  // `*.example.com` is how many write a suffix.
  const suffix = rule.host.startsWith('*.') ? rule.host.slice(1) : rule.host;
  if (suffix.startsWith('.')) return hostname.endsWith(suffix);
  if (suffix === hostname) return true;
  return isSameAddress(suffix, hostname);
}

// `[::1]:8080` must match `0:0:0:0:0:0:0:1`, too.
function isSameAddress(left: string, right: string): boolean {
  const set = new AddressSet();
  return set.add(left) && set.has(right);
}
