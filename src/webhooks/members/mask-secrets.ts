/**
 * Hides the secrets of a record, and restores them in a body. Which members are secret, their rows
 * say (`isSecret`); in free JSON they are the values of `headers`, and members with secret-like
 * names. So are credentials in URLs (url-credentials.ts). A `***` that is sent back keeps the
 * stored value in its place, unless the target of the secrets has another origin. Pure.
 */
import { invalid, isJsonObject, pointerStep } from '../../base/fields.ts';
import type { FieldError } from '../../base/errors.ts';
import { MASK, isSecretName } from '../../base/log.ts';
import { isJsonNumber } from '../../base/exact-number.ts';
import type { JsonObject, JsonValue, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import type { WriteCause } from '../../resources/resource.ts';
import { hideUrlSecrets, isUrl, restoreUrlSecrets, formatOrigin } from './url-credentials.ts';

const HEADERS = ['headers', 'staticheaders'];
const FREE_JSON: ObjectSchema = { kind: 'object', members: {} };
const NEW_ORIGIN_DETAIL =
  `must be given anew, or removed with null: ${MASK} keeps nothing when the scheme, `
  + 'host or port of the target changes';

/** How a copy of a record is made. */
type Copying = {
  /**
   * Gives what stands in place of a secret: `shown` is `***`, or a URL with `***` in it. `steps`
   * lead to its place: names, and indexes from 1 on.
   */
  readonly hide: (shown: string, steps: readonly string[]) => JsonValue;
  readonly leavesOut?: (row: MemberSchema) => boolean;
};

/** A copy of a record with `***` in place of its secrets. */
export function maskSecrets(schema: ObjectSchema, record: JsonObject): JsonObject {
  return copyRecord(schema, record, { hide: (shown) => shown });
}

/** The same without write-only members: what callers see. */
export function showRecord(schema: ObjectSchema, record: JsonObject): JsonObject {
  return copyRecord(schema, record, {
    hide: (shown) => shown, leavesOut: ({ isWriteOnly }) => isWriteOnly === true,
  });
}

export function copyRecord(
  schema: ObjectSchema, record: JsonObject, copying: Copying,
): JsonObject {
  return copyObject({ schema }, record, copying, []);
}

/**
 * The body with what it keeps of the stored record: nothing in an apply. The stored value replaces
 * each `***`, and each write-only member that a replacement leaves out. Throws `invalid` for each
 * that has none, or keeps none as `explainMove` says.
 */
export function keepSecrets(
  schema: ObjectSchema, body: JsonObject, current: JsonObject | null, cause: WriteCause,
  explainMove: ExplainMove = () => null,
): JsonObject {
  const stored = cause === 'apply' ? null : current;
  const whole = cause === 'replace' && stored !== null ? fillUnsent(schema, body, stored) : body;
  const errors: FieldError[] = [];
  const restoring = { errors, explainMove: stored === null ? () => null : explainMove };
  const result = restoreObject(whole, stored, '', restoring);
  if (errors.length > 0) throw invalid(errors);
  return result;
}

/** Why a `***` at a pointer keeps nothing, as its target has moved; null: it may. */
export type ExplainMove = (pointer: string) => string | null;

/** `detail` if a URL within `after` has another origin than the one in its place in `before`. */
export function explainNewOrigin(
  after: JsonValue | undefined, before: JsonValue | undefined, detail = NEW_ORIGIN_DETAIL,
): string | null {
  const urlsBefore = collectUrls(before);
  const isMoved = [...collectUrls(after)].some(([pointer, url]) => {
    const previousUrl = urlsBefore.get(pointer);
    return previousUrl === undefined || formatOrigin(url) !== formatOrigin(previousUrl);
  });
  return isMoved ? detail : null;
}

/** The URLs in `value` by their pointers, without those that are values of headers. */
function collectUrls(value: JsonValue | undefined, pointer = ''): ReadonlyMap<string, string> {
  if (typeof value === 'string') return new Map(isUrl(value) ? [[pointer, value]] : []);
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).flatMap(([name, member]) =>
    HEADERS.includes(name.toLowerCase()) ? []
      : [...collectUrls(member, pointer + pointerStep(name))]));
}

