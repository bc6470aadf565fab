/**
 * Conditions: filters as data, without code or regular expressions. This is the table of their
 * members, with the rules across members. An invalid condition is refused when the webhook is
 * saved, with its JSON Pointer. prepare-condition.ts evaluates conditions.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, pointerStep } from '../../../base/fields.ts';
import { isJsonNumber } from '../../../base/exact-number.ts';
import { JSON_DEPTH_MAX } from '../../../base/json/parse.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../../base/schema.ts';
import type { SchemaOf } from '../../../base/schema-types.ts';
import { SOURCES, findPathProblem, type FactSource } from './facts.ts';

const OPERATORS = [
  'eq', 'ne', 'in', 'exists', 'prefix', 'suffix', 'contains', 'lt', 'lte', 'gt', 'gte',
] as const;
export type Operator = (typeof OPERATORS)[number];

export type Condition = {
  readonly all?: readonly Condition[];
  readonly any?: readonly Condition[];
  readonly not?: Condition;
  readonly path?: string;
  readonly op?: Operator;
  readonly value?: JsonValue;
};

const DEPTH_MAX = 8;
const CONDITIONS_MAX = 50;
const PATH_LENGTH_MAX = 500;
const VALUE_BYTES_MAX = 8192;
const KINDS = ['all', 'any', 'not', 'path'];

/** The schema itself does not limit depth and number: `findConditionProblems` does. */
export const conditionSchema: SchemaOf<Condition> = {
  kind: 'object', name: 'WebhookCondition',
  // A condition holds conditions, so its members are created when they are first read.
  get members() {
    return MEMBERS;
  },
  check: findShapeProblems,
};

const LIST: MemberSchema = {
  schema: { kind: 'array', maxItems: CONDITIONS_MAX, items: conditionSchema },
};

const MEMBERS: Readonly<Record<string, MemberSchema>> = {
  all: { ...LIST, description: 'True when every one of them is' },
  any: { ...LIST, description: 'True when at least one of them is' },
  not: { schema: conditionSchema, description: 'True when it is false' },
  path: {
    schema: { kind: 'string', minLength: 1, maxLength: PATH_LENGTH_MAX },
    description: 'What is looked at: `payload` and the names and indexes from there on, joined by '
      + 'dots; `headers.<name>`, `query.<name>`, `event` or `method`; of a response '
      + '`status`, and `body` as `payload`',
  },
  op: { schema: { kind: 'string', values: OPERATORS }, description: 'How it is compared' },
  value: {
    schema: { kind: 'json', isObject: false, bytesMax: VALUE_BYTES_MAX, depthMax: JSON_DEPTH_MAX },
    isNullKept: true,
    description: 'With what: text, a number, true, false or null; of `in` an array of these; of '
      + '`exists` true, which is meant without one, or false. Of another type than what stands at '
      + 'the path: the condition is false',
  },
};

/**
 * Problems of a whole condition: too deep, too many, or a path that begins with none of `sources`.
 * It is for the check of the record that holds the condition, after parsing.
 */
export function findConditionProblems(
  value: JsonValue | undefined, pointer: string, sources: readonly FactSource[] = SOURCES,
): FieldError[] {
  const errors: FieldError[] = [];
  let count = 0;
  const walk = (condition: JsonValue | undefined, currentPointer: string, depth: number): void => {
    if (!isJsonObject(condition)) return;
    if (condition['path'] !== undefined) count += 1;
    if (depth > DEPTH_MAX) {
      errors.push({ pointer: currentPointer, detail: `is nested deeper than ${DEPTH_MAX} levels` });
      return;
    }
    const { path, not } = condition;
    const problem = typeof path === 'string' ? findPathProblem(path, sources) : null;
    if (problem !== null) errors.push({ pointer: `${currentPointer}/path`, detail: problem });
    for (const [step, inner] of listInnerConditions(condition)) {
      walk(inner, currentPointer + step, depth + 1);
    }
    walk(not, `${currentPointer}/not`, depth + 1);
  };
  walk(value, pointer, 1);
  if (count > CONDITIONS_MAX) {
    const detail = `must hold at most ${CONDITIONS_MAX} conditions with a path, not ${count}`;
    errors.push({ pointer, detail });
  }
  return errors;
}

function listInnerConditions(condition: JsonObject): [string, JsonValue][] {
  return ['all', 'any'].flatMap((kind) => {
    const list = condition[kind];
    return Array.isArray(list) ? list.map((inner: JsonValue, index): [string, JsonValue] =>
      [pointerStep(kind) + pointerStep(index), inner]) : [];
  });
}

function findShapeProblems(condition: JsonObject): FieldError[] {
  const kinds = KINDS.filter((kind) => condition[kind] !== undefined);
  if (kinds.length !== 1) {
    const suffix = kinds.length === 0 ? '' : `, not ${kinds.join(' and ')}`;
    return [{ pointer: '', detail: `must have one of ${KINDS.join(', ')}${suffix}` }];
  }
  const [kind = ''] = kinds;
  if (kind === 'path') return findComparisonProblems(condition);
  const errors = ['op', 'value'].filter((name) => condition[name] !== undefined)
    .map((name) => ({ pointer: pointerStep(name), detail: `stands beside a path, not ${kind}` }));
  const list = condition[kind];
  return Array.isArray(list) && list.length === 0
    ? [...errors, { pointer: pointerStep(kind), detail: 'must hold a condition' }] : errors;
}

function findComparisonProblems({ op, value }: JsonObject): FieldError[] {
  if (op === undefined) return [{ pointer: '/op', detail: 'is required beside a path' }];
  const rule = VALUE_RULES[String(op)];
  if (rule === undefined || (value === undefined && op === 'exists')) return [];
  if (value === undefined) {
    return [{ pointer: '/value', detail: `is required: ${String(op)} takes ${rule.form}` }];
  }
  return rule.test(value) ? []
    : [{ pointer: '/value', detail: `must be ${rule.form} for ${String(op)}` }];
}

type ValueRule = { readonly form: string; readonly test: (value: JsonValue) => boolean };

const isScalar = (value: JsonValue): boolean =>
  typeof value !== 'object' || value === null || isJsonNumber(value);
const TEXT_RULE: ValueRule = { form: 'text', test: (value) => typeof value === 'string' };
const ORDER_RULE: ValueRule = {
  form: 'a number or text', test: (value) => isJsonNumber(value) || typeof value === 'string',
};

const VALUE_RULES: Readonly<Record<string, ValueRule>> = {
  eq: { form: 'text, a number, true, false or null', test: isScalar },
  // null is excluded: no other value has its type, so the condition could never be true.
  ne: {
    form: 'text, a number, true or false (what is not null: not and eq null)',
    test: (value) => isScalar(value) && value !== null,
  },
  in: {
    form: 'an array of texts, numbers, true, false and null, and not empty',
    test: (value) => Array.isArray(value) && value.length > 0 && value.every(isScalar),
  },
  exists: { form: 'true or false', test: (value) => typeof value === 'boolean' },
  prefix: TEXT_RULE, suffix: TEXT_RULE,
  contains: { form: 'text, a number, true, false or null', test: isScalar },
  lt: ORDER_RULE, lte: ORDER_RULE, gt: ORDER_RULE, gte: ORDER_RULE,
};
