/**
 * Ends chains of webhooks that would run in a circle. An outgoing webhook or a forward may call an
 * incoming webhook of this server or of another hookshelf, or the API, and that call may cause the
 * next event. A header counts the hops, and a chain that is too long is refused. A caller who sets
 * the header himself can only shorten his own chain.
 */
import { AppError } from './errors.ts';

export const CHAIN_HEADER = 'x-hookshelf-chain';
const CHAIN_HOPS_MAX = 8;

const COUNT_PATTERN = /^[0-9]{1,9}$/;

/** Hops that led to a request: 0 without a sound header. Of several headers the highest counts. */
export function hopsOf(header: string | readonly string[] | undefined): number {
  if (header === undefined) return 0;
  let hops = 0;
  for (const part of String(header).split(',')) {
    const count = part.trim();
    if (COUNT_PATTERN.test(count)) hops = Math.max(hops, Number(count));
  }
  return hops;
}

/**
 * The count of what follows after `hops`. Throws `invalid` when it would be one too many; whoever
 * catches that logs where the chain ended.
 */
export function nextHop(hops: number): number {
  if (hops < CHAIN_HOPS_MAX) return hops + 1;
  const message = `a chain of more than ${CHAIN_HOPS_MAX} hops was refused`;
  throw new AppError('invalid', message, { chainHops: hops });
}

/** `headers`, whose names are in lower case, with the count. */
export function withChainHeader<Value>(
  headers: Readonly<Record<string, Value>>, hops: number,
): Readonly<Record<string, Value | string>> {
  return { ...headers, [CHAIN_HEADER]: String(hops) };
}
