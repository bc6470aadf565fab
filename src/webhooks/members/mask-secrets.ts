/**
 * Masks secrets in responses, and restores them in requests. Values of `headers`, members with
 * secret-like names and credentials in URLs (url-credentials.ts) are shown as `***`. A `***` that
 * is sent back keeps the stored value in its place, unless the target of the secrets has another
 * origin. Pure.
 */
import { invalid, isJsonObject, pointerStep } from '../../base/fields.ts';
import type { FieldError } from '../../base/errors.ts';
import { MASK, isSecretName } from '../../base/log.ts';
import { isJsonNumber } from '../../base/exact-number.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { hideUrlSecrets, isUrl, restoreUrlSecrets, formatOrigin } from './url-credentials.ts';

const HEADERS = ['headers', 'staticheaders'];
const NEW_ORIGIN_DETAIL =
  `must be given anew, or removed with null: ${MASK} keeps nothing when the scheme, `
  + 'host or port of the target changes';

/**
 * Members of records that hold no secret, whatever the names in them sound like: how a sender
 * signs, and what any caller gets. Each with what is shown of it.
 */
const OPEN_MEMBERS: ReadonlyMap<string, (value: JsonValue) => JsonValue> = new Map([
  ['/verification/scheme', (scheme) => scheme], ['/signing', (signing) => signing],
  ['/response', (response) => response],
  ['/oauth2/tokenUrl', (url) => hideUrlSecrets(String(url))],
]);

/** A copy of a record without secrets. */
export function maskSecrets(record: JsonObject): JsonObject {
  return maskObject(record, '');
}

function maskObject(value: JsonObject, pointer: string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) =>
    [name, maskMember(name, member, pointer + pointerStep(name))]));
}

/**
 * A copy of `value` with each `***` replaced by the stored value in its place. Throws `invalid` if
 * there is none, and for each `***`, with `movedDetail`, if a URL of `listTargets` has another
 * origin: a secret for one target must not go to another.
 */
export function restoreSecrets(
  value: JsonObject, stored: JsonObject | null,
  listTargets: (record: JsonObject) => ReadonlyMap<string, string> = listNoTargets,
  movedDetail = NEW_ORIGIN_DETAIL,
): JsonObject {
  const errors: FieldError[] = [];
  const isMoved = stored !== null && hasNewOrigin(listTargets(value), listTargets(stored));
  const result = restoreObject(value, isMoved ? null : stored, '', errors);
  if (errors.length === 0) return result;
  throw invalid(isMoved ? errors.map(({ pointer }) => ({ pointer, detail: movedDetail })) : errors);
}

/** The URLs in `value` by their pointers, without those that are values of headers. */
export function collectUrls(
  value: JsonValue | undefined, pointer = '',
): ReadonlyMap<string, string> {
  if (typeof value === 'string') {
    return new Map(isUrl(value) ? [[pointer, value]] : []);
  }
  if (typeof value !== 'object' || value === null) return listNoTargets();
  return new Map(Object.entries(value).flatMap(([name, member]) =>
    HEADERS.includes(name.toLowerCase()) ? []
      : [...collectUrls(member, pointer + pointerStep(name))]));
}

function listNoTargets(): ReadonlyMap<string, string> {
  return new Map();
}

function hasNewOrigin(
  after: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>,
): boolean {
  return [...after].some(([pointer, url]) => {
    const previousUrl = before.get(pointer);
    return previousUrl === undefined || formatOrigin(url) !== formatOrigin(previousUrl);
  });
}

function maskMember(name: string, member: JsonValue, pointer: string): JsonValue {
  const show = OPEN_MEMBERS.get(pointer);
  if (show !== undefined) return show(member);
  if (HEADERS.includes(name.toLowerCase()) || isSecretName(name)) return maskEveryValue(member);
  if (typeof member === 'string') return hideUrlSecrets(member);
  if (Array.isArray(member)) {
    return member.map((item: JsonValue, index) => maskMember(name, item, `${pointer}/${index}`));
  }
  return isJsonObject(member) ? maskObject(member, pointer) : member;
}

// The shape stays, so that each value can be kept or replaced; null and booleans hold no secret.
function maskEveryValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(maskEveryValue);
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) =>
      [name, maskEveryValue(member)]));
  }
  return value === null || typeof value === 'boolean' ? value : MASK;
}

function restoreObject(
  value: JsonObject, stored: JsonValue | undefined | null, pointer: string, errors: FieldError[],
): JsonObject {
  const source = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    const before = Object.hasOwn(source, name) ? source[name] : undefined;
    return [name, restoreValue(member, before, pointer + pointerStep(name), errors)];
  }));
}

function restoreValue(
  value: JsonValue, stored: JsonValue | undefined, pointer: string, errors: FieldError[],
): JsonValue {
  if (typeof value === 'string') return restoreText(value, stored, pointer, errors);
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = Array.isArray(stored) ? stored : [];
    return value.map((item: JsonValue, index) =>
      restoreValue(item, items[index], `${pointer}/${index}`, errors));
  }
  return isJsonObject(value) ? restoreObject(value, stored, pointer, errors) : value;
}

/** The text itself, unless it is `***` or a URL that has `***` in the place of credentials. */
function restoreText(
  value: string, stored: JsonValue | undefined, pointer: string, errors: FieldError[],
): JsonValue {
  const hasStoredText = typeof stored === 'string' || isJsonNumber(stored);
  if (value === MASK && hasStoredText) return stored;
  const url = value === MASK ? null
    : restoreUrlSecrets(value, hasStoredText ? String(stored) : '');
  if (url !== null) return url;
  errors.push({ pointer, detail: `has no stored value that ${MASK} could keep` });
  return value;
}
