/**
 * Explains why a condition is false: which conditions within it would have to be different, and the
 * actual values. Pure.
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

/**
 * The conditions that would have to be different; empty: the condition is what it is wanted to be.
 * Within a `not` a condition is wanted to be false.
 */
export function explainCondition(
  condition: Condition, facts: Facts, pointer: string, isWanted = true,
): readonly FailedCondition[] {
  const { all, any, not } = condition;
  if (not !== undefined) return explainCondition(not, facts, `${pointer}/not`, !isWanted);
  const [list, step] = all === undefined ? [any, 'any'] : [all, 'all'];
  if (list === undefined) {
    return prepareCondition(condition)(facts) === isWanted ? []
      : [{ pointer, detail: explainComparison(condition, facts, isWanted) }];
  }
  const explanations = list.map((inner, index) =>
    explainCondition(inner, facts, `${pointer}/${step}${pointerStep(index)}`, isWanted));
  // `all` is false as soon as one condition of it is, as `any` is true.
  const needsOne = (step === 'any') === isWanted;
  const hasOne = explanations.some((failures) => failures.length === 0);
  return needsOne && hasOne ? [] : explanations.flat();
}

function explainComparison(
  { path = '', op = 'exists', value }: Condition, facts: Facts, isWanted: boolean,
): string {
  const actual = createFactReader(path)(facts);
  // A value within a secret is a secret: the elements of `tokens`, the members of `cookies`.
  const isSecret = path.split('.').some(isSecretName);
  const operator = isWanted ? op : `not ${op}`;
  // The operand would tell something of the secret, too.
  const comparison = value === undefined || isSecret ? operator
    : `${operator} ${formatValue(value)}`;
  if (actual === undefined) return `${path} is not there, wanted: ${comparison}`;
  return `${path} is ${isSecret ? MASK : quote(actual)}, wanted: ${comparison}`;
}

function formatValue(value: JsonValue): string {
  if (!Array.isArray(value)) return quote(value);
  const list = value.slice(0, SHOWN_VALUES_MAX).map(quote).join(', ');
  return value.length > SHOWN_VALUES_MAX ? `${list}, …` : list;
}
