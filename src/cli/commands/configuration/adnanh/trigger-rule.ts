/**
 * Converts the `trigger-rule` of a hook. What it demands of every request becomes `verification`
 * (a signature, or a token), `allowedAddresses` and, for the rest, the condition `when`. What can
 * be none of these is reported, and the webhook is disabled. "There" is adnanh/webhook.
 */
import { normalizeNumber, parseNumber } from '../../../../base/exact-number.ts';
import { isJsonObject } from '../../../../base/fields.ts';
import { isSecretName } from '../../../../base/log.ts';
import { AddressSet } from '../../../../base/network/address-set.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { findConditionProblems } from '../../../../webhooks/members/filters/condition.ts';
import {
  at, fillReferences, type HookReport, type HookText,
} from './hook-report.ts';
import { parseSecretTemplate } from './hook-template.ts';
import { compilePassing, compileTrue, type Rule } from './rule-conditions.ts';
import {
  isBeginningOfOther, parseExpression, type ExactExpression,
} from './rule-expression.ts';
import { findValuePath, textOf } from './request-values.ts';
import {
  createTokenVerification, isSignatureType, convertSignature, type SenderVerification,
} from './rule-verification.ts';

export type ConvertedRule = {
  readonly verification: SenderVerification | null;
  /** Further signatures, of which one is as good as `verification`. */
  readonly others: readonly PlacedVerification[];
  /** The path of the verifying token in the payload; null: the payload has none. */
  readonly tokenPath: string | null;
  /** null: every address may call. */
  readonly allowedAddresses: readonly string[] | null;
  /** null: it runs for every request that is let in. */
  readonly when: JsonObject | null;
};

type PlacedVerification = SenderVerification & { readonly pointer: string };

/** Any rule of a hook: also a signature or addresses, which conditions cannot express. */
type ParsedRule =
  | {
    readonly kind: 'all' | 'any'; readonly rules: readonly ParsedRule[]; readonly pointer: string;
  }
  | { readonly kind: 'not'; readonly rule: ParsedRule; readonly pointer: string }
  | ComparisonRule
  | {
    readonly kind: 'expression'; readonly pointer: string; readonly path: string;
    readonly expression: ExactExpression;
  }
  | { readonly kind: 'constant'; readonly value: boolean; readonly pointer: string }
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly pointer: string }
  | {
    readonly kind: 'signature'; readonly pointer: string;
    readonly verification: SenderVerification;
  }
  /** It has no counterpart, which is reported already. */
  | { readonly kind: 'lost'; readonly pointer: string };

type ComparisonRule = {
  readonly kind: 'value'; readonly pointer: string;
  /** The path of the value, as conditions name it. */
  readonly path: string;
  /** The text that the value must be. */
  readonly text: HookText;
  /** The value, as the hook names it. */
  readonly parameter: JsonObject;
};

const ADDRESSES_MAX = 100;
const SET_IN_VERIFICATION = 'give each sender a webhook of its own, with its own verification';

export function convertTriggerRule(
  trigger: JsonValue | undefined, report: HookReport,
): ConvertedRule {
  if (trigger === undefined || trigger === null) {
    return { verification: null, others: [], tokenPath: null, allowedAddresses: null, when: null };
  }
  const pointer = at(report.pointer, 'trigger-rule');
  const rule = parseRule(trigger, pointer, report);
  const demands = listDemands(rule);
  const verification = chooseVerification(demands, report);
  const rest = demands.filter((demand) => demand !== verification?.rule
    && demand.kind !== 'addresses' && demand.kind !== 'lost' && demand.kind !== 'signature');
  return {
    verification: verification?.verification ?? null,
    others: verification?.others ?? [],
    tokenPath: findTokenPath(verification?.rule),
    allowedAddresses: chooseAddresses(demands, report),
    when: compileRest(rest, { isOnlyRule: rest.length === 1 && rest[0] === rule, pointer, report }),
  };
}

