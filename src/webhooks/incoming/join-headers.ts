/**
 * Joins raw headers, those of a stored request as well, to the object that Node's HTTP server would
 * make of them. Pure.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { MASK } from '../../base/log.ts';
import type { StoredRequestHead } from './stored-request.ts';

/** Headers of which Node keeps the first value; it joins the values of all others. */
const SINGLE_VALUE_HEADERS: ReadonlySet<string> = new Set([
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards',
  'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent',
]);

/** `raw` holds names and values in turn, as they came. */
export function joinHeaders(raw: readonly string[]): IncomingHttpHeaders {
  const headers = new Map<string, string | string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const previousValue = headers.get(name);
    if (name === 'set-cookie') headers.set(name, [...previousValue ?? [], value]);
    else if (previousValue === undefined) headers.set(name, value);
    else if (!SINGLE_VALUE_HEADERS.has(name)) {
      headers.set(name, `${previousValue.toString()}${name === 'cookie' ? '; ' : ', '}${value}`);
    }
  }
  return Object.fromEntries(headers);
}

type StoredHeaders = Pick<StoredRequestHead, 'headers'>;

/** Lists names and values in turn, without the headers that are not stored as they came. */
export function listRawHeaders({ headers }: StoredHeaders): string[] {
  return headers.filter(([, value]) => value !== MASK).flat();
}

/** The stored headers by name, as Node gives them. It takes as long as parsing a small body. */
export function joinStoredHeaders(head: StoredHeaders): IncomingHttpHeaders {
  return joinHeaders(listRawHeaders(head));
}
