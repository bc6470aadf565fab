/**
 * unknown -> typed, by the tables of `schema.ts`. All errors are collected, each with the JSON
 * Pointer (RFC 6901) of the place; nothing inherited is ever read. The result has its members in
 * the table's order, so equal values have equal bytes.
 */
import { AppError } from './errors.ts';
import type { FieldError } from './errors.ts';
import { countJsonBytes } from './json/encode.ts';
import { ExactNumber, isJsonNumber } from './exact-number.ts';
import { didYouMean } from './text/nearest.ts';
import { quote } from './text/error-message.ts';
import type {
  ArraySchema, JsonObject, JsonSchema, JsonValue, MemberSchema, MemberSchemas, ObjectSchema, Schema,
  StringSchema,
} from './schema.ts';

// At most a thousand errors of one body are reported: as many as a person may make in its lists.
const ERRORS_MAX = 1000;
// Fewer unknown names are told: a search for the member that was meant takes 20 µs.
const UNKNOWN_NAMES_MAX = 100;

/**
 * `value` as the table wants it: canonical strings, defaults filled in, read-only members dropped,
 * null members absent. Throws `invalid` with every error found.
 */
export function parseObject(schema: ObjectSchema, value: unknown): JsonObject {
  const errors: FieldError[] = [];
  const object = readObjectInto(schema, value, errors);
  if (errors.length > 0 || object === undefined) throw invalid(errors);
  return object;
}

/** Like `parseObject`, but adds the errors to `errors`; undefined when there is no result. */
export function readObjectInto(
  schema: ObjectSchema, value: unknown, errors: FieldError[],
): JsonObject | undefined {
  return readObject(toUniformSchema(schema), value, { steps: [], errors, unknownCount: 0 });
}

/**
 * The value that the schema's member of that name may have, without the rules across members. The
 * pointers of errors begin within the member.
 */
export function readMemberInto(
  schema: ObjectSchema, name: string, value: unknown, errors: FieldError[],
): JsonValue | undefined {
  const member = toUniformSchema(schema).members[name];
  const context: ParseContext = { steps: [], errors, unknownCount: 0 };
  return member === undefined ? undefined : readValue(member.schema, value, context);
}

/**
 * Trims a body that is still to be changed before it is parsed, as a copy of 60,000 members takes
 * 20 ms. It keeps as many names of unknown members as errors are told, without their values, and
 * one item more of an array than the array may have. Throws `invalid` if free JSON has too many
 * bytes.
 */
export function trimUnknown(schema: ObjectSchema, body: unknown): unknown {
  const context: ParseContext = { steps: [], errors: [], unknownCount: 0 };
  const result = trimValue(schema, body, context);
  if (context.errors.length > 0) throw invalid(context.errors);
  return result;
}