function parseRule(rule: JsonValue, pointer: string, report: HookReport): ParsedRule {
  if (!isJsonObject(rule)) {
    report.lose(pointer, 'this is no rule', 'write and, or, not or match');
    return { kind: 'lost', pointer };
  }
  const kinds = ['and', 'or', 'not', 'match'].filter((kind) => (rule[kind] ?? null) !== null);
  const ignoredNames = Object.keys(rule).filter((name) => name !== kinds[0]);
  for (const name of ignoredNames) {
    report.note(at(pointer, name), 'beside another rule this counts for nothing', 'remove it');
  }
  const [kind] = kinds;
  const inner = kind === undefined ? undefined : rule[kind];
  switch (kind) {
    case undefined: return { kind: 'constant', value: false, pointer };
    case 'match': return parseMatch(inner, at(pointer, 'match'), report);
    case 'not': return {
      kind: 'not', pointer, rule: parseRule(inner ?? null, at(pointer, 'not'), report),
    };
    default: return parseList(kind === 'and' ? 'all' : 'any', inner, at(pointer, kind), report);
  }
}

function parseList(
  kind: 'all' | 'any', list: JsonValue | undefined, pointer: string, report: HookReport,
): ParsedRule {
  if (!Array.isArray(list)) {
    report.lose(pointer, 'this is no list of rules', 'write an array');
    return { kind: 'lost', pointer };
  }
  const rules = list.map((rule: JsonValue, index) => parseRule(rule, at(pointer, index), report));
  const addresses = rules.flatMap((rule) => rule.kind === 'addresses' ? rule.addresses : []);
  // One of several addresses is one list of addresses.
  return kind === 'any' && rules.length > 0 && rules.every((rule) => rule.kind === 'addresses')
    ? { kind: 'addresses', addresses: [...new Set(addresses)], pointer } : { kind, rules, pointer };
}

function parseMatch(
  match: JsonValue | undefined, pointer: string, report: HookReport,
): ParsedRule {
  const { type, parameter: givenParameter, ...members } = isJsonObject(match) ? match : {};
  const parameter = isJsonObject(givenParameter) ? givenParameter : {};
  const lost: ParsedRule = { kind: 'lost', pointer };
  if (type === 'ip-whitelist') return parseAddresses(members['ip-range'], pointer, report);
  if (isSignatureType(type)) {
    const verification =
      convertSignature({ type, parameter, secret: textOf(members['secret']), pointer }, report);
    return verification === null ? lost : { kind: 'signature', verification, pointer };
  }
  if (type === 'regex') return parseRegex(members['regex'], parameter, pointer, report);
  if (type !== 'value') {
    report.lose(pointer, `"${textOf(type)}" is no type of a rule`, 'write value');
    return lost;
  }
  const path = findValuePath(parameter);
  if (typeof path !== 'string') {
    report.lose(at(pointer, 'parameter'), path.reason, path.remedy);
    return lost;
  }
  const text = { value: textOf(members['value']), pointer: at(pointer, 'value') };
  return { kind: 'value', pointer, path, text, parameter };
}

function parseRegex(
  regex: JsonValue | undefined, parameter: JsonObject, pointer: string, report: HookReport,
): ParsedRule {
  const path = findValuePath(parameter);
  const expression = parseExpression(textOf(regex));
  const isExact = expression !== null && typeof path === 'string'
    && !isSecretName(textOf(parameter['name']))
    && !(expression.op === 'prefix' && path.startsWith('payload')
      && expression.texts.some(isBeginningOfOther));
  if (isExact) return { kind: 'expression', pointer, path, expression };
  reportExpression(textOf(regex), parameter, pointer, report);
  return { kind: 'lost', pointer };
}

function reportExpression(
  expression: string, parameter: JsonObject, pointer: string, report: HookReport,
): void {
  // The expression would tell of the secret.
  if (isSecretName(textOf(parameter['name']))) {
    return report.lose(pointer, 'a regular expression for a secret has no counterpart',
      'set the secret itself: manual custom-sender, "algorithm": "token"');
  }
  report.lose(pointer, `the regular expression ${expression} has no counterpart`,
    suggestOperator(expression, findValuePath(parameter)));
}

/** The remedy for an expression: a condition that says the same, if the expression is simple. */
function suggestOperator(expression: string, path: unknown): string {
  const [, start = '', literal = '', end = ''] =
    /^(\^?)(?:\.\*)?([\w/:@ -]+)(?:\.\*)?(\$?)$/.exec(expression) ?? [];
  const shownPath = typeof path === 'string' ? path : 'payload.ref';
  const isAfterAny = /^\^?\.\*/.test(expression);
  const isBeforeAny = /\.\*\$?$/.test(expression);
  let operator = 'contains';
  if (start !== '' && !isAfterAny) operator = end !== '' && !isBeforeAny ? 'eq' : 'prefix';
  else if (end !== '' && !isBeforeAny) operator = 'suffix';
  const condition = { path: shownPath, op: operator, value: literal === '' ? '…' : literal };
  return `add a condition to "when", such as ${JSON.stringify(condition)}`
    + (literal === '' ? ', with prefix, suffix, contains or in' : '');
}

