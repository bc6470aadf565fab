/**
 * Converts the schemas of base/schema.ts to JSON Schema 2020-12. A model is published in up to
 * three forms: as responses show it (`Book`), as bodies may have it (`BookBody`) and as a merge
 * patch (`BookPatch`). The forms differ in their members, and in which are required or nullable.
 */
import type {
  ArraySchema, JsonValue, MemberSchema, ObjectSchema, Schema, StringSchema,
} from '../../base/schema.ts';

export type SchemaForm = 'view' | 'body' | 'patch';

export type JsonSchemaObject = { readonly [name: string]: unknown };

export interface Schemas {
  /** A schema in a form; a reference when the schema has a name. */
  convert(schema: Schema, form: SchemaForm): JsonSchemaObject;
  /** All named schemas that were converted so far. */
  listComponents(): Readonly<Record<string, JsonSchemaObject>>;
}

const SUFFIX: Readonly<Record<SchemaForm, string>> = { view: '', body: 'Body', patch: 'Patch' };

export function createSchemas(): Schemas {
  const components: Record<string, JsonSchemaObject> = {};
  const convert = (schema: Schema, form: SchemaForm): JsonSchemaObject => {
    if (schema.kind !== 'object' || schema.name === undefined) {
      return convertInline(schema, form, convert);
    }
    const name = schema.name + SUFFIX[form];
    if (!Object.hasOwn(components, name)) {
      // Registered before its members are converted, so that a model may contain itself.
      components[name] = {};
      components[name] = convertInline(schema, form, convert);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  return { convert, listComponents: () => components };
}

type Convert = (schema: Schema, form: SchemaForm) => JsonSchemaObject;

function convertInline(schema: Schema, form: SchemaForm, convert: Convert): JsonSchemaObject {
  switch (schema.kind) {
    case 'string': return convertString(schema, form);
    case 'integer':
    case 'number': {
      const { kind, minimum, maximum, partsOfOne } = schema;
      // Validators divide, which is exact by halves, quarters and so on alone.
      const isExact = partsOfOne !== undefined && Number.isInteger(Math.log2(partsOfOne));
      return {
        type: kind, minimum, ...isLimit(maximum) ? { maximum } : {},
        ...isExact ? { multipleOf: 1 / partsOfOne } : {},
      };
    }
    case 'boolean': return { type: 'boolean' };
    case 'array': return convertArray(schema, form, convert);
    case 'object': return convertObject(schema, form, convert);
    // Without `additionalProperties` generators make an object without members of it.
    case 'json': return schema.isObject ? { type: 'object', additionalProperties: true } : {};
  }
}

function convertArray(schema: ArraySchema, form: SchemaForm, convert: Convert): JsonSchemaObject {
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

function convertString(schema: StringSchema, form: SchemaForm): JsonSchemaObject {
  const { minLength, bytesMax, values, format, mustBe } = schema;
  // JSON Schema counts characters, of which there are never more than bytes.
  const { maxLength = bytesMax } = schema;
  // The stored form of a value may differ from the forms that are accepted.
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
    ...mustBe === undefined ? {} : { description: `Must be ${mustBe}` },
  };
}

function convertObject(schema: ObjectSchema, form: SchemaForm, convert: Convert): JsonSchemaObject {
  const properties: Record<string, JsonSchemaObject> = {};
  const requiredNames: string[] = [];
  for (const [name, member] of Object.entries(schema.members)) {
    // A member that is neither shown nor sent is only stored.
    if (member.isWriteOnly === true && (form === 'view' || member.readOnly !== undefined)) continue;
    properties[name] = convertMember(member, form, convert);
    if (isAlwaysThere(member, form)) requiredNames.push(name);
  }
  return {
    type: 'object',
    properties,
    ...requiredNames.length === 0 ? {} : { required: requiredNames },
    ...schema.isNotEmpty === true ? { minProperties: 1 } : {},
    additionalProperties: false,
  };
}

function isAlwaysThere(member: MemberSchema, form: SchemaForm): boolean {
  if (form === 'patch') return false;
  if (form === 'body') return member.isRequired === true && member.readOnly === undefined;
  const { isRequired, readOnly, default: defaultValue } = member;
  const { isAlwaysPresent = readOnly !== undefined || defaultValue !== undefined } = member;
  return isRequired === true || isAlwaysPresent;
}

function convertMember(member: MemberSchema, form: SchemaForm, convert: Convert): JsonSchemaObject {
  const description = describeMember(member, form);
  const { label, form: memberForm } = member;
  const notes = {
    // Forms are for bodies.
    ...label === undefined || form !== 'body' ? {} : { title: label },
    ...description === '' ? {} : { description },
    ...memberForm === undefined || form !== 'body' ? {} : { 'x-form': memberForm },
    ...member.readOnly === undefined ? {} : { readOnly: true },
    ...member.isWriteOnly === true ? { writeOnly: true } : {},
  };
  // Ignored in a body, whatever its type.
  if (form !== 'view' && member.readOnly === 'ignored') return notes;
  const schema = convert(member.schema, form);
  const isNullable = form === 'view'
    ? member.isNullable === true : !(form === 'body' && member.isRequired === true);
  // A schema of any JSON includes null.
  if (isNullable && Object.keys(schema).length > 0) {
    return { anyOf: [schema, { type: 'null' }], ...notes };
  }
  return { ...schema, ...notes };
}

/** A default is described in words: with `default` generators would require the member. */
function describeMember(
  { description = '', default: defaultValue }: MemberSchema, form: SchemaForm,
): string {
  if (form !== 'body' || defaultValue === undefined || isEmpty(defaultValue)) return description;
  const text = typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue);
  const note = `Default: \`${text}\`.`;
  if (description === '') return note;
  return `${description}${/[.!?]$/.test(description) ? '' : '.'} ${note}`;
}

/** Whether people take the value for none anyway: false, an empty text, list or object. */
function isEmpty(value: JsonValue): boolean {
  return value === false || value === ''
    || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
