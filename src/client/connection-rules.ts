/** Makes the rules of connections from options: denied addresses, proxy, trusted certificates. */
import { lookup as systemLookup } from 'node:dns';
import type { Clock } from '../base/clock.ts';
import {
  createCertificateContexts, lazySecureContext, type GetCertificateContext,
} from './client-certificate.ts';
import type { ConnectOptions } from './connection/connect.ts';
import { shareLookups } from './connection/resolve.ts';
import type { Lookup } from './connection/resolve.ts';
import { createDenyList } from './policy/deny-list.ts';
import { createProxyBypass, parseProxy } from './policy/proxy.ts';
import { createTargetCache, type GetTarget } from './policy/request-target.ts';

export type ConnectionOptions = {
  /** Until a new connection is ready: DNS, TCP, the proxy's tunnel and TLS. */
  readonly connectTimeoutMs: number;
  /** False: every certificate is accepted. */
  readonly verify: boolean;
  /** A URL with `http://` or `https://`, with credentials if the proxy asks for them. */
  readonly proxy: string | null;
  readonly noProxy: readonly string[];
  readonly denyAddresses: readonly string[];
  /** PEM certificates that are trusted instead of the built-in ones. */
  readonly certificateAuthorities?: readonly string[];
};

type ConnectionRules = {
  readonly getTarget: GetTarget;
  readonly connecting: ConnectOptions;
  /** For connections that show a certificate of ours. */
  readonly getCertificateContext: GetCertificateContext;
};

/** Throws AppError `usage` for a proxy, noProxy or denyAddresses that cannot be read. */
export function createConnectionRules(
  options: ConnectionOptions, ports: { readonly clock: Clock; readonly lookup?: Lookup },
): ConnectionRules {
  const { clock, lookup = systemLookup } = ports;
  const denyList = createDenyList(options.denyAddresses);
  return {
    getTarget: createTargetCache({
      proxy: options.proxy === null ? null : parseProxy(options.proxy),
      isBypassed: createProxyBypass(options.noProxy),
      denyList,
    }),
    connecting: {
      clock, denyList,
      lookup: shareLookups(lookup),
      connectTimeoutMs: options.connectTimeoutMs,
      verifiesCertificates: options.verify,
      secureContext: lazySecureContext(options.certificateAuthorities),
    },
    getCertificateContext: createCertificateContexts(options.certificateAuthorities),
  };
}