function parseAddresses(
  ranges: JsonValue | undefined, pointer: string, report: HookReport,
): ParsedRule {
  const place = at(pointer, 'ip-range');
  const addresses = textOf(ranges).split(/\s+/).filter((address) => address !== '');
  const invalidAddress = addresses.find((address) => !new AddressSet().add(address));
  if (invalidAddress !== undefined || addresses.length === 0) {
    report.lose(place, `"${invalidAddress ?? ''}" is no address and no CIDR block`,
      'write the addresses into "allowedAddresses"');
    return { kind: 'lost', pointer };
  }
  for (const address of addresses) {
    if (!address.includes(':') || address.includes('/')) continue;
    report.note(place, `${address} meant its whole /32 there, and is one address here`,
      `write ${address}/32 into "allowedAddresses" if that was meant`);
  }
  return { kind: 'addresses', addresses, pointer };
}

/** The rules of which all must be true. */
function listDemands(rule: ParsedRule): readonly ParsedRule[] {
  return rule.kind === 'all' ? rule.rules.flatMap(listDemands) : [rule];
}

type ChosenVerification = {
  readonly verification: SenderVerification; readonly rule: ParsedRule;
  readonly others: readonly PlacedVerification[];
};

/**
 * A signature, else a token. A token could be compared in `when` as well, but is shown to all who
 * may read webhooks there. Further signatures are reported.
 */
function chooseVerification(
  demands: readonly ParsedRule[], report: HookReport,
): ChosenVerification | null {
  const [signature, ...others] = demands.filter((rule) => rule.kind === 'signature');
  for (const { pointer } of others) {
    report.lose(pointer, 'a second signature cannot be demanded', SET_IN_VERIFICATION);
  }
  if (signature?.kind === 'signature') {
    return { verification: signature.verification, rule: signature, others: [] };
  }
  const choice = demands.find((demand) => listSignatures(demand).length > 0);
  const [first, ...alternatives] = choice === undefined ? [] : listSignatures(choice);
  if (choice !== undefined && first !== undefined) {
    return { verification: first, rule: choice, others: alternatives };
  }
  const rule = demands.find((demand): demand is ComparisonRule => isToken(demand));
  if (rule === undefined) return null;
  return { rule, verification: createTokenVerification(rule, report), others: [] };
}

/** The signatures of which any is enough; empty: the rule is something else. */
function listSignatures(rule: ParsedRule): readonly PlacedVerification[] {
  if (rule.kind !== 'any') return [];
  const signatures = rule.rules.flatMap((inner) => inner.kind !== 'signature' ? []
    : [{ ...inner.verification, pointer: inner.pointer }]);
  return signatures.length === rule.rules.length ? signatures : [];
}

function findTokenPath(rule: ParsedRule | undefined): string | null {
  return rule?.kind === 'value' && rule.path.startsWith('payload.') ? rule.path : null;
}

function isToken(rule: ParsedRule): boolean {
  return isSecretRule(rule) && rule.path !== 'method' && rule.text.value.trim() === rule.text.value;
}

function isSecretRule(rule: ParsedRule): rule is ComparisonRule {
  if (rule.kind !== 'value' || rule.text.value === '') return false;
  const name = textOf(rule.parameter['name']);
  return parseSecretTemplate(rule.text.value) !== null
    || isSecretName(rule.path.startsWith('payload.') ? name.split('.').at(-1) ?? '' : name);
}

/** The first list of addresses. Of several all must hold, which cannot be set: that is reported. */
function chooseAddresses(
  demands: readonly ParsedRule[], report: HookReport,
): readonly string[] | null {
  const [first, ...others] = demands.filter((rule) => rule.kind === 'addresses');
  if (first?.kind !== 'addresses') return null;
  for (const { pointer } of others) {
    report.lose(pointer, 'two lists of addresses, of which both must hold, cannot be set',
      'write the addresses that are in both into "allowedAddresses"');
  }
  if (first.addresses.length <= ADDRESSES_MAX) return first.addresses;
  report.lose(first.pointer, `more than ${ADDRESSES_MAX} addresses cannot be allowed`,
    'write blocks such as 192.0.2.0/24 into "allowedAddresses"');
  return first.addresses.slice(0, ADDRESSES_MAX);
}

