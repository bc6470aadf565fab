/**
 * unknown -> typed, by the tables of `schema.ts`. All errors are collected, each with the JSON
 * Pointer (RFC 6901) of the place; nothing inherited is ever read. The result has its members in
 * the table's order, so equal values have equal bytes.
 */
import { AppError } from './errors.ts';
import type { FieldError } from './errors.ts';
import { uniform } from './json/uniform-schema.ts';
import { didYouMean } from './text/nearest.ts';
import { quoted } from './text/refusal.ts';
import type {
  ArraySchema, JsonObject, JsonSchema, JsonValue, Member, ObjectSchema, Schema, StringSchema,
} from './schema.ts';

// Of more errors in one body only the first hundred are reported.
const ERRORS_MAX = 100;

/**
 * `value` as the table wants it: canonical strings, defaults filled in, read-only members dropped,
 * null members absent. Throws `invalid` with every error found.
 */
export function parseObject(schema: ObjectSchema, value: unknown): JsonObject {
  const errors: FieldError[] = [];
  const parsed = readObjectInto(schema, value, errors);
  if (errors.length > 0 || parsed === undefined) throw invalid(errors);
  return parsed;
}

/** Like `parseObject`, but adds what is wrong to `errors`; undefined when nothing can be kept. */
export function readObjectInto(
  schema: ObjectSchema, value: unknown, errors: FieldError[],
): JsonObject | undefined {
  return readObject(uniform(schema), value, { steps: [], errors });
}

/**
 * A body that is still to be changed before it is parsed, without what would only be copied to be
 * refused in the end: of unknown members as many names as errors are told, and none of their
 * values. Of 60,000 members each copy takes 20 ms. Throws `invalid` where an array has too many
 * items, or free JSON too many bytes.
 */
export function trimUnknown(schema: ObjectSchema, body: unknown): unknown {
  const place: Place = { steps: [], errors: [] };
  const trimmed = trimValue(schema, body, place);
  if (place.errors.length > 0) throw invalid(place.errors);
  return trimmed;
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

/** Whether it is an integer from 0 on that a number holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** `name` as a step of a JSON Pointer. */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Where the reader is. Pointers are made from the steps only for what is wrong. */
type Place = { readonly steps: (string | number)[]; readonly errors: FieldError[] };

function readValue(schema: Schema, value: unknown, place: Place): JsonValue | undefined {
  switch (schema.kind) {
    case 'string': return readString(schema, value, place);
    case 'integer':
    case 'number': {
      const { kind, minimum, maximum } = schema;
      const isRightKind = kind === 'integer' ? Number.isInteger(value) : typeof value === 'number';
      if (isRightKind && Number(value) >= minimum && Number(value) <= maximum) {
        return value as number;
      }
      const wanted = kind === 'integer' ? 'an integer' : 'a number';
      return fail(place, `must be ${wanted} from ${minimum} to ${maximum}, not ${quoted(value)}`);
    }
    case 'boolean':
      return typeof value === 'boolean' ? value
        : fail(place, `must be true or false, not ${quoted(value)}`);
    case 'array': return readArray(schema, value, place);
    case 'object': return readObject(schema, value, place);
    case 'json': return readJson(schema, value, place);
  }
}

function readString(schema: StringSchema, value: unknown, place: Place): string | undefined {
  if (typeof value !== 'string') {
    const hint = typeof value === 'number' ? schema.numberHint : undefined;
    return fail(place, `must be a string, not ${typeName(value)}${hint ? `: ${hint}` : ''}`);
  }
  if (!value.isWellFormed()) return fail(place, 'must not hold a lone surrogate');
  const { minLength = 0, maxLength, bytesMax } = schema;
  if (maxLength !== undefined && isLongerThan(value, maxLength)) {
    return fail(place, `must be at most ${maxLength} characters`);
  }
  if (bytesMax !== undefined && Buffer.byteLength(value) > bytesMax) {
    return fail(place, `must be at most ${bytesMax} bytes`);
  }
  if (minLength > 0 && !isLongerThan(value, minLength - 1)) {
    return fail(place, minLength === 1
      ? 'must not be empty' : `must be at least ${minLength} characters`);
  }
  if (schema.isNotBlank === true && value.trim() === '') {
    return fail(place, 'must not be blank');
  }
  if (schema.values !== undefined && !schema.values.includes(value)) {
    const hint = didYouMean(value, schema.values);
    return fail(place, `must be one of ${schema.values.join(', ')}, not ${quoted(value)}${hint}`);
  }
  const canonical = schema.pattern === undefined || schema.pattern.test(value)
    ? schema.canonical?.(value) : null;
  if (canonical === null) {
    return fail(place,
      schema.explain?.(value) ?? `must be ${schema.description}, not ${quoted(value)}`);
  }
  return canonical ?? value;
}

function trimValue(schema: Schema, value: unknown, place: Place): unknown {
  if (schema.kind === 'object' && isJsonObject(value)) return trimObject(schema, value, place);
  if (schema.kind === 'json') checkBytes(schema, value, place);
  if (schema.kind !== 'array' || !Array.isArray(value) || !checkLength(schema, value, place)) {
    return value;
  }
  return value.map((item: unknown, index) => trimAt(index, schema.items, item, place));
}

function trimObject(
  { members }: ObjectSchema, value: JsonObject, place: Place,
): Readonly<Record<string, unknown>> {
  const trimmed: [string, unknown][] = [];
  let unknownCount = 0;
  for (const name of Object.keys(value)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member !== undefined) {
      trimmed.push([name, trimAt(name, member.schema, value[name], place)]);
    } else if (unknownCount < ERRORS_MAX) {
      unknownCount += 1;
      // In a merge patch null would remove it.
      trimmed.push([name, value[name] === null ? null : true]);
    }
  }
  return Object.fromEntries(trimmed);
}

