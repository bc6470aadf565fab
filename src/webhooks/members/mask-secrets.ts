/**
 * Hides the secrets of a record, and restores them in a body. Secrets are members whose rows say so
 * (`isSecret`), in free JSON the values of `headers` and members with secret-like names, and
 * credentials in URLs (url-credentials.ts). A `***` that is sent back keeps the stored value in its
 * place, unless the target of the secrets has another origin. Pure.
 */
import {
  findInner, invalid, isJsonObject, mapInner, mapMembers, pointerStep,
} from '../../base/fields.ts';
import type { FieldError } from '../../base/errors.ts';
import { MASK, isSecretName } from '../../base/log.ts';
import { isJsonNumber } from '../../base/exact-number.ts';
import type { JsonObject, JsonValue, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import type { WriteCause } from '../../resources/resource.ts';
import { hideUrlSecrets, isUrl, restoreUrlSecrets, formatOrigin } from './url-credentials.ts';

const HEADERS = ['headers', 'staticheaders'];
/** The schema of values that no row describes, such as the inside of free JSON. */
const UNDESCRIBED: ObjectSchema = { kind: 'object', members: {} };
const NEW_ORIGIN_DETAIL =
  `must be given anew, or removed with null: ${MASK} stands for the stored value, which is not `
  + 'sent to another scheme, host or port';

/**
 * Gives the value that stands in place of a secret: `mask` is `***`, or a URL with `***` in it.
 * `steps` lead to its place: names, and indexes from 1 on.
 */
type Hide = (mask: string, steps: readonly string[]) => JsonValue;

/** A copy of a record with `***` in place of its secrets. */
export function maskSecrets(schema: ObjectSchema, record: JsonObject): JsonObject {
  return replaceSecrets(schema, record, (mask) => mask);
}

/** The record as callers see it: without write-only members, its secrets masked. */
export function showRecord(schema: ObjectSchema, record: JsonObject): JsonObject {
  return maskSecrets(schema, dropWriteOnly(schema, record));
}

/** A copy of a record with what `hide` gives in place of its secrets. */
export function replaceSecrets(schema: ObjectSchema, record: JsonObject, hide: Hide): JsonObject {
  return mapMembers(record, (value, name) =>
    hideValue(findInnerRow({ schema }, name), value, hide, [name]));
}

/**
 * Replaces each `***` in the body by the stored value at its pointer, also in members that are not
 * secret. Items of a list are found by their index, so one that has moved gets another's secret.
 * `replace` also keeps the write-only members of `schema` that the body leaves out. `apply` changes
 * nothing, as `parseDocument` has refused `***`. Throws `invalid` with each `***` that has no
 * stored value, or that `explainMove` refuses.
 */
export function keepSecrets(
  schema: ObjectSchema, body: JsonObject, current: JsonObject | null, cause: WriteCause,
  explainMove: ExplainMove = () => null,
): JsonObject {
  if (cause === 'apply') return body;
  const before = current ?? {};
  const whole = cause === 'replace' ? fillUnsent(schema, body, before) : body;
  const errors: FieldError[] = [];
  const restoring = { errors, explainMove: current === null ? () => null : explainMove };
  const result = mapMembers(whole, (value, name) =>
    restoreValue(value, findInner(before, name), pointerStep(name), restoring));
  if (errors.length > 0) throw invalid(errors);
  return result;
}

/** Why the secret at a pointer must be given anew, as it would go elsewhere; null: it may stay. */
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

// The shape of a secret stays, so that each value can be kept or replaced; null and booleans are
// never secret.
function hideValue(
  row: MemberSchema, value: JsonValue, hide: Hide, steps: readonly string[],
): JsonValue {
  if (row.isPublic === true || value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string' || isJsonNumber(value)) {
    const mask = row.isSecret === true ? MASK : hideUrlSecrets(String(value));
    return mask === String(value) ? value : hide(mask, steps);
  }
  return mapInner(value, (inner, step) => hideValue(findInnerRow(row, step), inner, hide,
    [...steps, typeof step === 'number' ? String(step + 1) : step]));
}

/**
 * The row of a member or an item of the value with this row. A member's own row alone decides, and
 * its name only where it has none: an `apiKey` whose row has no `isSecret` is shown.
 */
function findInnerRow({ schema, isSecret }: MemberSchema, step: string | number): MemberSchema {
  if (isSecret === true) return { schema: UNDESCRIBED, isSecret };
  if (typeof step === 'number') {
    return { schema: schema.kind === 'array' ? schema.items : UNDESCRIBED };
  }
  const { members } = schema.kind === 'object' ? schema : UNDESCRIBED;
  const member = Object.hasOwn(members, step) ? members[step] : undefined;
  return member ?? {
    schema: UNDESCRIBED, isSecret: HEADERS.includes(step.toLowerCase()) || isSecretName(step),
  };
}

/** The record without the members that are never shown. Lists stay as they are. */
function dropWriteOnly(schema: ObjectSchema, record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).flatMap(([name, value]) => {
    const row = findInnerRow({ schema }, name);
    if (row.isWriteOnly === true) return [];
    const isWithin = row.schema.kind === 'object' && isJsonObject(value);
    return [[name, isWithin ? dropWriteOnly(row.schema, value) : value]];
  }));
}

/**
 * The body with `***` for each write-only member that a caller may send, that it leaves out and the
 * record has, but none within lists.
 */
function fillUnsent(
  { members }: ObjectSchema, body: JsonObject, stored: JsonObject,
): JsonObject {
  const wholeBody: Record<string, JsonValue> = { ...body };
  for (const [name, { schema, isWriteOnly, readOnly }] of Object.entries(members)) {
    const { [name]: value } = body;
    const { [name]: before } = stored;
    const isUnsent = isWriteOnly === true && readOnly === undefined && !Object.hasOwn(body, name);
    if (isUnsent && before !== undefined) {
      wholeBody[name] = MASK;
    } else if (schema.kind === 'object' && isJsonObject(value) && isJsonObject(before)) {
      wholeBody[name] = fillUnsent(schema, value, before);
    }
  }
  return wholeBody;
}

type Restoring = { readonly errors: FieldError[]; readonly explainMove: ExplainMove };

function restoreValue(
  value: JsonValue, stored: JsonValue | undefined, pointer: string, restoring: Restoring,
): JsonValue {
  return typeof value === 'string' ? restoreText(value, stored, pointer, restoring)
    : mapInner(value, (inner, step) => restoreValue(
      inner, findInner(stored, step), pointer + pointerStep(step), restoring));
}

/** The text itself, unless it is `***` or a URL that has `***` in the place of credentials. */
function restoreText(
  value: string, stored: JsonValue | undefined, pointer: string, restoring: Restoring,
): JsonValue {
  const movedDetail = restoring.explainMove(pointer);
  const canKeep = movedDetail === null && (typeof stored === 'string' || isJsonNumber(stored));
  if (value === MASK && canKeep) return stored;
  const url = value === MASK ? null : restoreUrlSecrets(value, canKeep ? String(stored) : '');
  if (url !== null) return url;
  const detail = movedDetail ?? `has no stored value that ${MASK} could keep`;
  restoring.errors.push({ pointer, detail });
  return value;
}
