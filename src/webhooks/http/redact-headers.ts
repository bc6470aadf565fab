/**
 * Redacts the headers of a sent request for people. A configured header may hold a secret under any
 * name, so all values are hidden but those of headers that never hold one. Pure.
 */
import { MASK } from '../../base/log.ts';

const PUBLIC_HEADERS: ReadonlySet<string> = new Set([
  'accept', 'accept-language', 'content-encoding', 'content-language', 'content-type', 'date',
  'user-agent', 'webhook-id', 'webhook-timestamp', 'x-request-id',
]);
const PUBLIC_PREFIXES = ['x-hookshelf-', 'x-forwarded-'];

/** Gives names and values in turn. */
export function redactHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name, isPublicHeader(name) ? one : MASK]));
}

function isPublicHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return PUBLIC_HEADERS.has(lower) || PUBLIC_PREFIXES.some((prefix) => lower.startsWith(prefix));
}
