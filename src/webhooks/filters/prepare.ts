/**
 * Conditions made ready to be asked, once a change of the webhook. Values are compared with what is
 * of their own type; anything else, and what is not there, is false, for `ne` as well. Pure.
 */
import type { JsonValue } from '../../base/schema.ts';
import type { Condition, Operator } from './condition.ts';
import { readerOf, type Facts, type Search } from './facts.ts';

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
  const read = readerOf(path);
  if (op === 'contains') {
    const search = { read, value };
    searches.push(search);
    return (facts) => facts.holds(search);
  }
  const compare = comparisonWith(op, value);
  return (facts) => compare(read(facts));
}

type Comparison = (found: unknown) => boolean;

/** Whether what stands at the path is as it should be. */
function comparisonWith(op: Operator, value: JsonValue | undefined): Comparison {
  switch (op) {
    case 'eq': return (found) => found === value;
    // Of null there is but one value, so that `ne` never takes it.
    case 'ne': return (found) => typeof found === typeof value && found !== value;
    case 'in': {
      const values = new Set<unknown>(Array.isArray(value) ? value : []);
      return (found) => values.has(found);
    }
    case 'exists': return (found) => (found !== undefined) === (value !== false);
    case 'prefix': case 'suffix': return textComparison(op, value);
    case 'lt': case 'lte': case 'gt': case 'gte': return orderComparison(op, value);
    default: return () => false;
  }
}

function textComparison(
  op: 'prefix' | 'suffix', value: JsonValue | undefined,
): (found: unknown) => boolean {
  if (typeof value !== 'string') return () => false;
  return op === 'prefix' ? (found) => typeof found === 'string' && found.startsWith(value)
    : (found) => typeof found === 'string' && found.endsWith(value);
}

type Order = (found: number | string, value: number | string) => boolean;

/** Text is compared by its code units: times in one form and zone stand in order. */
const ORDERS: Readonly<Record<'lt' | 'lte' | 'gt' | 'gte', Order>> = {
  lt: (found, value) => found < value, lte: (found, value) => found <= value,
  gt: (found, value) => found > value, gte: (found, value) => found >= value,
};

function orderComparison(
  op: keyof typeof ORDERS, value: JsonValue | undefined,
): (found: unknown) => boolean {
  const order = ORDERS[op];
  if (typeof value === 'number') return (found) => typeof found === 'number' && order(found, value);
  if (typeof value === 'string') return (found) => typeof found === 'string' && order(found, value);
  return () => false;
}
