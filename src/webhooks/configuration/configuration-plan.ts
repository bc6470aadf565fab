/** The plan of an apply: what it changes, as it is shown before anything is done. Pure. */
import { isJsonObject, mapMembers } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../base/schema.ts';
import { maskSecrets } from '../members/mask-secrets.ts';
import { findValidPrevious, isReplacedSecret } from '../members/rotate-secret.ts';
import type { PlannedChange } from './document-schema.ts';
import type { RecordKind } from './record-kinds.ts';

/** Stands among the changed members in place of `secret` when there will be none. */
export const SECRET_REMOVED = 'secret removed';

type PlannedRecord = {
  readonly kind: RecordKind;
  readonly name: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
};

/** The names of the members that differ, in the order of the schema, and that documents have. */
export function listChangedMembers(
  { kind: { schema, naming }, before: stored, after: fields }: PlannedRecord,
): readonly string[] {
  const before = sortFreeJson(schema, stored);
  const after = sortFreeJson(schema, fields);
  return Object.entries(schema.members)
    .filter(([name, { readOnly }]) => readOnly === undefined && name !== naming
      && encodeJson(before[name]) !== encodeJson(after[name]))
    .map(([name]) => name === 'secret' && after[name] === undefined ? SECRET_REMOVED : name);
}

/** Describes each changed member in a line, and lists what is to be confirmed. */
export function describeMembers(
  change: PlannedRecord, members: readonly string[], nowMs: number,
): Pick<PlannedChange, 'details' | 'confirm'> {
  const { kind: { schema }, before, after } = change;
  const shownBefore = sortFreeJson(schema, maskSecrets(schema, before));
  const shownAfter = sortFreeJson(schema, maskSecrets(schema, after));
  const isSecretChanged = members.includes('secret') && before['secret'] !== undefined;
  const confirm = isSecretChanged ? listSecretRisks(change, nowMs) : [];
  const details = members.map((member) => {
    if (member === SECRET_REMOVED) return member;
    if (member === 'secret') return describeSecret(change, nowMs);
    return describeValue(member, shownBefore[member], shownAfter[member]);
  });
  return { details, ...confirm.length === 0 ? {} : { confirm } };
}

function describeValue(
  member: string, before: JsonValue | undefined, after: JsonValue | undefined,
): string {
  const [old, next] = [formatShown(before), formatShown(after)];
  return old === next ? `${member}: ${next}, with another value that is not shown`
    : `${member}: ${old} → ${next}`;
}

function describeSecret({ before, after }: PlannedRecord, nowMs: number): string {
  if (before['secret'] === undefined) return 'secret set';
  const previous = findValidPrevious(before, nowMs);
  const isBack = isReplacedSecret(before, after['secret'], nowMs);
  const overlap = findValidPrevious(after, nowMs);
  const origin = isBack ? ' back to the one before its rotation, the newer one'
    : ', the one before';
  const end = overlap === null ? 'ends at once' : `stays valid until ${overlap.validUntil}`;
  const change = `secret changed${origin} ${end}`;
  return previous === null || previous.secret === after['secret'] ? change
    : `${change}; the one before that, valid until ${previous.validUntil}, ends at once`;
}

/** A file that was not changed when the secret was rotated would undo the rotation. */
function listSecretRisks(
  { kind: { noun }, name, before, after }: PlannedRecord, nowMs: number,
): readonly string[] {
  return !isReplacedSecret(before, after['secret'], nowMs) ? []
    : [`give ${noun} ${name} its previous secret again, which its rotation has replaced`];
}

const SHOWN_LENGTH_MAX = 300;

/** A value as JSON in one line, shortened. A member that is absent has its default. */
function formatShown(value: JsonValue | undefined): string {
  const text = value === undefined ? 'not set' : formatJson(value);
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

function formatJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`;
  if (!isJsonObject(value)) return encodeJson(value);
  const members = Object.entries(value).map(([name, member]) =>
    `${encodeJson(name)}: ${formatJson(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/**
 * The members of a record; those that hold free JSON have their own members sorted by name, so that
 * equal values have equal text.
 */
export function sortFreeJson({ members }: ObjectSchema, record: JsonObject): JsonObject {
  return mapMembers(record, (value, name) => {
    const { schema } = members[name] ?? {};
    if (schema?.kind === 'json') return sortMembers(value);
    return schema?.kind === 'object' && isJsonObject(value) ? sortFreeJson(schema, value) : value;
  });
}

function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name] ?? null)]));
}
