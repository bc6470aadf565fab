/**
 * What the model takes of a value that another program wrote: the value itself, or what is left of
 * a list or an object when the items and members that the model refuses are taken out.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, readObjectInto } from '../../../base/fields.ts';
import type { JsonValue, ObjectSchema } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX, bookSchema } from '../../book.ts';

type AcceptedValue = {
  /** In the model's canonical form. */
  readonly value: JsonValue;
  /** Whether nothing was taken out. */
  readonly isWhole: boolean;
};

// Each attempt takes out what the one before was told of; a rule across members is told after it.
const ATTEMPTS_MAX = 4;

const memberSchemas = new Map<string, ObjectSchema>();

/** Null where the model takes nothing of it, or no other program may say such a member. */
export function acceptMember(member: string, value: JsonValue): AcceptedValue | null {
  const schema = findSchema(member);
  let candidate: JsonValue | undefined = withoutRepeats(value);
  for (let attempt = 0; schema !== null && attempt < ATTEMPTS_MAX; attempt += 1) {
    // A list of nothing is a value, but not where the model has refused all that was in it.
    if (candidate === undefined || (attempt > 0 && isEmptyList(candidate))) return null;
    const errors: FieldError[] = [];
    const parsed = readObjectInto(schema, { [member]: candidate }, errors)?.[member];
    if (errors.length === 0) {
      return parsed === undefined ? null : { value: parsed, isWhole: attempt === 0 };
    }
    candidate = withoutRefused(candidate, errors);
  }
  return null;
}

/** The reason why the model refuses a value; null where it takes it. */
export function explainRefusal(member: string, value: JsonValue): string | null {
  const schema = findSchema(member);
  const errors: FieldError[] = [];
  if (schema !== null) readObjectInto(schema, { [member]: value }, errors);
  return errors[0]?.detail ?? null;
}

function findSchema(member: string): ObjectSchema | null {
  const known = memberSchemas.get(member);
  if (known !== undefined) return known;
  // Names come from files: `constructor` is not one of the model's.
  const memberSchema = Object.hasOwn(bookSchema.members, member)
    ? bookSchema.members[member] : undefined;
  if (memberSchema === undefined || memberSchema.readOnly !== undefined) return null;
  // `mapRecord` puts there what a record has for it.
  if (member === 'metadata') return null;
  const schema: ObjectSchema = { kind: 'object', members: { [member]: memberSchema } };
  memberSchemas.set(member, schema);
  return schema;
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}

// Saying a keyword twice says no more than saying it once.
function withoutRepeats(value: JsonValue): JsonValue {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return value;
  return [...new Set(value)];
}

/** The value without what the errors point at; undefined where that is all of it. */
function withoutRefused(value: JsonValue, errors: readonly FieldError[]): JsonValue | undefined {
  const copy = structuredClone(value) as JsonValue;
  // Items go after all errors are read: until then an index is that of its item.
  const refusedIndexes = new Set<number>();
  for (const { pointer } of errors) {
    const [step, ...path] = parseSteps(pointer).slice(1);
    if (step === undefined) {
      if (!Array.isArray(copy) || copy.length <= LIST_ITEMS_MAX) return undefined;
      copy.length = LIST_ITEMS_MAX;
    } else if (Array.isArray(copy)) {
      if (!removeMember(copy[Number(step)], path)) refusedIndexes.add(Number(step));
    } else if (!removeMember(copy, [step, ...path])) {
      return undefined;
    }
  }
  return Array.isArray(copy) ? copy.filter((_, index) => !refusedIndexes.has(index)) : copy;
}

/** The names and indexes of a JSON Pointer (RFC 6901). */
function parseSteps(pointer: string): readonly string[] {
  return pointer.split('/').slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Removes the member at the path; where the path ends at a missing one, the object that lacks it.
 * Returns whether it did: the value itself cannot be removed here.
 */
function removeMember(value: JsonValue | undefined, path: readonly string[]): boolean {
  const [name, ...others] = path;
  if (name === undefined || !isJsonObject(value) || !Object.hasOwn(value, name)) return false;
  if (!removeMember(value[name], others)) Reflect.deleteProperty(value, name);
  return true;
}