function copyObject(
  row: MemberSchema, object: JsonObject, copying: Copying, steps: readonly string[],
): JsonObject {
  return Object.fromEntries(Object.entries(object).flatMap(([name, value]) => {
    const inner = findRowWithin(row, name);
    return copying.leavesOut?.(inner) === true ? []
      : [[name, copyValue(inner, value, copying, [...steps, name])]];
  }));
}

// The shape of a secret stays, so that each value can be kept or replaced; null and booleans hold
// none.
function copyValue(
  row: MemberSchema, value: JsonValue, copying: Copying, steps: readonly string[],
): JsonValue {
  if (row.isPublic === true || value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, index) =>
      copyValue(findRowWithin(row, null), item, copying, [...steps, String(index + 1)]));
  }
  if (isJsonObject(value)) return copyObject(row, value, copying, steps);
  if (row.isSecret === true) return copying.hide(MASK, steps);
  const shown = typeof value === 'string' ? hideUrlSecrets(value) : '';
  return typeof value !== 'string' || shown === value ? value : copying.hide(shown, steps);
}

/** The row of a member of a value with that row, or of an element: its `name` is null. */
function findRowWithin({ schema, isSecret }: MemberSchema, name: string | null): MemberSchema {
  if (isSecret === true) return { schema: FREE_JSON, isSecret };
  if (name === null) return { schema: schema.kind === 'array' ? schema.items : FREE_JSON };
  const { members } = schema.kind === 'object' ? schema : FREE_JSON;
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  return member ?? {
    schema: FREE_JSON, isSecret: HEADERS.includes(name.toLowerCase()) || isSecretName(name),
  };
}

/** The body with `***` for each write-only member that it leaves out and the record has. */
function fillUnsent(
  { members }: ObjectSchema, body: JsonObject, stored: JsonObject,
): JsonObject {
  const filled: Record<string, JsonValue> = { ...body };
  for (const [name, { schema, isWriteOnly }] of Object.entries(members)) {
    const { [name]: value } = body;
    const { [name]: before } = stored;
    if (isWriteOnly === true && before !== undefined && !Object.hasOwn(body, name)) {
      filled[name] = MASK;
    } else if (schema.kind === 'object' && isJsonObject(value) && isJsonObject(before)) {
      filled[name] = fillUnsent(schema, value, before);
    }
  }
  return filled;
}

type Restoring = { readonly errors: FieldError[]; readonly explainMove: ExplainMove };

function restoreObject(
  value: JsonObject, stored: JsonValue | undefined | null, pointer: string, restoring: Restoring,
): JsonObject {
  const source = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    const before = Object.hasOwn(source, name) ? source[name] : undefined;
    return [name, restoreValue(member, before, pointer + pointerStep(name), restoring)];
  }));
}

function restoreValue(
  value: JsonValue, stored: JsonValue | undefined, pointer: string, restoring: Restoring,
): JsonValue {
  if (typeof value === 'string') return restoreText(value, stored, pointer, restoring);
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = Array.isArray(stored) ? stored : [];
    return value.map((item: JsonValue, index) =>
      restoreValue(item, items[index], `${pointer}/${index}`, restoring));
  }
  return isJsonObject(value) ? restoreObject(value, stored, pointer, restoring) : value;
}

/** The text itself, unless it is `***` or a URL that has `***` in the place of credentials. */
function restoreText(
  value: string, stored: JsonValue | undefined, pointer: string, restoring: Restoring,
): JsonValue {
  const movedDetail = restoring.explainMove(pointer);
  const hasStoredText = movedDetail === null
    && (typeof stored === 'string' || isJsonNumber(stored));
  if (value === MASK && hasStoredText) return stored;
  const url = value === MASK ? null
    : restoreUrlSecrets(value, hasStoredText ? String(stored) : '');
  if (url !== null) return url;
  const detail = movedDetail ?? `has no stored value that ${MASK} could keep`;
  restoring.errors.push({ pointer, detail });
  return value;
}
