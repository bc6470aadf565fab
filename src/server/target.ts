/** The request target (RFC 9112 §3.2), split by hand: a URL object costs a read 8 %. */
import { AppError } from '../base/errors.ts';
import type { HttpExchange } from './exchange.ts';

/** Sets path and search of the exchange. Throws `malformed` for a target that has no path. */
export function splitTarget(exchange: HttpExchange): void {
  const { url = '' } = exchange.request;
  const target = url.startsWith('/') ? url : withoutAuthority(url);
  const question = target.indexOf('?');
  if (question < 0) {
    exchange.path = target;
    return;
  }
  exchange.path = target.slice(0, question);
  exchange.search = target.slice(question + 1);
}

/** A proxy's absolute form, or the `*` of OPTIONS. */
function withoutAuthority(url: string): string {
  if (url === '*') return url;
  const match = /^https?:\/\/[^/?#]+(.*)$/i.exec(url);
  if (match === null) throw new AppError('malformed', 'the request target is not a path');
  const rest = match[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
