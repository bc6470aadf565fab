/**
 * A small JSON Schema 2020-12 validator, for checking answers against the OpenAPI document. It
 * knows the keywords that the document uses and throws on any other, so that none is passed over.
 */
import assert from 'node:assert/strict';

export type SchemaNode = { readonly [keyword: string]: unknown };

const ANNOTATIONS =
  ['description', 'default', 'readOnly', 'writeOnly', 'format', 'title', 'x-form'];

/**
 * Everything in `value` that breaks `schema`, as `/pointer: what`; empty when it is valid.
 * `document` is what `$ref` points into.
 */
export function validate(value: unknown, schema: unknown, document: unknown): string[] {
  const problems: string[] = [];
  check(value, asNode(schema), '', { document, problems });
  return problems;
}

/** The schema at a JSON Pointer such as `#/components/schemas/Book`. */
export function resolvePointer(document: unknown, reference: string): SchemaNode {
  let node: unknown = document;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    node = asNode(node)[name];
  }
  return asNode(node);
}

type Context = { readonly document: unknown; readonly problems: string[] };

function check(value: unknown, schema: SchemaNode, pointer: string, context: Context): void {
  for (const [keyword, argument] of Object.entries(schema)) {
    const problem = checkKeyword(keyword, argument, value, schema, pointer, context);
    if (problem !== null) context.problems.push(`${pointer}: ${problem}`);
  }
}

function checkKeyword(
  keyword: string, argument: unknown, value: unknown, schema: SchemaNode, pointer: string,
  context: Context,
): string | null {
  if (ANNOTATIONS.includes(keyword)) return null;
  switch (keyword) {
    case '$ref':
      check(value, resolvePointer(context.document, String(argument)), pointer, context);
      return null;
    case 'type': return unless(isOfType(value, argument), `is not of type ${String(argument)}`);
    case 'enum':
      return unless(asList(argument).some((item) => isSame(item, value)), 'is not in the enum');
    case 'const': return unless(isSame(argument, value), 'is not the constant');
    case 'anyOf': {
      const isAny = asList(argument).some((option) =>
        validate(value, option, context.document).length === 0);
      return unless(isAny, 'matches none of anyOf');
    }
    case 'minLength':
      return unless(!(typeof value === 'string' && [...value].length < Number(argument)), keyword);
    case 'maxLength':
      return unless(!(typeof value === 'string' && [...value].length > Number(argument)), keyword);
    case 'pattern': {
      const pattern = new RegExp(String(argument), 'u');
      return unless(!(typeof value === 'string' && !pattern.test(value)), `pattern ${pattern}`);
    }
    case 'minimum':
      return unless(!(typeof value === 'number' && value < Number(argument)), keyword);
    case 'maximum':
      return unless(!(typeof value === 'number' && value > Number(argument)), keyword);
    case 'multipleOf':
      return unless(typeof value !== 'number' || Number.isInteger(value / Number(argument)),
        keyword);
    case 'maxItems':
      return unless(!(Array.isArray(value) && value.length > Number(argument)), keyword);
    case 'uniqueItems': {
      const texts = Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [];
      return unless(new Set(texts).size === texts.length, keyword);
    }
    case 'items':
      for (const [index, item] of Array.isArray(value) ? value.entries() : []) {
        check(item, asNode(argument), `${pointer}/${index}`, context);
      }
      return null;
    default: return checkObjectKeyword(keyword, argument, value, schema, pointer, context);
  }
}

function checkObjectKeyword(
  keyword: string, argument: unknown, value: unknown, schema: SchemaNode, pointer: string,
  context: Context,
): string | null {
  const members = isObject(value) ? value : null;
  switch (keyword) {
    case 'properties':
      for (const [name, member] of Object.entries(members ?? {})) {
        const node = Object.hasOwn(asNode(argument), name) ? asNode(argument)[name] : undefined;
        if (node !== undefined) check(member, asNode(node), `${pointer}/${name}`, context);
      }
      return null;
    case 'required': {
      const missing = asList(argument).filter((name) =>
        members !== null && !Object.hasOwn(members, String(name)));
      return unless(missing.length === 0, `lacks ${missing.join(', ')}`);
    }
    case 'additionalProperties': {
      if (argument !== false || members === null) return null;
      const known = asNode(schema['properties'] ?? {});
      const extra = Object.keys(members).filter((name) => !Object.hasOwn(known, name));
      return unless(extra.length === 0, `has unknown ${extra.join(', ')}`);
    }
    case 'minProperties':
      return unless(members === null || Object.keys(members).length >= Number(argument), keyword);
    default: throw new Error(`unknown JSON Schema keyword ${keyword} at ${pointer}`);
  }
}

function unless(isFine: boolean, problem: string): string | null {
  return isFine ? null : problem;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => isOfType(value, one));
  switch (type) {
    case 'null': return value === null;
    case 'array': return Array.isArray(value);
    case 'object': return isObject(value);
    case 'integer': return Number.isInteger(value);
    default: return typeof value === type;
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function isObject(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asNode(value: unknown): SchemaNode {
  // The text is made only where it is told: that of a whole document takes long.
  if (!isObject(value)) assert.fail(`not a schema object: ${JSON.stringify(value)}`);
  return value;
}

function asList(value: unknown): readonly unknown[] {
  assert(Array.isArray(value));
  return value;
}