/** The `invalid` error for a list of broken rules. */
export function invalid(errors: readonly FieldError[]): AppError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const prefix = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `;
  const message = `${prefix}${first?.detail ?? 'is not valid'}${more}`;
  return new AppError('invalid', message, { errors: errors.slice(0, ERRORS_MAX) });
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && !(value instanceof ExactNumber);
}

/** Whether a member of a body is left out: null removes a member, and counts as none. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The objects among the elements of an array; none of any other value. */
export function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Replaces each value of an object by `map` of it. */
export function mapMembers(
  object: JsonObject, map: (value: JsonValue, name: string) => JsonValue,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) =>
    [name, map(value, name)]));
}

/** Maps the values in an object or array, by name or index; any other value stays as it is. */
export function mapInner(
  value: JsonValue, map: (inner: JsonValue, step: string | number) => JsonValue,
): JsonValue {
  if (Array.isArray(value)) return value.map(map);
  return isJsonObject(value) ? mapMembers(value, map) : value;
}

/** The value at a step into an object or array; undefined: there is none. */
export function findInner(
  value: JsonValue | undefined, step: string | number,
): JsonValue | undefined {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** Whether a value is an integer from 0 on that a number holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** `name` as a step of a JSON Pointer. */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The reader's position and the errors so far. Only errors have pointers made of the steps. */
type ParseContext = {
  readonly steps: (string | number)[];
  readonly errors: FieldError[];
  /** How many unknown names are among the errors. */
  unknownCount: number;
};

function readValue(schema: Schema, value: unknown, context: ParseContext): JsonValue | undefined {
  switch (schema.kind) {
    case 'string': return readString(schema, value, context);
    case 'integer':
    case 'number': {
      const { kind, minimum, maximum, partsOfOne = 0 } = schema;
      const double = isJsonNumber(value) ? Number(value) : NaN;
      const isRightKind = kind === 'integer' ? Number.isInteger(double)
        : partsOfOne === 0 || Math.round(double * partsOfOne) / partsOfOne === double;
      if (isRightKind && double >= minimum && double <= maximum) return double;
      const noun = kind === 'integer' ? 'an integer' : 'a number';
      const steps = partsOfOne === 0 ? '' : ` in steps of ${1 / partsOfOne}`;
      return fail(context,
        `must be ${noun} from ${minimum} to ${maximum}${steps}, not ${quote(value)}`);
    }
    case 'boolean':
      return typeof value === 'boolean' ? value
        : fail(context, `must be true or false, not ${quote(value)}`);
    case 'array': return readArray(schema, value, context);
    case 'object': return readObject(schema, value, context);
    case 'json': return readJson(schema, value, context);
  }
}

function readString(
  schema: StringSchema, value: unknown, context: ParseContext,
): string | undefined {
  if (typeof value !== 'string') {
    const hint = isJsonNumber(value) ? schema.numberHint : undefined;
    return fail(context, `must be a string, not ${typeName(value)}${hint ? `: ${hint}` : ''}`);
  }
  if (!value.isWellFormed()) return fail(context, 'must not hold a lone surrogate');
  const { minLength = 0, maxLength, bytesMax } = schema;
  if (maxLength !== undefined && isLongerThan(value, maxLength)) {
    return fail(context, `must be at most ${maxLength} characters`);
  }
  if (bytesMax !== undefined && Buffer.byteLength(value) > bytesMax) {
    return fail(context, `must be at most ${bytesMax} bytes`);
  }
  if (minLength > 0 && !isLongerThan(value, minLength - 1)) {
    return fail(context, minLength === 1
      ? 'must not be empty' : `must be at least ${minLength} characters`);
  }
  if (schema.isNotBlank === true && value.trim() === '') {
    return fail(context, 'must not be blank');
  }
  if (schema.values !== undefined && !schema.values.includes(value)) {
    const hint = didYouMean(schema.findMeant?.(value) ?? value, schema.values);
    return fail(context, `must be one of ${schema.values.join(', ')}, not ${quote(value)}${hint}`);
  }
  const canonical = schema.pattern === undefined || schema.pattern.test(value)
    ? schema.canonical?.(value) : null;
  if (canonical === null) {
    return fail(context,
      schema.explain?.(value) ?? `must be ${schema.mustBe}, not ${quote(value)}`);
  }
  return canonical ?? value;
}

function trimValue(schema: Schema, value: unknown, context: ParseContext): unknown {
  if (schema.kind === 'object' && isJsonObject(value)) return trimObject(schema, value, context);
  if (schema.kind === 'json') checkBytes(schema, value, context);
  if (schema.kind !== 'array' || !Array.isArray(value)) return value;
  return value.slice(0, schema.maxItems + 1)
    .map((item: unknown, index) => trimAt(index, schema.items, item, context));
}

function trimObject(
  { members }: ObjectSchema, value: JsonObject, context: ParseContext,
): Readonly<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  let unknownCount = 0;
  for (const name of Object.keys(value)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member !== undefined) {
      entries.push([name, trimAt(name, member.schema, value[name], context)]);
    } else if (unknownCount < UNKNOWN_NAMES_MAX) {
      unknownCount += 1;
      // In a merge patch null would remove the member.
      entries.push([name, value[name] === null ? null : true]);
    }
  }
  return Object.fromEntries(entries);
}

function trimAt(
  step: string | number, schema: Schema, value: unknown, context: ParseContext,
): unknown {
  context.steps.push(step);
  const result = trimValue(schema, value, context);
  context.steps.pop();
  return result;
}

function checkBytes({ bytesMax }: JsonSchema, value: unknown, context: ParseContext): boolean {
  const isCounted = Number.isFinite(bytesMax) && value !== undefined;
  const bytes = isCounted ? countJsonBytes(value) : 0;
  if (bytes > bytesMax) fail(context, `must be at most ${bytesMax} bytes of JSON, not ${bytes}`);
  return bytes <= bytesMax;
}

function failShape(
  context: ParseContext, shape: string, value: unknown, schema: ArraySchema | ObjectSchema,
): undefined {
  const example = JSON.stringify(createExample(schema));
  return fail(context, `must be ${shape}, not ${typeName(value)}; for example ${example}`);
}

/** The shape of a value: an object has the members that it must have, or else its first. */
function createExample(schema: Schema): JsonValue {
  switch (schema.kind) {
    case 'string': return schema.values?.[0] ?? '…';
    case 'boolean': return true;
    case 'array': return [createExample(schema.items)];
    case 'object': {
      const members = Object.entries(schema.members).filter(([, { readOnly }]) => !readOnly);
      const required = members.filter(([, { isRequired = false }]) => isRequired);
      return Object.fromEntries((required.length > 0 ? required : members.slice(0, 1))
        .map(([name, member]) => [name, createExample(member.schema)]));
    }
    case 'json': return {};
    default: return schema.minimum;
  }
}

function readArray(
  schema: ArraySchema, value: unknown, context: ParseContext,
): JsonValue | undefined {
  if (!Array.isArray(value)) return failShape(context, 'an array', value, schema);
  const { maxItems, isUnique = false, identify = (item: JsonValue) => item } = schema;
  const isTooLong = value.length > maxItems;
  if (isTooLong) fail(context, `must have at most ${maxItems} items`);
  const items: JsonValue[] = [];
  const identities = new Set<JsonValue>();
  // The items beyond `maxItems` are refused in any case.
  const length = Math.min(value.length, maxItems);
  for (let index = 0; index < length; index += 1) {
    context.steps.push(index);
    const item = readValue(schema.items, value[index], context);
    if (item !== undefined) {
      const identity = isUnique ? identify(item) : undefined;
      if (identity !== undefined) {
        if (identities.has(identity)) fail(context, 'must not stand twice');
        identities.add(identity);
      }
      items.push(item);
    }
    context.steps.pop();
  }
  return isTooLong ? undefined : items;
}

function readObject(
  schema: ObjectSchema, value: unknown, context: ParseContext,
): JsonObject | undefined {
  if (!isJsonObject(value)) return failShape(context, 'a JSON object', value, schema);
  const { members } = schema;
  const { errors } = context;
  const countBefore = errors.length;
  const object: Record<string, JsonValue> = {};
  failUnknownMembers(Object.keys(value), members, context);
  let isEmpty = true;
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    // Most members are absent: only those that are there are asked whether they are inherited.
    const input = value[name];
    const ownValue = input !== undefined && Object.hasOwn(value, name) ? input : undefined;
    const read = readMember(member, name, ownValue, context);
    if (read === undefined) continue;
    object[name] = read;
    isEmpty = false;
  }
  if (isEmpty && schema.isNotEmpty === true && errors.length === countBefore) {
    return fail(context, 'must have at least one member');
  }
  if (isEmpty && schema.isDroppedEmpty === true) return undefined;
  if (schema.check !== undefined) {
    const violations = schema.check(object, value);
    const memberErrors = violations.length === 0 ? [] : errors.slice(countBefore);
    for (const { pointer, detail } of violations) {
      if (isReported(memberErrors, formatPointer(context) + pointer)) continue;
      fail(context, detail, pointer);
    }
  }
  const hint = errors.length > countBefore ? schema.hint?.(object, value) ?? null : null;
  if (hint !== null) {
    errors.splice(countBefore, 0, { pointer: formatPointer(context), detail: hint });
  }
  return object;
}

function readMember(
  member: MemberSchema, name: string, input: unknown, context: ParseContext,
): JsonValue | undefined {
  if (member.readOnly === 'ignored') return undefined;
  if (input === undefined || (input === null && member.isNullKept !== true)) {
    if (member.isRequired === true) fail(context, 'is required', pointerStep(name));
    return member.default;
  }
  if (member.readOnly === 'echo') return input as JsonValue;
  context.steps.push(name);
  const read = readValue(member.schema, input, context);
  context.steps.pop();
  return read;
}

function readJson(
  schema: JsonSchema, value: unknown, context: ParseContext,
): JsonValue | undefined {
  if (schema.isObject && !isJsonObject(value)) {
    return fail(context, `must be a JSON object, not ${typeName(value)}`);
  }
  // The size comes first, so that the walk below is short whatever the body holds.
  if (!checkBytes(schema, value, context)) return undefined;
  const problem = findJsonProblem(value, schema.depthMax);
  if (problem !== null) {
    const detail = problem.detail === TOO_DEEP
      ? `is nested deeper than ${schema.depthMax} levels` : problem.detail;
    return fail(context, detail, problem.pointer);
  }
  return value as JsonValue;
}

const TOO_DEEP = 'too deep';

/**
 * Tells why no member of free JSON may have the value; null: one may. The pointer is made on the
 * way back from a problem: mostly there is none.
 */
export function findJsonProblem(value: unknown, depthLeft: number): FieldError | null {
  if (typeof value === 'string') {
    return value.isWellFormed() ? null : rootError('must not hold a lone surrogate');
  }
  if (isJsonNumber(value)) {
    return Number.isFinite(Number(value)) ? null
      : rootError('must be a number that a double can hold');
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthLeft === 0) return rootError(TOO_DEEP);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const problem = findJsonProblem(value[index], depthLeft - 1);
      if (problem !== null) return nestError(index, problem);
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      if (!name.isWellFormed()) return rootError('has a name with a lone surrogate');
      const problem = findJsonProblem(value[name], depthLeft - 1);
      if (problem !== null) return nestError(name, problem);
    }
  }
  return null;
}

function rootError(detail: string): FieldError {
  return { pointer: '', detail };
}

function nestError(step: string | number, problem: FieldError): FieldError {
  return { ...problem, pointer: pointerStep(step) + problem.pointer };
}

/** Reports `detail` at the reader's position, or at the pointer `below` from there. */
function fail(context: ParseContext, detail: string, below = ''): undefined {
  if (context.errors.length >= ERRORS_MAX) return undefined;
  context.errors.push({ pointer: formatPointer(context) + below, detail });
  return undefined;
}

function formatPointer(context: ParseContext): string {
  return context.steps.map(pointerStep).join('');
}

/** A member that is wrong by itself needs no second error about how it fits the others. */
function isReported(errors: readonly FieldError[], pointer: string): boolean {
  return errors.some((error) =>
    error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

function failUnknownMembers(
  names: readonly string[], members: MemberSchemas, context: ParseContext,
): void {
  for (const name of names) {
    if (context.unknownCount >= UNKNOWN_NAMES_MAX) return;
    if (Object.hasOwn(members, name)) continue;
    context.unknownCount += 1;
    fail(context, `is not a known member${suggestMember(name, members)}`, pointerStep(name));
  }
}

/** Finds the member that was likely meant, also inside an object: `reading.rating` for `rating`. */
function suggestMember(name: string, members: MemberSchemas): string {
  const innerNames = Object.entries(members).flatMap(([outer, { schema }]) =>
    schema.kind === 'object' ? Object.keys(schema.members).map((inner) => [outer, inner]) : []);
  const same = innerNames.find(([, inner]) => inner === name);
  const dottedNames = innerNames.map((path) => path.join('.'));
  return same === undefined ? didYouMean(name, [...Object.keys(members), ...dottedNames])
    : `: did you mean \`${same.join('.')}\`?`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isJsonNumber(value)) return 'a number';
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

