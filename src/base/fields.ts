/**
 * unknown -> typed, by the tables of `schema.ts`. All errors are collected, each with the JSON
 * Pointer (RFC 6901) of the place; nothing inherited is ever read. The result has its members in
 * the table's order, so equal values have equal bytes.
 */
import { AppError } from './errors.ts';
import type { FieldError } from './errors.ts';
import { nearest } from './nearest.ts';
import type {
  ArraySchema, JsonObject, JsonSchema, JsonValue, Member, ObjectSchema, Schema, StringSchema,
} from './schema.ts';

// A body of a thousand mistakes is answered with the first hundred.
const ERRORS_MAX = 100;

/**
 * `value` as the table wants it: canonical strings, defaults filled in, read-only members dropped,
 * null members absent. Throws `invalid` with every error found.
 */
export function parseObject(schema: ObjectSchema, value: unknown): JsonObject {
  const errors: FieldError[] = [];
  const parsed = readObject(schema, value, '', errors);
  if (errors.length > 0 || parsed === undefined) throw invalid(errors);
  return parsed;
}

/** The `invalid` error for a list of broken rules. */
export function invalid(errors: readonly FieldError[]): AppError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const place = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `;
  const message = `${place}${first?.detail ?? 'is not valid'}${more}`;
  return new AppError('invalid', message, { errors: errors.slice(0, ERRORS_MAX) });
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `name` as a step of a JSON Pointer. */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

type Errors = FieldError[];

function readValue(
  schema: Schema, value: unknown, pointer: string, errors: Errors,
): JsonValue | undefined {
  switch (schema.kind) {
    case 'string': return readString(schema, value, pointer, errors);
    case 'integer': {
      const { minimum, maximum } = schema;
      if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) {
        return value as number;
      }
      return fail(errors, pointer, `must be an integer from ${minimum} to ${maximum}`);
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      return fail(errors, pointer, 'must be true or false');
    case 'array': return readArray(schema, value, pointer, errors);
    case 'object': return readObject(schema, value, pointer, errors);
    case 'json': return readJson(schema, value, pointer, errors);
  }
}

function readString(
  schema: StringSchema, value: unknown, pointer: string, errors: Errors,
): string | undefined {
  if (typeof value !== 'string') return fail(errors, pointer, 'must be a string');
  if (!value.isWellFormed()) return fail(errors, pointer, 'must not hold a lone surrogate');
  const { minLength = 0, maxLength = Infinity } = schema;
  if (isLongerThan(value, maxLength)) {
    return fail(errors, pointer, `must be at most ${maxLength} characters`);
  }
  if (minLength > 0 && !isLongerThan(value, minLength - 1)) {
    const detail = minLength === 1
      ? 'must not be empty' : `must be at least ${minLength} characters`;
    return fail(errors, pointer, detail);
  }
  if (schema.isNotBlank === true && value.trim() === '') {
    return fail(errors, pointer, 'must not be blank');
  }
  if (schema.values !== undefined && !schema.values.includes(value)) {
    return fail(errors, pointer, `must be one of ${schema.values.join(', ')}`);
  }
  const canonical = schema.pattern === undefined || schema.pattern.test(value)
    ? schema.canonical?.(value) : null;
  if (canonical === null) return fail(errors, pointer, `must be ${schema.description}`);
  return canonical ?? value;
}

function readArray(
  schema: ArraySchema, value: unknown, pointer: string, errors: Errors,
): JsonValue | undefined {
  if (!Array.isArray(value)) return fail(errors, pointer, 'must be an array');
  if (value.length > schema.maxItems) {
    return fail(errors, pointer, `must have at most ${schema.maxItems} items`);
  }
  const items: JsonValue[] = [];
  for (const [index, item] of value.entries()) {
    const parsed = readValue(schema.items, item, `${pointer}/${index}`, errors);
    if (parsed === undefined) continue;
    if (schema.isUnique === true && items.includes(parsed)) {
      fail(errors, `${pointer}/${index}`, 'must not stand twice');
    }
    items.push(parsed);
  }
  return items;
}

function readObject(
  schema: ObjectSchema, value: unknown, pointer: string, errors: Errors,
): JsonObject | undefined {
  if (!isJsonObject(value)) return fail(errors, pointer, 'must be a JSON object');
  const { members } = schema;
  const countBefore = errors.length;
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(members, name)) failUnknown(errors, pointer, name, members);
  }
  const parsed: Record<string, JsonValue> = {};
  let isEmpty = true;
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    const read = readMember(member, name, value, pointer, errors);
    if (read === undefined) continue;
    parsed[name] = read;
    isEmpty = false;
  }
  if (schema.isNotEmpty === true && isEmpty && errors.length === countBefore) {
    return fail(errors, pointer, 'must have at least one member');
  }
  if (schema.check !== undefined && errors.length === countBefore) {
    for (const error of schema.check(parsed)) fail(errors, pointer + error.pointer, error.detail);
  }
  return parsed;
}

function readMember(
  member: Member, name: string, value: JsonObject, pointer: string, errors: Errors,
): JsonValue | undefined {
  const given = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member.readOnly === 'ignored') return undefined;
  if (given === undefined || given === null) {
    if (member.isRequired === true) fail(errors, pointer + pointerStep(name), 'is required');
    return member.default;
  }
  if (member.readOnly === 'echo') return given;
  return readValue(member.schema, given, pointer + pointerStep(name), errors);
}

function readJson(
  schema: JsonSchema, value: unknown, pointer: string, errors: Errors,
): JsonValue | undefined {
  if (schema.isObject && !isJsonObject(value)) {
    return fail(errors, pointer, 'must be a JSON object');
  }
  const problem = findJsonProblem(value, pointer, schema.depthMax);
  if (problem !== null) return fail(errors, problem.pointer, problem.detail);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > schema.bytesMax) {
    return fail(errors, pointer, `must be at most ${schema.bytesMax} bytes of JSON, not ${bytes}`);
  }
  return value as JsonValue;
}

function findJsonProblem(value: unknown, pointer: string, depthLeft: number): FieldError | null {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { pointer, detail: 'must be a number that a double can hold' };
  }
  if (typeof value === 'string' && !value.isWellFormed()) {
    return { pointer, detail: 'must not hold a lone surrogate' };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthLeft === 0) return { pointer, detail: 'is nested too deep' };
  for (const [name, member] of Object.entries(value)) {
    const place = pointer + pointerStep(name);
    if (!name.isWellFormed()) return { pointer, detail: 'has a name with a lone surrogate' };
    const problem = findJsonProblem(member, place, depthLeft - 1);
    if (problem !== null) return problem;
  }
  return null;
}

function fail(errors: Errors, pointer: string, detail: string): undefined {
  errors.push({ pointer, detail });
  return undefined;
}

function failUnknown(
  errors: Errors, pointer: string, name: string, members: Readonly<Record<string, Member>>,
): void {
  const near = nearest(name, Object.keys(members));
  const hint = near === null ? '' : `: did you mean \`${near}\`?`;
  fail(errors, pointer + pointerStep(name), `is not a known member${hint}`);
}

// Code points are at most as many as UTF-16 units, so most strings need no count.
function isLongerThan(value: string, codePointsMax: number): boolean {
  if (value.length <= codePointsMax) return false;
  if (value.length > codePointsMax * 2) return true;
  let count = 0;
  for (const _ of value) count += 1;
  return count > codePointsMax;
}
