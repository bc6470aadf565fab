/**
 * Refuses requests of webhooks to send or run something again. A replay keeps its number of hops,
 * so a webhook that asks for one, for instance each time that a delivery fails, would go round for
 * ever. Only people and programs may ask.
 */
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import type { Exchange } from '../../server/http-route.ts';

/** Throws `invalid` for a request that a webhook, a forward or a delivery has made. */
export function refuseChained({ request: { headers } }: Exchange): void {
  const hops = parseHops(headers[CHAIN_HEADER]);
  if (hops === 0) return;
  throw new AppError('invalid', 'a webhook cannot have anything sent or run again, which could go '
    + `on for ever: ask without it, and without the header ${CHAIN_HEADER}`, { chainHops: hops });
}
