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
 * Makes a check of URLs: whether the host is an address on the list, which is never connected to. A
 * name passes, whatever it points at. `entries` are parsed at the first check, which throws as
 * `createDenyList` does.
 */
export function createTargetCheck(entries: readonly string[]): (url: string) => boolean {
  let list: DenyList | null = null;
  return (url) => {
    list ??= createDenyList(entries);
    return URL.canParse(url) && list.isDenied(normalizeHost(new URL(url).hostname));
  };
}

/** Each entry is the name of a group, an address or a CIDR block. Throws `usage` for another. */
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
