/**
 * Fits a value that another program wrote to the model: takes the value itself, or the rest of a
 * list or an object without the items and members that the model refuses.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, readMemberInto } from '../../../base/fields.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../../base/schema.ts';
import { bookSchema, readingSchema } from '../../book.ts';

type AcceptedValue = {
  /** In the model's canonical form. */
  readonly value: JsonValue;
  /** Whether nothing was taken out. */
  readonly isWhole: boolean;
};

// Each attempt takes out what the one before was told of; a rule across members is told after it.
const ATTEMPTS_MAX = 4;

/**
 * Null where the model takes nothing of it, or no other program may say such a member. `schema`:
 * that of a book with the members that our own formats say besides.
 */
export function acceptMember(
  member: string, value: JsonValue, schema: ObjectSchema = bookSchema,
): AcceptedValue | null {
  return isOfOthers(schema, member) ? acceptBy(schema, member, value) : null;
}

/** The same of the member of that name of `reading`, by itself. */
export function acceptReadingMember(name: string, value: JsonValue): AcceptedValue | null {
  return isOfOthers(readingSchema, name) ? acceptBy(readingSchema, name, value) : null;
}

/** Whether members of `reading` that are accepted by themselves contradict each other. */
export function hasContradiction(reading: JsonObject): boolean {
  return (readingSchema.check?.(reading, reading) ?? []).length > 0;
}

function acceptBy(schema: ObjectSchema, name: string, value: JsonValue): AcceptedValue | null {
  let candidate: JsonValue | undefined = withoutRepeats(value);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // A list of nothing is a value, but not where the model has refused all that was in it.
    if (candidate === undefined || (attempt > 0 && isEmptyList(candidate))) return null;
    const errors: FieldError[] = [];
    const accepted = readMemberInto(schema, name, candidate, errors);
    if (errors.length === 0) {
      return accepted === undefined ? null : { value: accepted, isWhole: attempt === 0 };
    }
    candidate = withoutRefused(candidate, errors, itemsMaxOf(schema, name));
  }
  return null;
}

/** The reason why the model refuses a value; null where it takes it. */
export function explainRefusal(member: string, value: JsonValue): string | null {
  const errors: FieldError[] = [];
  if (isOfOthers(bookSchema, member)) readMemberInto(bookSchema, member, value, errors);
  return errors[0]?.detail ?? null;
}

/** Whether other programs may say the member. Names come from files, such as `constructor`. */
function isOfOthers({ members }: ObjectSchema, name: string): boolean {
  // `mapRecord` puts into `metadata` what a record has for it.
  return Object.hasOwn(members, name) && members[name]?.readOnly === undefined
    && name !== 'metadata';
}

/** How many items the member may have; none where it is no list. */
function itemsMaxOf({ members }: ObjectSchema, name: string): number {
  const schema = members[name]?.schema;
  return schema?.kind === 'array' ? schema.maxItems : 0;
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
function withoutRefused(
  value: JsonValue, errors: readonly FieldError[], itemsMax: number,
): JsonValue | undefined {
  // An item more than it may have tells that there are too many: the others are not copied.
  const start = Array.isArray(value) ? value.slice(0, itemsMax + 1) : value;
  const copy = structuredClone(start) as JsonValue;
  // Items go after all errors are read: until then an index is that of its item.
  const refusedIndexes = new Set<number>();
  for (const { pointer } of errors) {
    const [step, ...path] = parseSteps(pointer);
    if (step === undefined) {
      if (!Array.isArray(copy) || copy.length <= itemsMax) return undefined;
      copy.length = itemsMax;
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
