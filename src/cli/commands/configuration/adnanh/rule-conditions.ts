/**
 * Compiles rules of adnanh/webhook into conditions that hold for the requests that the rules let
 * through. A rule there gives true or false, and beside it an error when a value that it compares
 * is missing from the request. `and` and `not` pass the error on, `or` drops it. A hook runs when
 * its rule is true, with an error or without: so `not` of a missing value runs it, and the same
 * `not` within an `and` does not. A null on the way to a value ends the whole evaluation there, and
 * nothing runs. Pure.
 */
import { encodeJson } from '../../../../base/json/encode.ts';
import type { JsonValue } from '../../../../base/schema.ts';
import type { Condition } from '../../../../webhooks/members/filters/condition.ts';
import type { TextComparison } from './rule-expression.ts';

/** A rule that conditions can express. */
export type Rule =
  | { readonly kind: 'all' | 'any'; readonly rules: readonly Rule[] }
  | { readonly kind: 'not'; readonly rule: Rule }
  | ComparedValue
  | { readonly kind: 'constant'; readonly value: boolean };

/** One of the comparisons with the value at the path must hold. */
type ComparedValue = {
  readonly kind: 'value'; readonly path: string; readonly comparisons: readonly ValueComparison[];
};
type ValueComparison = {
  readonly op: TextComparison['op']; readonly values: readonly JsonValue[];
};

/** A condition, or the result of one that is the same for all requests. */
type Formula = Condition | boolean;

/** When the rule is true, with an error or without: the rule of a hook lets a request through. */
export function compilePassing(rule: Rule): Formula {
  switch (rule.kind) {
    case 'value': case 'constant': case 'all': return compileTrue(rule);
    case 'not': return compileNotPassing(rule.rule);
    case 'any': return joinAny(rule.rules.map((inner, index) => joinAll([
      compilePassing(inner),
      // Without an error the first rule that is true ends the evaluation.
      ...rule.rules.slice(0, index).filter((earlier) => !isUnbroken(earlier, inner))
        .map((earlier) => negate(compileBroken(earlier))),
    ])));
  }
}

/** When the rule is true without an error. */
export function compileTrue(rule: Rule): Formula {
  switch (rule.kind) {
    case 'constant': return rule.value;
    case 'value': return compareRule(rule);
    case 'not': return compileFalse(rule.rule);
    case 'all': return joinAll(rule.rules.map(compileTrue));
    case 'any': return compilePassing(rule);
  }
}

/** When the rule is false without an error. */
function compileFalse(rule: Rule): Formula {
  switch (rule.kind) {
    case 'constant': return !rule.value;
    case 'value': return joinAll([looksWithin(rule) ? isText(rule.path)
      : { path: rule.path, op: 'exists' }, negate(compareRule(rule))]);
    case 'not': return compileTrue(rule.rule);
    case 'all': return compileFirst(rule.rules, compileFalse);
    case 'any': return joinAll(rule.rules.map(compileNotPassing));
  }
}

/** When the rule gives an error. */
function compileMissing(rule: Rule): Formula {
  switch (rule.kind) {
    case 'constant': case 'any': return false;
    case 'value': return joinAll([isMissing(rule.path), ...excludeNulls(rule.path)]);
    case 'not': return compileMissing(rule.rule);
    case 'all': return compileFirst(rule.rules, compileMissing);
  }
}

/** When the rule is false, with an error or without. */
function compileNotPassing(rule: Rule): Formula {
  switch (rule.kind) {
    case 'constant': case 'any': return compileFalse(rule);
    case 'value': return joinAll([
      negate(compareRule(rule)),
      looksWithin(rule) ? joinAny([isMissing(rule.path), isText(rule.path)]) : true,
      ...excludeNulls(rule.path),
    ]);
    case 'not': return compilePassing(rule.rule);
    case 'all': return compileFirst(rule.rules, compileNotTrue);
  }
}

/** When the rule is false, or gives an error. */
function compileNotTrue(rule: Rule): Formula {
  return rule.kind === 'value' ? compileNotPassing(rule)
    : joinAny([compileFalse(rule), compileMissing(rule)]);
}

/** When the evaluation of the rule ends at a null on the way to a value. */
function compileBroken(rule: Rule): Formula {
  switch (rule.kind) {
    case 'constant': return false;
    case 'value': return joinAny(listNulls(rule.path));
    case 'not': return compileBroken(rule.rule);
    case 'all': return compileFirst(rule.rules, compileBroken);
    case 'any': return joinAny(rule.rules.map((inner, index) => joinAll([
      ...rule.rules.slice(0, index).map(compileNotPassing), compileBroken(inner),
    ])));
  }
}

