/**
 * Copies schemas for `base/fields.ts`, so that all of a kind have the same members in the same
 * order, undefined where they are absent. Schemas as they are written have nearly as many shapes as
 * there are schemas, and V8 looks up each member of an object of many shapes in a table.
 */
import type { MemberSchema, ObjectSchema, Schema } from '../schema.ts';

const uniformSchemas = new WeakMap<ObjectSchema, ObjectSchema>();

/** The copy of a schema, which is made once. */
export function toUniformSchema(schema: ObjectSchema): ObjectSchema {
  return uniformSchemas.get(schema) ?? convertObjectSchema(schema);
}

function convertSchema(schema: Schema): Schema {
  switch (schema.kind) {
    case 'string': {
      const { kind, minLength, maxLength, bytesMax, isNotBlank, values } = schema;
      const { pattern, mustBe } = schema;
      const { canonical, explain, numberHint, format } = schema;
      return {
        kind, minLength, maxLength, bytesMax, isNotBlank, values, pattern, mustBe, canonical,
        explain, numberHint, format,
      };
    }
    case 'array': {
      const { kind, items, maxItems, isUnique } = schema;
      return { kind, items: convertSchema(items), maxItems, isUnique };
    }
    case 'object': return toUniformSchema(schema);
    default: return schema;
  }
}

function convertObjectSchema(schema: ObjectSchema): ObjectSchema {
  const { kind, name, isNotEmpty, check, hint } = schema;
  const members: Record<string, MemberSchema> = {};
  const result = { kind, name, members, isNotEmpty, check, hint };
  // Known before its members, as one of them may be of the same schema again.
  uniformSchemas.set(schema, result);
  for (const [key, member] of Object.entries(schema.members)) members[key] = convertMember(member);
  return result;
}

function convertMember(member: MemberSchema): MemberSchema {
  const { schema, isRequired, readOnly, isNullKept, default: standard } = member;
  return { schema: convertSchema(schema), isRequired, readOnly, isNullKept, default: standard };
}
