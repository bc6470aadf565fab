/**
 * From the tables of base/schema.ts to JSON Schema 2020-12. A model has up to three published
 * forms: as it is shown (`Book`), as it may be sent (`BookBody`) and as a merge patch
 * (`BookPatch`). They differ in what is required, what may be null, and which members there are.
 */
import type { ArraySchema, Member, ObjectSchema, Schema, StringSchema } from '../../base/schema.ts';

export type Form = 'view' | 'body' | 'patch';

export type JsonSchemaObject = { readonly [name: string]: unknown };

export interface Schemas {
  /** The schema of a form; a reference when it has a name. */
  of(schema: Schema, form: Form): JsonSchemaObject;
  /** All named schemas that were asked for so far. */
  components(): Readonly<Record<string, JsonSchemaObject>>;
}

const SUFFIX: Readonly<Record<Form, string>> = { view: '', body: 'Body', patch: 'Patch' };

export function schemasFrom(): Schemas {
  const components: Record<string, JsonSchemaObject> = {};
  const of = (schema: Schema, form: Form): JsonSchemaObject => {
    if (schema.kind !== 'object' || schema.name === undefined) return inline(schema, form, of);
    const name = schema.name + SUFFIX[form];
    if (!Object.hasOwn(components, name)) {
      // Placed first, so that a model may hold itself.
      components[name] = {};
      components[name] = inline(schema, form, of);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  return { of, components: () => components };
}

type Convert = (schema: Schema, form: Form) => JsonSchemaObject;

function inline(schema: Schema, form: Form, convert: Convert): JsonSchemaObject {
  switch (schema.kind) {
    case 'string': return stringSchema(schema, form);
    case 'integer':
    case 'number': {
      const { kind, minimum, maximum } = schema;
      return { type: kind, minimum, ...isLimit(maximum) ? { maximum } : {} };
    }
    case 'boolean': return { type: 'boolean' };
    case 'array': return arraySchema(schema, form, convert);
    case 'object': return objectSchema(schema, form, convert);
    // Without the last word generators take it for an object that may hold nothing.
    case 'json': return schema.isObject ? { type: 'object', additionalProperties: true } : {};
  }
}

function arraySchema(schema: ArraySchema, form: Form, convert: Convert): JsonSchemaObject {
  return {
    type: 'array',
    // A merge patch replaces arrays whole.
    items: convert(schema.items, form === 'view' ? 'view' : 'body'),
    ...isLimit(schema.maxItems) ? { maxItems: schema.maxItems } : {},
    ...schema.isUnique === true ? { uniqueItems: true } : {},
  };
}

function isLimit(maximum: number): boolean {
  return maximum < Number.MAX_SAFE_INTEGER;
}

function stringSchema(schema: StringSchema, form: Form): JsonSchemaObject {
  const { minLength, bytesMax, values, format, description } = schema;
  // JSON Schema counts characters, of which there are never more than bytes.
  const { maxLength = bytesMax } = schema;
  // What is stored may be written another way than what may be sent.
  const pattern = form === 'view' && schema.canonical !== undefined ? undefined : schema.pattern;
  const isPlain = pattern !== undefined && /^u?$/.test(pattern.flags);
  const isNotBlank = schema.isNotBlank === true && pattern === undefined;
  return {
    type: 'string',
    ...minLength === undefined ? {} : { minLength },
    ...maxLength === undefined ? {} : { maxLength },
    ...values === undefined ? {} : { enum: values },
    ...isPlain ? { pattern: pattern.source } : {},
    ...isNotBlank ? { pattern: '\\S' } : {},
    ...format === undefined ? {} : { format },
    ...description === undefined ? {} : { description: `Must be ${description}` },
  };
}

function objectSchema(schema: ObjectSchema, form: Form, convert: Convert): JsonSchemaObject {
  const properties: Record<string, JsonSchemaObject> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(schema.members)) {
    if (form === 'view' && member.isWriteOnly === true) continue;
    properties[name] = memberSchema(member, form, convert);
    if (isAlwaysThere(member, form)) required.push(name);
  }
  return {
    type: 'object',
    properties,
    ...required.length === 0 ? {} : { required },
    ...schema.isNotEmpty === true ? { minProperties: 1 } : {},
    additionalProperties: false,
  };
}

function isAlwaysThere(member: Member, form: Form): boolean {
  if (form === 'patch') return false;
  if (form === 'body') return member.isRequired === true && member.readOnly === undefined;
  const { isRequired, readOnly, default: given } = member;
  const { isAlwaysShown = readOnly !== undefined || given !== undefined } = member;
  return isRequired === true || isAlwaysShown;
}

function memberSchema(member: Member, form: Form, convert: Convert): JsonSchemaObject {
  const description = describe(member, form);
  const notes = {
    ...description === '' ? {} : { description },
    ...member.readOnly === undefined ? {} : { readOnly: true },
    ...member.isWriteOnly === true ? { writeOnly: true } : {},
  };
  // Dropped from a body unread, whatever it is.
  if (form !== 'view' && member.readOnly === 'ignored') return notes;
  const schema = convert(member.schema, form);
  const isNullable = form === 'view'
    ? member.isNullable === true : !(form === 'body' && member.isRequired === true);
  // What may be anything may be null.
  if (isNullable && Object.keys(schema).length > 0) {
    return { anyOf: [schema, { type: 'null' }], ...notes };
  }
  return { ...schema, ...notes };
}

/** A default is told in words: `default` would make generators ask for the member in requests. */
function describe({ description = '', default: standard }: Member, form: Form): string {
  if (form !== 'body' || standard === undefined) return description;
  const note = `\`${JSON.stringify(standard)}\` when absent.`;
  if (description === '') return note;
  return `${description}${/[.!?]$/.test(description) ? '' : '.'} ${note}`;
}
