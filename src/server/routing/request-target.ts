/** Splits the request target (RFC 9112 §3.2) by hand: a URL object costs a GET 9 % (`get-one`). */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../base/errors.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';
import { normalizePath } from './router.ts';

/**
 * Sets path and search of the exchange. The path is normalized, so that guard and router decide on
 * the same one. Throws `malformed` for a target that has no path.
 */
export function splitTarget(exchange: HttpExchange): void {
  const { method, url = '' } = exchange.request;
  if (url === '*' && method !== 'OPTIONS') throw notPathError();
  const target = url.startsWith('/') ? url : stripAuthority(url);
  const question = target.indexOf('?');
  if (question < 0) {
    exchange.path = normalizePath(target);
    return;
  }
  exchange.path = normalizePath(target.slice(0, question));
  exchange.search = target.slice(question + 1);
}

/** The target without scheme and host, which a proxy sends (absolute form); `*` stays. */
function stripAuthority(url: string): string {
  if (url === '*') return url;
  const rest = ABSOLUTE_FORM.exec(url)?.[2];
  if (rest === undefined) throw notPathError();
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The host that a request is for: the target's in absolute form, whatever `Host` says (§3.2.2). */
export function getTargetHost({ url = '', headers }: IncomingMessage): string | undefined {
  return url.startsWith('/') ? headers.host : ABSOLUTE_FORM.exec(url)?.[1] ?? headers.host;
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]+)(.*)$/i;

function notPathError(): AppError {
  return new AppError('malformed', 'the request target is not a path');
}
