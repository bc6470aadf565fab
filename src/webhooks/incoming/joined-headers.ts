/** Headers as Node gives them to a server, made of those that came. Pure. */
import type { IncomingHttpHeaders } from 'node:http';

/** Of these the first value counts; the values of others are joined. */
const SINGLE: ReadonlySet<string> = new Set([
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards',
  'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent',
]);

/** `raw`: names and values in turn, as they came. */
export function joinHeaders(raw: readonly string[]): IncomingHttpHeaders {
  const joined = new Map<string, string | string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const before = joined.get(name);
    if (name === 'set-cookie') joined.set(name, [...before ?? [], value]);
    else if (before === undefined) joined.set(name, value);
    else if (!SINGLE.has(name)) {
      joined.set(name, `${before.toString()}${name === 'cookie' ? '; ' : ', '}${value}`);
    }
  }
  return Object.fromEntries(joined);
}