/** Whether no null is on the way of a comparison where another one, of the same way, is true. */
function isUnbroken(rule: Rule, trueRule: Rule): boolean {
  if (rule.kind !== 'value' || trueRule.kind !== 'value') return false;
  const way = rule.path.slice(0, rule.path.lastIndexOf('.') + 1);
  return trueRule.path.startsWith(way);
}

/** When one rule is as `compile` says and those before it are true: the rest is not looked at. */
function compileFirst(rules: readonly Rule[], compile: (rule: Rule) => Formula): Formula {
  return joinAny(rules.map((rule, index) =>
    joinAll([...rules.slice(0, index).map(compileTrue), compile(rule)])));
}

/**
 * Whether the rule looks for a part of a text in the payload. There it looks into the JSON of an
 * array or an object as well, so where the part must not be, we let through texts alone.
 */
function looksWithin({ path, comparisons }: ComparedValue): boolean {
  return path.startsWith('payload')
    && comparisons.some(({ op, values }) => op === 'contains' && !values.includes(''));
}

const isText = (path: string): Condition => ({ path, op: 'prefix', value: '' });
const hasOneLine = (path: string): Condition => ({ not: { path, op: 'contains', value: '\n' } });
const isMissing = (path: string): Condition => ({ path, op: 'exists', value: false });

function compareRule({ path, comparisons }: ComparedValue): Formula {
  return joinAny(comparisons.map((comparison) => compare(path, comparison)));
}

function compare(path: string, { op, values }: ValueComparison): Formula {
  switch (op) {
    case 'in': return compareValues(path, values);
    case 'line': return joinAll([compareParts(path, 'prefix', values), hasOneLine(path)]);
    case 'longer': return joinAny(values.map((value) => joinAll([
      compareParts(path, 'prefix', [value]), { not: { path, op: 'eq', value } },
      { not: { path, op: 'prefix', value: `${String(value)}\n` } },
    ])));
    case 'longer line':
      return joinAll([compare(path, { op: 'longer', values }), hasOneLine(path)]);
    default: return compareParts(path, op, values);
  }
}

function compareParts(
  path: string, op: 'prefix' | 'suffix' | 'contains', values: readonly JsonValue[],
): Formula {
  return joinAny(values.map((value): Condition => value === '' ? { path, op: 'exists' }
    : { path, op, value }));
}

function compareValues(path: string, values: readonly JsonValue[]): Condition {
  const [only = null] = values;
  return values.length === 1 ? { path, op: 'eq', value: only }
    : { path, op: 'in', value: [...values] };
}

/** Conditions that no member on the way to a value in the payload is null. */
function excludeNulls(path: string): readonly Formula[] {
  return listNulls(path).map(negate);
}

/** A condition for each member on the way to a value in the payload: that it is null. */
function listNulls(path: string): readonly Condition[] {
  const [source, ...steps] = path.split('.');
  if (source !== 'payload') return [];
  return steps.slice(0, -1).map((_, index): Condition => ({
    path: ['payload', ...steps.slice(0, index + 1)].join('.'), op: 'eq', value: null,
  }));
}

function negate(formula: Formula): Formula {
  if (typeof formula === 'boolean') return !formula;
  return formula.not ?? { not: formula };
}

export function joinAll(formulas: readonly Formula[]): Formula {
  if (formulas.includes(false)) return false;
  const conditions = dropRepeated(formulas.flatMap((formula) =>
    typeof formula === 'boolean' ? [] : formula.all ?? [formula]));
  const [only] = conditions;
  if (only === undefined) return true;
  return conditions.length === 1 ? only : { all: conditions };
}

function joinAny(formulas: readonly Formula[]): Formula {
  if (formulas.includes(true)) return true;
  const conditions = dropRepeated(mergeComparisons(formulas.flatMap((formula) =>
    typeof formula === 'boolean' ? [] : formula.any ?? [formula])));
  const [only] = conditions;
  if (only === undefined) return false;
  return conditions.length === 1 ? only : { any: conditions };
}

/** Makes one comparison of all with the same path: `a` is 1 or `a` is 2. */
function mergeComparisons(conditions: readonly Condition[]): readonly Condition[] {
  const valuesByPath = new Map<string, JsonValue[]>();
  const others: Condition[] = [];
  for (const condition of conditions) {
    const { path, op, value = null } = condition;
    if (path === undefined || (op !== 'eq' && op !== 'in')) {
      others.push(condition);
      continue;
    }
    const values = valuesByPath.get(path) ?? [];
    values.push(...Array.isArray(value) ? value : [value]);
    valuesByPath.set(path, values);
  }
  return [
    ...[...valuesByPath].map(([path, values]) => compareValues(path, dropRepeated(values))),
    ...others,
  ];
}

function dropRepeated<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [encodeJson(value), value])).values()];
}
