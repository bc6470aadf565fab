/**
 * `http.denyAddresses`: where the client never connects to. It looks at addresses, never at names,
 * so it holds after DNS too, whatever a name points at from one moment to the next.
 */
import { AppError } from '../base/errors.ts';
import { AddressSet } from './address-set.ts';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  // Amazon and most others; Amazon over IPv6; Alibaba; Azure.
  metadata: ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  // Connecting to the unspecified address reaches this machine.
  loopback: ['127.0.0.0/8', '::1', '0.0.0.0/8', '::'],
  // RFC 1918, the shared space of RFC 6598, unique local addresses and their predecessor.
  private: [
    '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10',
  ],
};

export type DenyList = {
  /** Whether `host` is an IP literal that may not be connected to; a name never is. */
  isDenied(host: string): boolean;
};

/** `entries` are group names, addresses and CIDR blocks. Throws `usage` for anything else. */
export function createDenyList(entries: readonly string[]): DenyList {
  const set = new AddressSet();
  for (const entry of entries) {
    const members = Object.hasOwn(GROUPS, entry) ? GROUPS[entry] : undefined;
    for (const member of members ?? [entry]) {
      if (set.add(member)) continue;
      const groups = Object.keys(GROUPS).join(', ');
      throw new AppError('usage', `http.denyAddresses: ${JSON.stringify(entry)} is no address,`
        + ` no CIDR block and none of ${groups}`);
    }
  }
  return { isDenied: (host) => set.has(host) };
}
