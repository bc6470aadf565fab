/**
 * What an answer shows instead of secrets, and how it comes back. Values of `headers`, members with
 * secret-like names and credentials in URLs (url-credentials.ts) are shown as `***`. Sent back, it
 * keeps what is stored at the same place, unless what the secrets are sent to is another. Pure.
 */
import { invalid, isJsonObject, pointerStep } from '../../base/fields.ts';
import type { FieldError } from '../../base/errors.ts';
import { isSecretName } from '../../base/log.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { MASK, hideUrlSecrets, isUrl, keepUrlSecrets, originOf } from './url-credentials.ts';

const HEADERS = ['headers', 'staticheaders'];
const MOVED = `must be given anew, or removed with null: ${MASK} keeps nothing when the scheme, `
  + 'host or port of the target changes';

/** A copy of `value` without secrets. */
export function mask(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) =>
    [name, maskMember(name, member)]));
}

/**
 * A copy of `value` with every `***` replaced by what `stored` holds there. Throws `invalid` where
 * it holds nothing to keep, and for each `***` when a URL of `targetsOf` has another origin: what
 * was given for one target must not go to another.
 */
export function unmask(
  value: JsonObject, stored: JsonObject | null,
  targetsOf: (record: JsonObject) => ReadonlyMap<string, string> = noTargets,
): JsonObject {
  const errors: FieldError[] = [];
  const isMoved = stored !== null && hasNewOrigin(targetsOf(value), targetsOf(stored));
  const kept = unmaskObject(value, isMoved ? null : stored, '', errors);
  if (errors.length === 0) return kept;
  throw invalid(isMoved ? errors.map(({ pointer }) => ({ pointer, detail: MOVED })) : errors);
}

/** Every URL in `value` by its pointer, but for those that are a header's value. */
export function urlsIn(value: JsonValue | undefined, pointer = ''): ReadonlyMap<string, string> {
  if (typeof value === 'string') {
    return new Map(isUrl(value) ? [[pointer, value]] : []);
  }
  if (typeof value !== 'object' || value === null) return noTargets();
  return new Map(Object.entries(value).flatMap(([name, member]) =>
    HEADERS.includes(name.toLowerCase()) ? [] : [...urlsIn(member, pointer + pointerStep(name))]));
}

function noTargets(): ReadonlyMap<string, string> {
  return new Map();
}

function hasNewOrigin(
  after: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>,
): boolean {
  return [...after].some(([pointer, url]) => {
    const stored = before.get(pointer);
    return stored === undefined || originOf(url) !== originOf(stored);
  });
}

function maskMember(name: string, member: JsonValue): JsonValue {
  if (HEADERS.includes(name.toLowerCase()) || isSecretName(name)) return maskAll(member);
  if (typeof member === 'string') return hideUrlSecrets(member);
  if (Array.isArray(member)) return member.map((item: JsonValue) => maskMember(name, item));
  return isJsonObject(member) ? mask(member) : member;
}

// The shape is kept, so that each value can be kept or replaced; null and booleans hold no secret.
function maskAll(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(maskAll);
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) =>
      [name, maskAll(member)]));
  }
  return value === null || typeof value === 'boolean' ? value : MASK;
}

function unmaskObject(
  value: JsonObject, stored: JsonValue | undefined | null, pointer: string, errors: FieldError[],
): JsonObject {
  const source = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    const before = Object.hasOwn(source, name) ? source[name] : undefined;
    return [name, unmaskValue(member, before, pointer + pointerStep(name), errors)];
  }));
}

function unmaskValue(
  value: JsonValue, stored: JsonValue | undefined, pointer: string, errors: FieldError[],
): JsonValue {
  if (typeof value === 'string') return unmaskText(value, stored, pointer, errors);
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = Array.isArray(stored) ? stored : [];
    return value.map((item: JsonValue, index) =>
      unmaskValue(item, items[index], `${pointer}/${index}`, errors));
  }
  return isJsonObject(value) ? unmaskObject(value, stored, pointer, errors) : value;
}

function unmaskText(
  value: string, stored: JsonValue | undefined, pointer: string, errors: FieldError[],
): JsonValue {
  const isKept = typeof stored === 'string' || typeof stored === 'number';
  if (value === MASK && isKept) return stored;
  const kept = value === MASK ? null : keepUrlSecrets(value, isKept ? String(stored) : '');
  if (kept !== null) return kept;
  errors.push({ pointer, detail: `has no stored value that ${MASK} could keep` });
  return value;
}
