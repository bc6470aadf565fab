/**
 * Explains why a condition is false: which conditions within it are false, and the actual values.
 * Pure.
 */
import { pointerStep } from '../../../base/fields.ts';
import { MASK, isSecretName } from '../../../base/log.ts';
import { quote } from '../../../base/text/error-message.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { Condition } from './condition.ts';
import { createFactReader, type Facts } from './facts.ts';
import { prepareCondition } from './prepare-condition.ts';

export type FailedCondition = {
  /** The JSON Pointer of the condition. */
  readonly pointer: string;
  readonly detail: string;
};

const SHOWN_VALUES_MAX = 10;

/** The conditions that would have to be different; empty: the condition is true. */
export function explainCondition(
  condition: Condition, facts: Facts, pointer: string,
): readonly FailedCondition[] {
  const { all, any, not } = condition;
  if (all !== undefined) return explainEach(all, facts, `${pointer}/all`).flat();
  if (any !== undefined) {
    const explanations = explainEach(any, facts, `${pointer}/any`);
    const isTrue = explanations.some((failures) => failures.length === 0);
    return isTrue ? [] : explanations.flat();
  }
  if (prepareCondition(condition)(facts)) return [];
  return not === undefined ? [{ pointer, detail: explainComparison(condition, facts) }]
    : [{ pointer: `${pointer}/not`, detail: 'the condition within `not` is true' }];
}

function explainEach(
  conditions: readonly Condition[], facts: Facts, pointer: string,
): (readonly FailedCondition[])[] {
  return conditions.map((inner, index) =>
    explainCondition(inner, facts, pointer + pointerStep(index)));
}

function explainComparison({ path = '', op = 'exists', value }: Condition, facts: Facts): string {
  const actual = createFactReader(path)(facts);
  // A value within a secret is a secret: the elements of `tokens`, the members of `cookies`.
  const isSecret = path.split('.').some(isSecretName);
  const comparison = value === undefined ? op : `${op} ${formatValue(value)}`;
  if (actual === undefined) return `${path} is not there, wanted: ${comparison}`;
  // The operand would tell something of the secret, too.
  return `${path} is ${isSecret ? MASK : quote(actual)}, wanted: ${isSecret ? op : comparison}`;
}

function formatValue(value: JsonValue): string {
  if (!Array.isArray(value)) return quote(value);
  const list = value.slice(0, SHOWN_VALUES_MAX).map(quote).join(', ');
  return value.length > SHOWN_VALUES_MAX ? `${list}, …` : list;
}
