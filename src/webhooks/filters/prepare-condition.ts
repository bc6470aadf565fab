/**
 * Conditions made ready to be asked, once a change of the webhook. Values are compared with what is
 * of their own type; anything else, and what is not there, is false, for `ne` as well. Pure.
 */
import type { JsonValue } from '../../base/schema.ts';
import type { Condition, Operator } from './condition.ts';
import { createFactReader, type Facts, type Search } from './facts.ts';

export type Predicate = (facts: Facts) => boolean;

/** Of a condition that was checked when it was saved. Adds what it searches for to `searches`. */
export function prepareCondition(condition: Condition, searches: Search[] = []): Predicate {
  const { all, any, not, path, op, value } = condition;
  const prepareInner = (inner: Condition): Predicate => prepareCondition(inner, searches);
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
  // Stored by a later version of this program.
  if (path === undefined || op === undefined) return () => false;
  const read = createFactReader(path);
  if (op === 'contains') {
    const search = { read, value };
    searches.push(search);
    return (facts) => facts.isFound(search);
  }
  const compare = createComparison(op, value);
  return (facts) => compare(read(facts));
}

type Comparison = (actual: unknown) => boolean;

/** Whether what stands at the path is as it should be. */
function createComparison(op: Operator, value: JsonValue | undefined): Comparison {
  switch (op) {
    case 'eq': return (actual) => actual === value;
    // Of null there is but one value, so that `ne` never takes it.
    case 'ne': return (actual) => typeof actual === typeof value && actual !== value;
    case 'in': {
      const values = new Set<unknown>(Array.isArray(value) ? value : []);
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

type Order = (actual: number | string, value: number | string) => boolean;

/** Text is compared by its code units: times in one form and zone stand in order. */
const ORDERS: Readonly<Record<'lt' | 'lte' | 'gt' | 'gte', Order>> = {
  lt: (actual, value) => actual < value, lte: (actual, value) => actual <= value,
  gt: (actual, value) => actual > value, gte: (actual, value) => actual >= value,
};

function createOrderComparison(
  op: keyof typeof ORDERS, value: JsonValue | undefined,
): (actual: unknown) => boolean {
  const order = ORDERS[op];
  if (typeof value === 'number') {
    return (actual) => typeof actual === 'number' && order(actual, value);
  }
  if (typeof value === 'string') {
    return (actual) => typeof actual === 'string' && order(actual, value);
  }
  return () => false;
}