function trimAt(step: string | number, schema: Schema, value: unknown, place: Place): unknown {
  place.steps.push(step);
  const trimmed = trimValue(schema, value, place);
  place.steps.pop();
  return trimmed;
}

function checkLength(
  { maxItems }: ArraySchema, { length }: readonly unknown[], place: Place,
): boolean {
  if (length > maxItems) fail(place, `must have at most ${maxItems} items, not ${length}`);
  return length <= maxItems;
}

function checkBytes({ bytesMax }: JsonSchema, value: unknown, place: Place): boolean {
  const isCounted = Number.isFinite(bytesMax) && value !== undefined;
  const bytes = isCounted ? Buffer.byteLength(JSON.stringify(value)) : 0;
  if (bytes > bytesMax) fail(place, `must be at most ${bytesMax} bytes of JSON, not ${bytes}`);
  return bytes <= bytesMax;
}

function readArray(schema: ArraySchema, value: unknown, place: Place): JsonValue | undefined {
  if (!Array.isArray(value)) return fail(place, `must be an array, not ${typeName(value)}`);
  if (!checkLength(schema, value, place)) return undefined;
  const items: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    place.steps.push(index);
    const parsed = readValue(schema.items, value[index], place);
    if (parsed !== undefined) {
      if (schema.isUnique === true && items.includes(parsed)) fail(place, 'must not stand twice');
      items.push(parsed);
    }
    place.steps.pop();
  }
  return items;
}

function readObject(schema: ObjectSchema, value: unknown, place: Place): JsonObject | undefined {
  if (!isJsonObject(value)) return fail(place, `must be a JSON object, not ${typeName(value)}`);
  const { members } = schema;
  const { errors } = place;
  const countBefore = errors.length;
  const parsed: Record<string, JsonValue> = {};
  failUnknownMembers(Object.keys(value), members, place);
  let isEmpty = true;
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    // Most are absent: that it is its own is asked only of what is there.
    const found = value[name];
    const given = found !== undefined && Object.hasOwn(value, name) ? found : undefined;
    const read = readMember(member, name, given, place);
    if (read === undefined) continue;
    parsed[name] = read;
    isEmpty = false;
  }
  if (isEmpty && schema.isNotEmpty === true && errors.length === countBefore) {
    return fail(place, 'must have at least one member');
  }
  if (schema.check !== undefined) {
    const broken = schema.check(parsed, value);
    const told = broken.length === 0 ? [] : errors.slice(countBefore);
    for (const { pointer, detail } of broken) {
      if (!isTold(told, pointerOf(place) + pointer)) fail(place, detail, pointer);
    }
  }
  if (schema.hint !== undefined && errors.length > countBefore) {
    errors.splice(countBefore, 0, { pointer: pointerOf(place), detail: schema.hint(parsed) });
  }
  return parsed;
}

