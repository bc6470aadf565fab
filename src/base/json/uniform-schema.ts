/**
 * Schemas in the form that `base/fields.ts` reads them in: those of a kind have the same members,
 * in the same order, present or not. Written by hand they have nearly as many shapes as there are
 * schemas, and of an object of many shapes the engine looks up each member in a table.
 */
import type { Member, ObjectSchema, Schema } from '../schema.ts';

const known = new WeakMap<ObjectSchema, ObjectSchema>();

/** The same schema; made once. */
export function uniform(schema: ObjectSchema): ObjectSchema {
  return known.get(schema) ?? uniformObject(schema);
}

function uniformSchema(schema: Schema): Schema {
  switch (schema.kind) {
    case 'string': {
      const { kind, minLength, maxLength, bytesMax, isNotBlank, values } = schema;
      const { pattern, description } = schema;
      const { canonical, explain, numberHint, format } = schema;
      return {
        kind, minLength, maxLength, bytesMax, isNotBlank, values, pattern, description, canonical,
        explain, numberHint, format,
      };
    }
    case 'array': {
      const { kind, items, maxItems, isUnique } = schema;
      return { kind, items: uniformSchema(items), maxItems, isUnique };
    }
    case 'object': return uniform(schema);
    default: return schema;
  }
}

function uniformObject(schema: ObjectSchema): ObjectSchema {
  const { kind, name, isNotEmpty, check, hint } = schema;
  const members: Record<string, Member> = {};
  const made = { kind, name, members, isNotEmpty, check, hint };
  // Known before its members, as one of them may be of the same schema again.
  known.set(schema, made);
  for (const [key, member] of Object.entries(schema.members)) members[key] = uniformMember(member);
  return made;
}

function uniformMember(member: Member): Member {
  const { schema, isRequired, readOnly, isNullKept, default: standard } = member;
  return { schema: uniformSchema(schema), isRequired, readOnly, isNullKept, default: standard };
}
