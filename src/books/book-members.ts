/**
 * The single members of a book: each of `reading` counts by itself, under a name with a dot, such
 * as `reading.rating`. So files name them, and so imports set them: what a file does not say of the
 * reading stays.
 */
import { isJsonObject } from '../base/fields.ts';
import type { JsonObject, JsonValue, Schema } from '../base/schema.ts';
import { bookSchema, foldText } from './book.ts';

const READING = 'reading';
export const READING_PREFIX = 'reading.';
/** The beginning of the names of what metadata have beside sources: `metadata.Lent to`. */
export const METADATA_PREFIX = 'metadata.';

/** The schemas of the single members by their names, in the order of the model. */
export const MEMBER_SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  Object.entries(bookSchema.members).flatMap(([name, { schema }]) =>
    name !== READING || schema.kind !== 'object' ? [[name, schema] as const]
      : Object.entries(schema.members).map(([inner, member]) =>
        [READING_PREFIX + inner, member.schema] as const)));

/** The book with its single members instead of `reading`. */
export function separateMembers({ [READING]: reading, ...members }: JsonObject): JsonObject {
  if (!isJsonObject(reading)) return members;
  const flatMembers: Record<string, JsonValue> = members;
  for (const [name, value] of Object.entries(reading)) flatMembers[READING_PREFIX + name] = value;
  return flatMembers;
}

/** The book of single members, in the order of the model. */
export function joinMembers(separated: JsonObject): JsonObject {
  const members: Record<string, JsonValue> = {};
  const reading: Record<string, JsonValue> = {};
  for (const name of MEMBER_SCHEMAS.keys()) {
    const value = separated[name];
    if (value === undefined) continue;
    if (!name.startsWith(READING_PREFIX)) {
      members[name] = value;
      continue;
    }
    reading[name.slice(READING_PREFIX.length)] = value;
    members[READING] = reading;
  }
  return members;
}

/** The list, and behind it each item that it has not, once, whatever their case. */
export function appendItems(
  list: readonly JsonValue[], items: readonly JsonValue[],
): readonly JsonValue[] {
  const folded = new Set(list.map(foldText));
  const newItems = items.filter((item) => {
    const isNew = !folded.has(foldText(item));
    folded.add(foldText(item));
    return isNew;
  });
  return [...list, ...newItems];
}

/** The items of two lists, `own` first; the value that is there where the other is absent. */
export function combineLists(
  own: JsonValue | undefined, others: JsonValue | undefined,
): JsonValue | undefined {
  return Array.isArray(own) && Array.isArray(others) ? appendItems(own, others) : own ?? others;
}
