/**
 * Redacts the headers of a sent request for people. A configured header may hold a secret under any
 * name, so all values are hidden but those of headers that never hold one. Pure.
 */
import { MASK, isSecretName } from '../../base/log.ts';

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
  if (PUBLIC_HEADERS.has(lower)) return true;
  // A token may stand under any name, such as X-Hookshelf-Token.
  return PUBLIC_PREFIXES.some((prefix) => lower.startsWith(prefix)) && !isSecretName(lower);
}
