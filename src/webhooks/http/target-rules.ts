/** Rules for a request that a user configures: an outgoing webhook's, or `http-forward`'s. Pure. */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject, pointerStep } from '../../base/fields.ts';
import { http } from '../../base/node-modules.ts';
import type { JsonSchema, StringSchema } from '../../base/schema.ts';

const URL_LENGTH_MAX = 2048;
const HEADERS_BYTES_MAX = 16 * 1024;
const TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// What Node lets into a header: RFC 9110 §5.5 field values, without CR, LF and NUL.
const VALUE_PATTERN = /^[\t\x20-\x7e\x80-\xff]*$/;
// They are the connection's, not the message's: the client sets them, and refuses them from others.
const FORBIDDEN_HEADERS = [
  'host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te',
  'trailer', 'expect', 'proxy-connection', 'proxy-authorization',
];
const FORBIDDEN_METHODS = ['CONNECT', 'TRACE'];
const BODILESS_METHODS = ['GET', 'HEAD'];

/** How a target is asked when nothing says otherwise. */
export const DEFAULT_METHOD = 'POST';

export const targetUrlSchema: StringSchema = {
  kind: 'string', maxLength: URL_LENGTH_MAX, format: 'uri',
  description: 'an http or https URL',
  canonical: (value) => isTargetUrl(value) ? value : null,
};

export const targetMethodSchema: StringSchema = {
  kind: 'string', maxLength: 32,
  description: 'an HTTP method in upper case, other than CONNECT and TRACE',
  canonical: (value) => isTargetMethod(value) ? value : null,
};

/** Names and values; what they may be is `findHeaderProblems`'s to say. */
export const headersSchema: JsonSchema = {
  kind: 'json', isObject: true, bytesMax: HEADERS_BYTES_MAX, depthMax: 2,
};

// The parser forgives `http:///user:…@host` and white space; what hides credentials from people
// would not find them there.
const AUTHORITY_PATTERN = /^https?:\/\/[^\s/\\?#"'<>]+([/?#]|$)/i;

export function isTargetUrl(value: string): boolean {
  if (!AUTHORITY_PATTERN.test(value) || !URL.canParse(value)) return false;
  return ['http:', 'https:'].includes(new URL(value).protocol);
}

export function isTargetMethod(value: string): boolean {
  return http.METHODS.includes(value) && !FORBIDDEN_METHODS.includes(value);
}

export function hasRequestBody(method: string): boolean {
  return !BODILESS_METHODS.includes(method);
}

/** Broken rules of a `headers` object, pointers below it. */
export function findHeaderProblems(headers: unknown): FieldError[] {
  if (!isJsonObject(headers)) return [{ pointer: '', detail: 'must be a JSON object' }];
  const previousNames = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const detail = findHeaderProblem(name, value, previousNames);
    previousNames.add(name.toLowerCase());
    return detail === null ? [] : [{ pointer: pointerStep(name), detail }];
  });
}

function findHeaderProblem(
  name: string, value: unknown, previousNames: ReadonlySet<string>,
): string | null {
  const lower = name.toLowerCase();
  if (!TOKEN_PATTERN.test(name)) return 'is not a header name';
  if (FORBIDDEN_HEADERS.includes(lower)) return 'may not be configured: the connection sets it';
  if (previousNames.has(lower)) return 'must not stand twice';
  if (typeof value !== 'string') return 'must be a string';
  return VALUE_PATTERN.test(value)
    ? null : 'must be Latin-1 text without CR, LF and other control characters';
}

/**
 * Configured headers over those of a request with the method, names in lower case so that one
 * replaces the other. What has no body has no type.
 */
export function resolveHeaders(method: string, configured: unknown): Record<string, string> {
  const defaults: Record<string, string> = hasRequestBody(method)
    ? { 'content-type': 'application/json' } : {};
  return { ...defaults, ...parseConfiguredHeaders(configured) };
}

/** The headers of a configuration, names in lower case. */
export function parseConfiguredHeaders(configured: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isJsonObject(configured)) return headers;
  for (const [name, value] of Object.entries(configured)) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers;
}
