/**
 * `http.denyAddresses`: addresses that the client never connects to. Addresses are checked after
 * DNS, never names, so it does not matter what a name points at from one moment to the next.
 */
import { ADDRESS_GROUPS } from '../../base/network/address-groups.ts';
import { AddressSet } from '../../base/network/address-set.ts';
import { normalizeHost } from '../../base/network/ip-address.ts';
import { AppError } from '../../base/errors.ts';

export type DenyList = {
  /** Whether `host` is an IP literal that may not be connected to; a name never is. */
  isDenied(host: string): boolean;
};

/**
 * Whether the host of a URL is an address on the list: it would never be connected to. A name is
 * not, whatever it points at. `entries` are read at the first question; throws as `createDenyList`.
 */
export function createTargetCheck(entries: readonly string[]): (url: string) => boolean {
  let list: DenyList | null = null;
  return (url) => {
    list ??= createDenyList(entries);
    return URL.canParse(url) && list.isDenied(normalizeHost(new URL(url).hostname));
  };
}

/** `entries` are group names, addresses and CIDR blocks. Throws `usage` for anything else. */
export function createDenyList(entries: readonly string[]): DenyList {
  const set = new AddressSet();
  for (const entry of entries) {
    const members = ADDRESS_GROUPS.get(entry);
    for (const member of members ?? [entry]) {
      if (set.add(member)) continue;
      const groups = [...ADDRESS_GROUPS.keys()].join(', ');
      throw new AppError('usage', `http.denyAddresses: ${JSON.stringify(entry)} is no address,`
        + ` no CIDR block and none of ${groups}`);
    }
  }
  return { isDenied: (host) => set.has(host) };
}
