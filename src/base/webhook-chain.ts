/**
 * Ends chains of webhooks that would run in a circle. An outgoing webhook or a forward may call an
 * incoming webhook of this server or of another hookshelf, or the API, and that call may cause the
 * next event. A header counts the hops, and a chain that is too long is refused. A caller who sets
 * the header himself can only shorten his own chain. The response that refuses a chain says so in
 * the same header, and each hop before in its own response: one line of the log is enough for all.
 */
import { AppError } from './errors.ts';

export const CHAIN_HEADER = 'x-hookshelf-chain';
/** The header's value in a response to a request whose chain was refused, here or further on. */
export const CHAIN_REFUSED = 'refused';
const CHAIN_HOPS_MAX = 8;

const COUNT_PATTERN = /^[0-9]{1,9}$/;

/** Hops that led to a request: 0 without a sound header. Of several headers the highest counts. */
export function parseHops(header: string | readonly string[] | undefined): number {
  if (header === undefined) return 0;
  let hops = 0;
  for (const part of String(header).split(',')) {
    const count = part.trim();
    if (COUNT_PATTERN.test(count)) hops = Math.max(hops, Number(count));
  }
  return hops;
}

/**
 * The count for a request that follows after `hops`, and goes to `target`. Throws `invalid` when
 * that is one hop too many; the catcher logs where the chain ended.
 */
export function nextHop(hops: number, target: () => string): number {
  if (hops < CHAIN_HOPS_MAX) return hops + 1;
  const message = `a chain of more than ${CHAIN_HOPS_MAX} hops was refused`;
  throw new AppError('invalid', message, { chainHops: hops, chainTarget: target() });
}

/** Whether the headers of a response, their names in lower case, say that its chain was refused. */
export function isChainRefused(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): boolean {
  const value = headers[CHAIN_HEADER];
  return value !== undefined
    && String(value).split(',').some((part) => part.trim() === CHAIN_REFUSED);
}

/** `headers`, whose names are in lower case, with the count. */
export function addChainHeader<Value>(
  headers: Readonly<Record<string, Value>>, hops: number,
): Readonly<Record<string, Value | string>> {
  return { ...headers, [CHAIN_HEADER]: String(hops) };
}