const uniformSchemas = new WeakMap<ObjectSchema, ObjectSchema>();

/**
 * Copies the schema, once: all copies of a kind have the same members in the same order, undefined
 * if they are absent. Schemas as they are written have nearly as many shapes as there are
 * schemas, and V8 looks up each member of an object of many shapes in a table.
 */
function toUniformSchema(schema: ObjectSchema): ObjectSchema {
  return uniformSchemas.get(schema) ?? convertObjectSchema(schema);
}

function convertSchema(schema: Schema): Schema {
  switch (schema.kind) {
    case 'string': {
      const { kind, minLength, maxLength, bytesMax, isNotBlank, values } = schema;
      const { pattern, mustBe } = schema;
      const { findMeant, canonical, explain, numberHint, format } = schema;
      return {
        kind, minLength, maxLength, bytesMax, isNotBlank, values, pattern, mustBe, canonical,
        findMeant, explain, numberHint, format,
      };
    }
    case 'array': {
      const { kind, items, maxItems, isUnique, identify } = schema;
      return { kind, items: convertSchema(items), maxItems, isUnique, identify };
    }
    case 'object': return toUniformSchema(schema);
    default: return schema;
  }
}

function convertObjectSchema(schema: ObjectSchema): ObjectSchema {
  const { kind, name, isNotEmpty, isDroppedEmpty, check, hint } = schema;
  const members: Record<string, MemberSchema> = {};
  const result = { kind, name, members, isNotEmpty, isDroppedEmpty, check, hint };
  // The copy is known before its members: a member may have the same schema again.
  uniformSchemas.set(schema, result);
  for (const [key, member] of Object.entries(schema.members)) members[key] = convertMember(member);
  return result;
}

function convertMember(member: MemberSchema): MemberSchema {
  const { schema, isRequired, readOnly, isNullKept, default: standard } = member;
  return { schema: convertSchema(schema), isRequired, readOnly, isNullKept, default: standard };
}
