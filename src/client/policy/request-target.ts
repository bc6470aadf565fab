/**
 * A cache of parsed URLs: parsing a URL and finding its proxy for every request costs more than
 * sending the request. Entries are found by the URL's text: no entry may depend on one request.
 */
import { basicAuthorization } from './authorization.ts';
import type { DenyList } from './deny-list.ts';
import { normalizeHost } from '../../base/network/ip-address.ts';
import { invalidError } from '../network-error.ts';
import { defaultPort } from './proxy.ts';
import type { Proxy } from './proxy.ts';

/** A scheme, host and port, and the proxy on the way there. It has one pool of connections. */
export type Destination = {
  readonly isTls: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** `host:port`, the port always there. */
  readonly authority: string;
  readonly proxy: Proxy | null;
  readonly isDenied: boolean;
};

export type RequestTarget = {
  readonly destination: Destination;
  /** The request line's target: a path, or through a proxy without a tunnel the whole URL. */
  readonly path: string;
  /** The headers that every request to this target begins with, names and values in turn. */
  readonly headers: readonly string[];
  /** From the URL's credentials; a header of the caller's takes precedence. */
  readonly authorization: string | null;
};

type DestinationRules = {
  readonly proxy: Proxy | null;
  readonly isBypassed: (hostname: string, port: number) => boolean;
  readonly denyList: DenyList;
};

const TARGETS_MAX = 1000;

/** Throws NetworkError `invalid` for what is no http or https URL. */
export type GetTarget = (url: string) => RequestTarget;

export function createTargetCache(rules: DestinationRules): GetTarget {
  const targets = new Map<string, RequestTarget>();
  return (url) => {
    const cachedTarget = targets.get(url);
    if (cachedTarget !== undefined) return cachedTarget;
    const target = parseTarget(url, rules);
    const [oldestUrl = ''] = targets.keys();
    if (targets.size >= TARGETS_MAX) targets.delete(oldestUrl);
    targets.set(url, target);
    return target;
  };
}

function parseTarget(text: string, rules: DestinationRules): RequestTarget {
  // The error of `new URL` would hold all of the text, with its credentials.
  if (!URL.canParse(text)) throw invalidError('the URL cannot be read');
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol)) {
    throw invalidError('the URL must begin with http:// or https://');
  }
  const destination = parseDestination(url, rules);
  const path = `${url.pathname}${url.search}`;
  // Without a tunnel the proxy has to be told the whole URL (RFC 9112 §3.2.2).
  const isAbsoluteForm = destination.proxy !== null && !destination.isTls;
  return {
    destination,
    path: isAbsoluteForm ? `http://${url.host}${path}` : path,
    headers: [
      'Host', url.host, 'Connection', 'keep-alive',
      ...isAbsoluteForm ? proxyHeaders(destination.proxy) : [],
    ],
    authorization: basicAuthorization(url),
  };
}

function parseDestination(url: URL, rules: DestinationRules): Destination {
  const isTls = url.protocol === 'https:';
  const hostname = normalizeHost(url.hostname);
  const port = url.port === '' ? defaultPort(isTls) : Number(url.port);
  const isDirect = rules.proxy === null || rules.isBypassed(hostname, port);
  return {
    isTls,
    hostname,
    port,
    authority: `${url.hostname}:${port}`,
    proxy: isDirect ? null : rules.proxy,
    isDenied: rules.denyList.isDenied(hostname),
  };
}

function proxyHeaders(proxy: Proxy | null): readonly string[] {
  if (proxy === null || proxy.authorization === null) return [];
  return ['Proxy-Authorization', proxy.authorization];
}
