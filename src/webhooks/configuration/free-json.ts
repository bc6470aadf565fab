/** Free JSON with its members in one order, so that equal values have equal text. Pure. */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../base/schema.ts';

/** The members of a record; those that hold free JSON have their own members sorted by name. */
export function sortFreeJson({ members }: ObjectSchema, record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => {
    const { schema } = members[name] ?? {};
    if (schema?.kind === 'json') return [name, sortMembers(value)];
    const isObject = schema?.kind === 'object' && isJsonObject(value);
    return [name, isObject ? sortFreeJson(schema, value) : value];
  }));
}

function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name] ?? null)]));
}
