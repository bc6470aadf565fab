/**
 * The parameter `where` of a search: a condition (filters/condition.ts) as JSON, or its short form
 *
 *     payload.customer.id=42
 *
 * with `=`, `!=`, `<`, `<=`, `>`, `>=`, or `~` for contains. A value that looks like a number,
 * `true`, `false` or `null` is one, unless it stands in quotes; any other is a text. With `~` it is
 * also looked for in texts. Headers, query, event and method are always texts. Pure.
 */
import { AppError, type FieldError } from '../../base/errors.ts';
import { parseObject } from '../../base/fields.ts';
import { parseNumber } from '../../base/exact-number.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import {
  conditionSchema, findConditionProblems, type Condition, type Operator,
} from '../members/filters/condition.ts';
import type { FactSource } from '../members/filters/facts.ts';

export const WHERE_MAX = 10;

const OPERATORS: Readonly<Record<string, Operator>> = {
  '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte', '~': 'contains',
};
const SHORT_FORM = /^([^=!<>~]+)(=|!=|<=|>=|<|>|~)(.*)$/s;
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const WORDS: Readonly<Record<string, JsonValue>> = { true: true, false: false, null: null };

const EXAMPLES = '`payload.customer.id=42`, or a condition as JSON such as '
  + '`{"path":"payload.customer.id","op":"eq","value":42}`';

/** Parses all `where` of a query. Throws `malformed`, and says where and how. */
export function parseWhere(
  texts: readonly string[], sources: readonly FactSource[],
): readonly Condition[] {
  if (texts.length > WHERE_MAX) {
    throw new AppError('malformed', `\`where\` may stand at most ${WHERE_MAX} times, not `
      + `${texts.length}: join conditions with {"all":[…]}`);
  }
  return texts.map((text, index) => {
    const name = texts.length === 1 ? '`where`' : `\`where\` number ${index + 1}`;
    const condition = text.trimStart().startsWith('{')
      ? parseJson(text, name) : parseShortForm(text, name);
    if (isCondition(condition, sources)) return condition;
    const problems = findProblems(condition, sources).map(({ pointer, detail }) =>
      pointer === '' ? detail : `${pointer} ${detail}`);
    throw malformed(`${name} is no condition: ${problems.join('; ')}`);
  });
}

function parseJson(text: string, name: string): JsonValue {
  try {
    return parseJsonText(text);
  } catch {
    throw malformed(`${name} is not valid JSON: ${quote(text)}`);
  }
}

function findProblems(
  value: JsonValue, sources: readonly FactSource[],
): readonly FieldError[] {
  try {
    parseObject(conditionSchema, value);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return thrown.details.errors ?? [{ pointer: '', detail: thrown.message }];
  }
  return findConditionProblems(value, '', sources);
}

function isCondition(value: JsonValue, sources: readonly FactSource[]): value is Condition {
  return findProblems(value, sources).length === 0;
}

function parseShortForm(text: string, name: string): JsonObject {
  const [, path = '', sign = '', rest = ''] = SHORT_FORM.exec(text) ?? [];
  const op = OPERATORS[sign];
  if (op === undefined || path.trim() === '') {
    throw malformed(`${name} must be a path, one of ${Object.keys(OPERATORS).join(' ')}, and a `
      + `value, not ${quote(text)}`);
  }
  const value = parseValue(rest.trim(), path.trim(), name);
  const comparison = { path: path.trim(), op, value };
  if (op === 'contains' && typeof value !== 'string') {
    return containsValueOrText(comparison, rest.trim());
  }
  if (op !== 'ne' || value !== null) return comparison;
  // `ne` needs both values of one type, so it never holds for null.
  return {
    all: [
      { path: comparison.path, op: 'exists' },
      { not: { path: comparison.path, op: 'eq', value: null } },
    ],
  };
}

/** `payload.phone~555` finds an array with the number, and a text with these digits. */
function containsValueOrText(
  comparison: { readonly path: string; readonly op: string; readonly value: JsonValue },
  text: string,
): JsonObject {
  const { path } = comparison;
  // `exists` lets a search skip records without the member; `any` alone would not.
  return {
    all: [{ path, op: 'exists' }, { any: [comparison, { ...comparison, value: text }] }],
  };
}

function parseValue(text: string, path: string, name: string): JsonValue {
  if (text.startsWith('"')) {
    try {
      return parseJsonText(text);
    } catch {
      throw malformed(`${name} must be a JSON string behind its sign, not ${quote(text)}`);
    }
  }
  if (path !== 'payload' && !path.startsWith('payload.')) return text;
  if (Object.hasOwn(WORDS, text)) return WORDS[text] ?? null;
  return NUMBER.test(text) ? parseNumber(text) : text;
}

function malformed(problem: string): AppError {
  return new AppError('malformed', `${problem}; write ${EXAMPLES}`);
}