function readMember(
  member: Member, name: string, given: unknown, place: Place,
): JsonValue | undefined {
  if (member.readOnly === 'ignored') return undefined;
  if (given === undefined || (given === null && member.isNullKept !== true)) {
    if (member.isRequired === true) fail(place, 'is required', pointerStep(name));
    return member.default;
  }
  if (member.readOnly === 'echo') return given as JsonValue;
  place.steps.push(name);
  const read = readValue(member.schema, given, place);
  place.steps.pop();
  return read;
}

function readJson(schema: JsonSchema, value: unknown, place: Place): JsonValue | undefined {
  if (schema.isObject && !isJsonObject(value)) {
    return fail(place, `must be a JSON object, not ${typeName(value)}`);
  }
  // The size comes first, so that the walk below is short whatever the body holds.
  if (!checkBytes(schema, value, place)) return undefined;
  const problem = findJsonProblem(value, schema.depthMax);
  if (problem !== null) {
    const detail = problem.detail === TOO_DEEP
      ? `is nested deeper than ${schema.depthMax} levels` : problem.detail;
    return fail(place, detail, problem.pointer);
  }
  return value as JsonValue;
}

const TOO_DEEP = 'too deep';

/** The pointer is made on the way back from a problem: mostly there is none. */
function findJsonProblem(value: unknown, depthLeft: number): FieldError | null {
  if (typeof value === 'string') {
    return value.isWellFormed() ? null : problemOf('must not hold a lone surrogate');
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : problemOf('must be a number that a double can hold');
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthLeft === 0) return problemOf(TOO_DEEP);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const problem = findJsonProblem(value[index], depthLeft - 1);
      if (problem !== null) return below(index, problem);
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      if (!name.isWellFormed()) return problemOf('has a name with a lone surrogate');
      const problem = findJsonProblem(value[name], depthLeft - 1);
      if (problem !== null) return below(name, problem);
    }
  }
  return null;
}

function problemOf(detail: string): FieldError {
  return { pointer: '', detail };
}

function below(step: string | number, problem: FieldError): FieldError {
  return { ...problem, pointer: pointerStep(step) + problem.pointer };
}

/** Reports `detail` at the reader's place, or at `below` from there. */
function fail(place: Place, detail: string, below = ''): undefined {
  if (place.errors.length >= ERRORS_MAX) return undefined;
  place.errors.push({ pointer: pointerOf(place) + below, detail });
  return undefined;
}

function pointerOf(place: Place): string {
  return place.steps.map(pointerStep).join('');
}

/** A member that is wrong by itself needs no second error about how it fits the others. */
function isTold(errors: readonly FieldError[], pointer: string): boolean {
  return errors.some((error) =>
    error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

function failUnknownMembers(
  names: readonly string[], members: Readonly<Record<string, Member>>, place: Place,
): void {
  for (const name of names) {
    if (place.errors.length >= ERRORS_MAX) return;
    if (Object.hasOwn(members, name)) continue;
    const hint = didYouMean(name, Object.keys(members));
    fail(place, `is not a known member${hint}`, pointerStep(name));
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// Code points are at most as many as UTF-16 units, so most strings need no count.
function isLongerThan(value: string, codePointsMax: number): boolean {
  if (value.length <= codePointsMax) return false;
  if (value.length > codePointsMax * 2) return true;
  let count = 0;
  for (const _ of value) count += 1;
  return count > codePointsMax;
}
