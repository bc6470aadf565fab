/**
 * How long a chain of events is. An outgoing webhook may point at an incoming one of ours (or of
 * another hookshelf) whose action emits an event again; the count travels in a header, so that a
 * ring of them ends. A caller who sets the header himself can only shorten his own chain.
 */
import { AppError } from '../base/errors.ts';

export const CHAIN_HEADER = 'x-hookshelf-chain';
export const CHAIN_EVENTS_MAX = 8;

/** Events that led to a request: 0 without a sound header. */
export function chainDepthOf(header: string | readonly string[] | undefined): number {
  return typeof header === 'string' && /^[0-9]{1,3}$/.test(header) ? Number(header) : 0;
}

/** `headers` with the count, when there is one to tell. */
export function withChainHeader(
  headers: Readonly<Record<string, string>>, depth: number,
): Readonly<Record<string, string>> {
  return depth === 0 ? headers : { ...headers, [CHAIN_HEADER]: String(depth) };
}

/** Throws `invalid` when an event would be one too many in its chain. */
export function checkChain(depth: number): void {
  if (depth <= CHAIN_EVENTS_MAX) return;
  throw new AppError('invalid', `a chain of more than ${CHAIN_EVENTS_MAX} events was refused`);
}
