/**
 * Compiles conditions, once for each change of the webhook. A value is compared with values of its
 * own type, numbers by all their digits; anything else, and a missing value, is false, also for
 * `ne`. Pure.
 */
import {
  ScalarSet, compareNumbers, isJsonNumber, isSameScalar,
} from '../../../base/exact-number.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { Condition, Operator } from './condition.ts';
import { createFactReader, type ContainsTest, type Facts } from './facts.ts';

export type Predicate = (facts: Facts) => boolean;

/** Compiles a condition that was checked when it was saved, and adds its `contains` to a list. */
export function prepareCondition(
  condition: Condition, containsTests: ContainsTest[] = [],
): Predicate {
  const { all, any, not, path, op, value } = condition;
  const prepareInner = (inner: Condition): Predicate => prepareCondition(inner, containsTests);
  if (all !== undefined) {
    const predicates = all.map(prepareInner);
    return (facts) => predicates.every((predicate) => predicate(facts));
  }
  if (any !== undefined) {
    const predicates = any.map(prepareInner);
    return (facts) => predicates.some((predicate) => predicate(facts));
  }
  if (not !== undefined) {
    const predicate = prepareInner(not);
    return (facts) => !predicate(facts);
  }
  // A later version of this program has stored it.
  if (path === undefined || op === undefined) return () => false;
  const read = createFactReader(path);
  if (op === 'contains') {
    const search = { read, value };
    containsTests.push(search);
    return (facts) => facts.isFound(search);
  }
  const compare = createComparison(op, value);
  return (facts) => compare(read(facts));
}

type Comparison = (actual: unknown) => boolean;

function createComparison(op: Operator, value: JsonValue | undefined): Comparison {
  switch (op) {
    case 'eq': return (actual) => isSameScalar(actual, value);
    // `ne` never holds for null, as its type has no other value.
    case 'ne': return (actual) => isSameType(actual, value) && !isSameScalar(actual, value);
    case 'in': {
      const values = new ScalarSet(Array.isArray(value) ? value : []);
      return (actual) => values.has(actual);
    }
    case 'exists': return (actual) => (actual !== undefined) === (value !== false);
    case 'prefix': return createTextComparison(value, (actual, text) => actual.startsWith(text));
    case 'suffix': return createTextComparison(value, (actual, text) => actual.endsWith(text));
    case 'lt': return createOrderComparison(value, (order) => order < 0);
    case 'lte': return createOrderComparison(value, (order) => order <= 0);
    case 'gt': return createOrderComparison(value, (order) => order > 0);
    case 'gte': return createOrderComparison(value, (order) => order >= 0);
    default: return () => false;
  }
}

function createTextComparison(
  value: JsonValue | undefined, isMet: (actual: string, value: string) => boolean,
): Comparison {
  return (actual) =>
    typeof actual === 'string' && typeof value === 'string' && isMet(actual, value);
}

function isSameType(actual: unknown, value: unknown): boolean {
  return isJsonNumber(value) ? isJsonNumber(actual) : typeof actual === typeof value;
}

/** Texts are compared by code units, so times in one format and zone are in order. */
function createOrderComparison(
  value: JsonValue | undefined, isMet: (order: number) => boolean,
): Comparison {
  return isJsonNumber(value)
    ? (actual) => isJsonNumber(actual) && isMet(compareNumbers(actual, value))
    : createTextComparison(value, (actual, text) =>
      isMet(Number(actual > text) - Number(actual < text)));
}
