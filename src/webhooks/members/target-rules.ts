/**
 * Rules for requests that users configure: those of an outgoing webhook, or of `http-forward`.
 * Pure.
 */
import type { FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject, pointerStep } from '../../base/fields.ts';
import { CONNECTION_HEADERS } from '../../base/network/connection-headers.ts';
import { http } from '../../base/node-modules.ts';
import type { JsonObject, JsonSchema, StringSchema } from '../../base/schema.ts';
import type { SchemaOf } from '../../base/schema-types.ts';
import type { Change } from '../../store/store-port.ts';

const URL_LENGTH_MAX = 2048;
const HEADERS_BYTES_MAX = 16 * 1024;
const TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// The values that Node accepts in a header: RFC 9110 §5.5 field values, without CR, LF and NUL.
const VALUE_PATTERN = /^[\t\x20-\x7e\x80-\xff]*$/;
const FORBIDDEN_METHODS = ['CONNECT', 'TRACE'];
const BODILESS_METHODS = ['GET', 'HEAD'];

export const DEFAULT_METHOD = 'POST';
export const DEFAULT_CONTENT_TYPE = 'application/json';

export const targetUrlSchema: StringSchema = {
  kind: 'string', maxLength: URL_LENGTH_MAX, format: 'uri',
  mustBe: 'an http or https URL without control characters',
  canonical: (value) => isTargetUrl(value) ? value : null,
};

export const targetMethodSchema: StringSchema = {
  kind: 'string', maxLength: 32,
  mustBe: 'an HTTP method in upper case, other than CONNECT and TRACE',
  canonical: (value) => isTargetMethod(value) ? value : null,
};

/**
 * Headers of a response to a sender that hookshelf sets, or the connection: two of one name would
 * contradict each other.
 */
export const RESERVED_RESPONSE_HEADERS: readonly string[] = [
  'x-content-type-options', 'content-security-policy', 'x-request-id', 'x-hookshelf-chain', 'date',
  'content-encoding', 'content-range', 'proxy-authenticate',
];

/** `findHeaderProblems` has the rules for names and values. */
export const headersSchema: SchemaOf<Readonly<Record<string, string>>, JsonSchema> = {
  kind: 'json', isObject: true, bytesMax: HEADERS_BYTES_MAX, depthMax: 2,
};

// The URL parser accepts `http:///user:…@host` and white space, in which the masks would not find
// credentials. It leaves out tabs and line ends: a line end of a list made by Windows is a mistake.
const TARGET_PATTERN = /^https?:\/\/[^\s/\\?#"'<>]+([/?#][^\x00-\x1f\x7f]*)?$/i;

export function isTargetUrl(value: string): boolean {
  if (!TARGET_PATTERN.test(value) || !URL.canParse(value)) return false;
  return ['http:', 'https:'].includes(new URL(value).protocol);
}

export function isTargetMethod(value: string): boolean {
  return http.METHODS.includes(value) && !FORBIDDEN_METHODS.includes(value);
}

export function hasRequestBody(method: string): boolean {
  return !BODILESS_METHODS.includes(method);
}

/** Problems of a member that makes the header `Authorization`, as others of the webhook do. */
export function findAuthorizationProblems(
  member: string, { headers, targetUrl }: JsonObject, others: readonly string[] = [],
): FieldError[] {
  const names = isJsonObject(headers) ? Object.keys(headers) : [];
  const isInHeaders = names.some((name) => name.toLowerCase() === 'authorization');
  const isInUrl = typeof targetUrl === 'string' && hasCredentials(targetUrl);
  const makers = [
    ...others, ...isInHeaders ? ['Authorization in headers'] : [],
    ...isInUrl ? ['user and password in targetUrl'] : [],
  ];
  return makers.map((maker) => ({
    pointer: pointerStep(member),
    detail: `cannot stand beside ${maker}, as both would be the header Authorization: remove one `
      + 'of them',
  }));
}

/** Whether a URL that can be parsed has a user or a password. */
export function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

/** Problems of a `headers` object, with pointers within it. */
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
  if (CONNECTION_HEADERS.has(lower)) return 'may not be configured: the connection sets it';
  if (previousNames.has(lower)) return 'must not stand twice';
  if (typeof value !== 'string') return 'must be a string';
  return VALUE_PATTERN.test(value)
    ? null : 'must be Latin-1 text without CR, LF and other control characters';
}

/**
 * The headers of a request: defaults for the method, replaced by configured ones. Names are in
 * lower case, so that one replaces the other. A request without a body has no Content-Type.
 */
export function resolveHeaders(
  method: string, configured: unknown, contentType = DEFAULT_CONTENT_TYPE,
): Record<string, string> {
  const defaults: Record<string, string> = hasRequestBody(method)
    ? { 'content-type': contentType } : {};
  return { ...defaults, ...parseConfiguredHeaders(configured) };
}

/** Gives names in lower case. */
export function parseConfiguredHeaders(configured: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isJsonObject(configured)) return headers;
  for (const [name, value] of Object.entries(configured)) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers;
}

/**
 * Refuses a target on the deny list when it is saved, and not with each attempt: throws `invalid`
 * at `pointer` if the change names such a target. A target that was stored before, perhaps under
 * another list, may stay, so that the webhook can still be disabled or changed. `findTarget` reads
 * the target from a stored record.
 */
export function checkTarget(
  { before, after }: Pick<Change, 'before' | 'after'>, pointer: string,
  findTarget: (record: Buffer) => string | null, isDenied: (url: string) => boolean,
): void {
  const target = after === null ? null : findTarget(after);
  if (target === null || !isDenied(target)) return;
  if (before !== null && findTarget(before) === target) return;
  throw invalid([{
    pointer,
    detail: 'leads to an address on the list http.denyAddresses, which is never connected to',
  }]);
}
