/** Free JSON with its members in one order, so that equal values have equal text. Pure. */
import { isJsonObject, mapMembers } from '../../base/fields.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../base/schema.ts';

/** The members of a record; those that hold free JSON have their own members sorted by name. */
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
