/** The caller of a scan over HTTP, who may leave before its end. The list and others ask for it. */
import { AppError } from '../../base/errors.ts';
import type { Exchange } from '../../server/http-route.ts';
import type { SearchCaller } from '../index/book-search.ts';

export function createExchangeCaller(exchange: Exchange): SearchCaller {
  return { isWanted: () => !exchange.response.destroyed };
}

/** Throws `timeout` for null, the result of steps that were given up as nobody waited for them. */
export function assertWanted<T>(result: T | null): T {
  if (result === null) throw new AppError('timeout', 'the client left before the answer was found');
  return result;
}