type RestOptions = {
  /**
   * Whether the rest is the whole rule of the hook: then it may pass while a value is missing, and
   * within an `and` it may not (rule-conditions.ts).
   */
  readonly isOnlyRule: boolean;
  readonly pointer: string;
  readonly report: HookReport;
};

/** The condition for the demands that nothing else expresses; null: there is none. */
function compileRest(
  rest: readonly ParsedRule[], { isOnlyRule, pointer, report }: RestOptions,
): JsonObject | null {
  const rules = rest.flatMap((rule) => {
    const expressibleRule = toExpressible(rule, report);
    return expressibleRule === null ? [] : [expressibleRule];
  });
  const [only] = rules;
  const formula = isOnlyRule && only !== undefined ? compilePassing(only)
    : compileTrue({ kind: 'all', rules });
  if (typeof formula === 'boolean') {
    if (!formula) report.lose(pointer, 'this rule is never true', 'delete the webhook');
    return null;
  }
  const when = formula as unknown as JsonObject;
  const [problem] = findConditionProblems(fillReferences(when), '');
  if (problem === undefined) return when;
  report.lose(pointer, `as a condition this rule ${problem.detail}`,
    'share it among several routes of the webhook');
  return null;
}

/** The rule in terms of conditions; null: a part of it cannot be said so, which is reported. */
function toExpressible(rule: ParsedRule, report: HookReport): Rule | null {
  switch (rule.kind) {
    case 'constant': return rule;
    case 'value': return toValueRule(rule, report);
    case 'expression': return toExpressionRule(rule, report);
    case 'not': {
      const inner = toExpressible(rule.rule, report);
      return inner === null ? null : { kind: 'not', rule: inner };
    }
    case 'all': case 'any': {
      const rules = rule.rules.map((inner) => toExpressible(inner, report));
      const expressibleRules = rules.filter((inner) => inner !== null);
      // Without one of its parts the rule would mean something else.
      return expressibleRules.length < rules.length ? null
        : { kind: rule.kind, rules: expressibleRules };
    }
    case 'signature':
      report.lose(rule.pointer, 'a signature is demanded of every request, or of none',
        SET_IN_VERIFICATION);
      return null;
    case 'addresses':
      report.lose(rule.pointer, 'addresses are demanded of every request, or of none',
        'give those who call from there a webhook of their own, with "allowedAddresses"');
      return null;
    case 'lost': return null;
  }
}

function toValueRule(rule: ComparisonRule, report: HookReport): Rule {
  const { path, text } = rule;
  if (isSecretRule(rule)) {
    report.note(rule.pointer, 'the secret of this rule is shown to all who may read webhooks',
      'have the sender send it where "verification" can look for it');
    return { kind: 'value', op: 'in', path, values: [report.referToSecret(text)] };
  }
  return { kind: 'value', op: 'in', path, values: listValues(path, text, report) };
}

function toExpressionRule(
  { path, pointer, expression: { op, texts } }: ParsedRule & { readonly kind: 'expression' },
  report: HookReport,
): Rule {
  const values = op === 'prefix' ? texts : texts.flatMap((value) =>
    listValues(path, { value, pointer: at(pointer, 'regex') }, report));
  return { kind: 'value', op, path, values };
}

/** Headers, parameters and methods are texts. */
function listValues(path: string, text: HookText, report: HookReport): JsonValue[] {
  return path.startsWith('payload') ? listLikeValues(text, report) : [text.value];
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** There a JSON value is compared as text, so that `"42"` is 42 as well. */
function listLikeValues({ value, pointer }: HookText, report: HookReport): JsonValue[] {
  if (value === 'true' || value === 'false') return [value, value === 'true'];
  if (value === '<nil>') return [value, null];
  if (NUMBER.test(value)) {
    const number = parseNumber(value);
    const isOnlyForm = typeof number === 'number' || String(normalizeNumber(number)) === value;
    if (!isOnlyForm) {
      report.note(pointer, `also a number that is written otherwise counts as ${value}`,
        'leave it so, unless the sender writes a number in two ways');
    }
    return [value, number];
  }
  if (/^(?:\[.*\]|\{.*\})$/s.test(value) && parseSecretTemplate(value) === null) {
    report.lose(pointer, 'an array or an object cannot be compared as a whole',
      'compare the members that matter');
  }
  return [value];
}
