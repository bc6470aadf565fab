/**
 * Formats conditions in words, and parses operands as users type them: plain text for strings, JSON
 * for other values and for strings of several lines. Pure.
 */
import { encodeJson, parseJsonOrText } from '../../base/json-text.ts';
import type { Condition } from '../../../webhooks/members/filters/condition.ts';

type ConditionValue = Condition['value'];

/** `missing` stands for `exists` with the value false. */
export const OPERATORS = [
  ['eq', 'is'], ['ne', 'is not'], ['in', 'is one of'], ['exists', 'is there'],
  ['missing', 'is not there'], ['prefix', 'begins with'], ['suffix', 'ends with'],
  ['contains', 'contains'], ['lt', 'is less than'], ['lte', 'is at most'],
  ['gt', 'is more than'], ['gte', 'is at least'],
] as const;

export function formatCondition(condition: Condition): string {
  const { all, any, not, path = '', value } = condition;
  if (not !== undefined) return `not (${formatCondition(not)})`;
  const list = all ?? any;
  if (list !== undefined) {
    const words = list.map(formatCondition).join(all === undefined ? ' or ' : ' and ');
    return list.length === 1 ? words : `(${words})`;
  }
  const operator = findOperator(condition);
  const name = OPERATORS.find(([one]) => one === operator)?.[1] ?? operator;
  return `${path} ${name} ${isUnary(operator) ? '' : formatConditionValue(value, operator)}`.trim();
}

export function findOperator({ op = 'eq', value }: Condition): string {
  return op === 'exists' && value === false ? 'missing' : op;
}

/** Whether the operator takes no operand. */
export function isUnary(operator: string): boolean {
  return operator === 'exists' || operator === 'missing';
}

/** Operators whose operand is always a string. */
const TEXT_OPERATORS = ['prefix', 'suffix'];

export function parseConditionValue(text: string, operator: string): ConditionValue {
  const item = parseItem(text);
  if (TEXT_OPERATORS.includes(operator)) return hasLineBreak(item) ? item : text;
  if (operator !== 'in' || Array.isArray(item)) return item;
  return text.split(',').map((part) => parseItem(part.trim()) ?? null);
}

export function formatConditionValue(value: ConditionValue, operator: string): string {
  if (value === undefined) return '';
  if (TEXT_OPERATORS.includes(operator) && !hasLineBreak(value)) return String(value);
  const texts = Array.isArray(value) ? value.map(formatItem) : [formatItem(value)];
  const isPlain = !Array.isArray(value) || texts.every((text) => !/,|^\[/.test(text));
  return isPlain ? texts.join(', ') : encodeJson(value);
}

/** `5` is a number, `"5"` a string; text that is no JSON is a string, too. */
function parseItem(text: string): ConditionValue {
  const isLikeJson = /^(?:true|false|null|-?\d.*|".*"|\[.*\])$/s.test(text);
  return isLikeJson ? parseJsonOrText<ConditionValue>(text) : text;
}

function formatItem(value: ConditionValue): string {
  const isText = typeof value === 'string' && value === value.trim() && parseItem(value) === value
    && !hasLineBreak(value);
  return isText ? value : encodeJson(value);
}

/** A one-line input would drop line breaks. */
export function hasLineBreak(value: unknown): boolean {
  return typeof value === 'string' && /[\r\n]/.test(value);
}
