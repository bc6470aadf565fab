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
    case 'prefix': case 'suffix': return createTextComparison(op, value);
    case 'lt': case 'lte': case 'gt': case 'gte': return createOrderComparison(op, value);
    default: return () => false;
  }
}

function createTextComparison(
  op: 'prefix' | 'suffix', value: JsonValue | undefined,
): (actual: unknown) => boolean {
  if (typeof value !== 'string') return () => false;
  return op === 'prefix' ? (actual) => typeof actual === 'string' && actual.startsWith(value)
    : (actual) => typeof actual === 'string' && actual.endsWith(value);
}

function isSameType(actual: unknown, value: unknown): boolean {
  return isJsonNumber(value) ? isJsonNumber(actual) : typeof actual === typeof value;
}

type OrderTest = (actual: number | string, value: number | string) => boolean;

/** Texts are compared by code units, so times in one format and zone are in order. */
const ORDERS: Readonly<Record<'lt' | 'lte' | 'gt' | 'gte', OrderTest>> = {
  lt: (actual, value) => actual < value, lte: (actual, value) => actual <= value,
  gt: (actual, value) => actual > value, gte: (actual, value) => actual >= value,
};

function createOrderComparison(
  op: keyof typeof ORDERS, value: JsonValue | undefined,
): (actual: unknown) => boolean {
  const order = ORDERS[op];
  if (isJsonNumber(value)) {
    return (actual) => isJsonNumber(actual) && order(compareNumbers(actual, value), 0);
  }
  if (typeof value === 'string') {
    return (actual) => typeof actual === 'string' && order(actual, value);
  }
  return () => false;
}
