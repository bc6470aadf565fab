/**
 * What the model takes of a value that another program wrote: the value itself, or what is left of
 * a list or an object when the items and members that the model refuses are taken out.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, readObjectInto } from '../../../base/fields.ts';
import type { JsonValue, ObjectSchema } from '../../../base/schema.ts';
import { bookSchema } from '../../book.ts';
import type { BookMember } from './format-table.ts';

type AcceptedValue = {
  /** In the model's canonical form. */
  readonly value: JsonValue;
  /** Whether nothing was taken out. */
  readonly isWhole: boolean;
};

// Each attempt takes out what the one before was told of; a rule across members is told after it.
const ATTEMPTS_MAX = 4;

const memberSchemas = new Map<string, ObjectSchema>();

/** Null where the model takes nothing of it, or has no such member. */
export function acceptMember(member: BookMember, value: JsonValue): AcceptedValue | null {
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

function findSchema(member: string): ObjectSchema | null {
  const known = memberSchemas.get(member);
  if (known !== undefined) return known;
  const memberSchema = bookSchema.members[member];
  if (memberSchema === undefined || memberSchema.readOnly !== undefined) return null;
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
  // Later items first, so that an index stays right when its item goes.
  const paths = errors.map(({ pointer }) => pointer.split('/').slice(2));
  for (const path of paths.sort(compareDescending)) {
    if (path.length > 0) removeAt(copy, path);
    else if (Array.isArray(copy) && copy.length > LIST_ITEMS_MAX) copy.length = LIST_ITEMS_MAX;
    else return undefined;
  }
  return copy;
}

/** Both lists of the model, authors and keywords, hold this many. */
export const LIST_ITEMS_MAX = 100;

function compareDescending(left: readonly string[], right: readonly string[]): number {
  for (const [index, step] of left.entries()) {
    const other = right[index];
    if (other === undefined) return -1;
    if (step !== other) return Number(other) - Number(step) || (step < other ? 1 : -1);
  }
  return right.length > left.length ? 1 : 0;
}

/** Removes the item or member at the path; where it is missing, what it is missing from. */
function removeAt(value: JsonValue, path: readonly string[]): void {
  const last = path.at(-1) ?? '';
  const parent = path.slice(0, -1).reduce<unknown>((place, step) =>
    typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined, value);
  if (Array.isArray(parent)) {
    parent.splice(Number(last), 1);
  } else if (isJsonObject(parent) && Object.hasOwn(parent, last)) {
    Reflect.deleteProperty(parent, last);
  } else if (path.length > 1) {
    removeAt(value, path.slice(0, -1));
  }
}
