/**
 * What people see of the headers of a request that was sent. A header that somebody configured may
 * hold a secret under any name, so values are hidden but for those that never hold one. Pure.
 */
import { MASK } from './url-credentials.ts';

const SHOWN: ReadonlySet<string> = new Set([
  'accept', 'accept-language', 'content-encoding', 'content-language', 'content-type', 'date',
  'user-agent', 'webhook-id', 'webhook-timestamp', 'x-request-id',
]);
const SHOWN_PREFIXES = ['x-hookshelf-', 'x-forwarded-'];

/** Names and values in turn. */
export function shownHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name, isShown(name) ? one : MASK]));
}

function isShown(name: string): boolean {
  const lower = name.toLowerCase();
  return SHOWN.has(lower) || SHOWN_PREFIXES.some((prefix) => lower.startsWith(prefix));
}
