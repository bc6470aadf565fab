/** Resolves names through the system's resolver and leaves out denied addresses. */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { DenyList } from '../policy/deny-list.ts';
import { deniedError } from '../network-error.ts';

/** The signature of `dns.lookup` with `all`: it gives every address of a name. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

// Further addresses are not worth a try within a connect deadline of seconds.
const ADDRESSES_MAX = 8;

/**
 * The addresses of `hostname` in the order to try them: families in turn (RFC 8305 §4), beginning
 * with the resolver's first. Throws NetworkError `denied` when `denyList` leaves none.
 */
export async function resolveHost(
  hostname: string, lookup: Lookup, denyList: DenyList | null,
): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await lookUpAddresses(hostname, lookup) : [hostname];
  if (addresses.length === 0) throw unknownNameError();
  const allowedAddresses = denyList === null
    ? addresses : addresses.filter((address) => !denyList.isDenied(address));
  if (allowedAddresses.length === 0) throw deniedError();
  return alternateFamilies(allowedAddresses).slice(0, ADDRESSES_MAX);
}

/**
 * Like `lookup`, but concurrent look-ups of one name share a single question. The system's resolver
 * takes a thread of Node's small pool for each question, and the store syncs its files in the same
 * pool: many look-ups of a slow name would hold up every write.
 */
export function shareLookups(lookup: Lookup): Lookup {
  const waitingCallbacks = new Map<string, Parameters<Lookup>[2][]>();
  return (hostname, options, callback) => {
    const otherCallbacks = waitingCallbacks.get(hostname);
    if (otherCallbacks !== undefined) {
      otherCallbacks.push(callback);
      return;
    }
    const callbacks = [callback];
    waitingCallbacks.set(hostname, callbacks);
    lookup(hostname, options, (error, addresses) => {
      waitingCallbacks.delete(hostname);
      for (const next of callbacks) next(error, addresses);
    });
  };
}

function lookUpAddresses(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses.map(({ address }) => address));
      else reject(error);
    });
  });
}

function unknownNameError(): Error {
  return Object.assign(new Error('a name without addresses'), { code: 'ENOTFOUND' });
}

function alternateFamilies(addresses: readonly string[]): readonly string[] {
  const [first = ''] = addresses;
  const firstFamily = addresses.filter((address) => isIP(address) === isIP(first));
  const otherFamily = addresses.filter((address) => isIP(address) !== isIP(first));
  const rounds = Math.max(firstFamily.length, otherFamily.length);
  return Array.from({ length: rounds }, (_, index) => [firstFamily[index], otherFamily[index]])
    .flat().filter((address) => address !== undefined);
}
