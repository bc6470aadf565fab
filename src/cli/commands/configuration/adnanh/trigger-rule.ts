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
import { findNearest } from '../../../../base/text/nearest.ts';
import {
  findConditionProblems, type Condition,
} from '../../../../webhooks/members/filters/condition.ts';
import {
  at, fillReferences, type HookReport, type HookText,
} from './hook-report.ts';
import { parseSecretTemplate } from './hook-template.ts';
import { compilePassing, compileTrue, joinAll, type Rule } from './rule-conditions.ts';
import {
  isTrueOfOthers, parseExpression, type TextComparison,
} from './rule-expression.ts';
import { findValuePath, textOf } from './request-values.ts';
import {
  createTokenVerification, isSignatureType, convertSignature, type SenderVerification,
} from './rule-verification.ts';

export type ConvertedRule = {
  readonly verification: SenderVerification | null;
  /** Further signatures, of which one is as good as `verification`. */
  readonly others: readonly PlacedVerification[];
  /** The path of the token that verifies the sender; null: there is none. */
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
    /** One of them must hold. */
    readonly comparisons: readonly TextComparison[];
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

const KINDS = ['and', 'or', 'not', 'match'];
const TYPES = [
  'value', 'regex', 'ip-whitelist', 'payload-hmac-sha256', 'payload-hmac-sha1',
  'payload-hmac-sha512', 'scalr-signature',
];
const ADDRESSES_MAX = 100;
/** Names of headers and parameters that are compared with a fixed text to keep strangers out. */
const TOKEN_NAME = /^(?:s|(?:x[-_])?sign|(?:[a-z\d]+[-_])*(?:key|auth|pass|pw))$/i;
/** Keys that name a record, a queue or the like, and that nobody has to guess. */
const RECORD_KEY_NAME = new RegExp('(?:^|[-_])(?:idempotency|dedup\\w*|partition|routing|ordering'
  + '|sort|range|shard|row|primary|foreign|hash|cache|surrogate|object|public|group|project|issue'
  + '|entity|record|item|message|event|job|task|translation)[-_]key$', 'i');
/** Takes the place of what is lost, so that a webhook that is switched on runs nothing. */
const NEVER: Condition = { path: 'method', op: 'eq', value: 'never: a part of the rule is lost' };
const SET_IN_VERIFICATION = 'give each sender a webhook of its own, with its own verification';

export function convertTriggerRule(
  trigger: JsonValue | undefined, report: HookReport,
): ConvertedRule {
  const pointer = at(report.pointer, 'trigger-rule');
  const rule: ParsedRule = (trigger ?? null) === null ? { kind: 'constant', value: true, pointer }
    : parseRule(trigger ?? null, pointer, report);
  const demands = listDemands(rule);
  const verification = chooseVerification(demands, report);
  const rest = demands.filter((demand) => demand !== verification?.rule
    && demand.kind !== 'addresses' && listSignatures(demand).length === 0);
  return {
    verification: verification?.verification ?? null,
    others: verification?.others ?? [],
    tokenPath: findTokenPath(verification?.rule),
    allowedAddresses: chooseAddresses(demands, report),
    when: compileRest(rest, rest.length === 1 && rest[0] === rule, report),
  };
}

function parseRule(rule: JsonValue, pointer: string, report: HookReport): ParsedRule {
  if (!isJsonObject(rule)) {
    return lose(report, pointer, 'this is no rule', 'write and, or, not or match');
  }
  const kinds = KINDS.filter((kind) => (rule[kind] ?? null) !== null);
  const [kind] = kinds;
  const ignoredNames = Object.keys(rule).filter((name) => name !== kind);
  for (const name of ignoredNames) {
    const near = findNearest(name, KINDS);
    if (kind === undefined && near !== null && near !== name) {
      report.lock(at(pointer, name), 'this is no rule', `did you mean ${near}?`);
    } else report.note(at(pointer, name), 'this counts for nothing', 'remove it');
  }
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
  if (!Array.isArray(list)) return lose(report, pointer, 'this is no list', 'write an array');
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
  if (type === 'ip-whitelist') return parseAddresses(members['ip-range'], pointer, report);
  if (isSignatureType(type)) {
    const verification =
      convertSignature({ type, parameter, secret: textOf(members['secret']), pointer }, report);
    return verification === null ? { kind: 'lost', pointer }
      : { kind: 'signature', verification, pointer };
  }
  if (type !== 'value' && type !== 'regex') {
    const name = textOf(type);
    return lose(report, pointer, `"${name}" is no type of a rule`, suggestType(name));
  }
  const path = findValuePath(parameter);
  if (typeof path !== 'string') {
    return lose(report, at(pointer, 'parameter'), path.reason, path.remedy);
  }
  if (type === 'regex') {
    return parseRegex(
      textOf(members['regex']), path, textOf(parameter['name']), pointer, report);
  }
  const text = { value: textOf(members['value']), pointer: at(pointer, 'value') };
  return { kind: 'value', pointer, path, text, parameter };
}

function lose(report: HookReport, pointer: string, reason: string, remedy: string): ParsedRule {
  report.lock(pointer, reason, remedy);
  return { kind: 'lost', pointer };
}

function suggestType(type: string): string {
  if (/^payload-h/.test(type)) return 'have the sender sign with SHA-256: payload-hmac-sha256';
  const near = findNearest(type, TYPES);
  return near === null ? `write one of ${TYPES.join(', ')}` : `did you mean ${near}?`;
}

function parseRegex(
  expression: string, path: string, name: string, pointer: string, report: HookReport,
): ParsedRule {
  const comparisons = parseExpression(expression);
  const isInPayload = path.startsWith('payload');
  // The expression would tell of the secret.
  if (isSecretName(name)) {
    return lose(report, pointer, 'a regular expression for a secret has no counterpart',
      'set the secret itself: manual custom-sender, "algorithm": "token"');
  }
  if (comparisons === null || isInPayload && comparisons.some(isTrueOfOthers)) {
    return lose(report, pointer, `the regular expression ${expression} has no counterpart`,
      suggestCondition(expression, path));
  }
  if (isInPayload && comparisons.some(({ op, texts }) =>
    op === 'contains' && !texts.includes(''))) {
    report.note(pointer, 'the text is looked for in other values than texts there, and not here',
      'leave it so, where the sender sends a text');
  }
  return { kind: 'expression', pointer, path, comparisons };
}

/** The remedy for an expression: its beginning as a condition, where that is a text. */
function suggestCondition(expression: string, path: string): string {
  const [, start, text = ''] =
    /^(\^?)((?:(?:[\w/:@ -]|\\[./-])(?![*+?{]))*)/.exec(expression) ?? [];
  const condition = {
    path, op: start === '^' ? 'prefix' : 'contains', value: text.replaceAll('\\', ''),
  };
  return 'say in "when" what it lets through, '
    // The beginning that several have lets much more through.
    + (text === '' || expression.includes('|') ? 'with "any" of prefix, suffix, contains or in'
      : `such as ${JSON.stringify(condition)}, if that is not too much`);
}

function parseAddresses(
  ranges: JsonValue | undefined, pointer: string, report: HookReport,
): ParsedRule {
  const place = at(pointer, 'ip-range');
  const addresses = textOf(ranges).split(/\s+/).filter((address) => address !== '');
  const invalidAddress = addresses.find((address) => !new AddressSet().add(address));
  if (invalidAddress !== undefined || addresses.length === 0) {
    return lose(report, place, `"${invalidAddress ?? ''}" is no address and no CIDR block`,
      'write the addresses into "allowedAddresses"');
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
  const [signed, ...others] = demands.filter((demand) => listSignatures(demand).length > 0);
  for (const { pointer } of others) {
    report.lock(pointer, 'a second signature cannot be demanded', SET_IN_VERIFICATION);
  }
  const [first, ...alternatives] = signed === undefined ? [] : listSignatures(signed);
  if (signed !== undefined && first !== undefined) {
    return { verification: first, rule: signed, others: alternatives };
  }
  const rule = demands.find((demand): demand is ComparisonRule => isToken(demand));
  if (rule === undefined) return null;
  return { rule, verification: createTokenVerification(rule, report), others: [] };
}

/** The signatures of which any is enough; empty: the rule is something else. */
function listSignatures(rule: ParsedRule): readonly PlacedVerification[] {
  if (rule.kind === 'signature') return [{ ...rule.verification, pointer: rule.pointer }];
  const lists = rule.kind === 'any' ? rule.rules.map(listSignatures) : [];
  return lists.every((list) => list.length > 0) ? lists.flat() : [];
}

function findTokenPath(rule: ParsedRule | undefined): string | null {
  return rule?.kind === 'value' ? rule.path : null;
}

function isToken(rule: ParsedRule): boolean {
  return isSecretRule(rule) && rule.path !== 'method' && rule.text.value.trim() === rule.text.value;
}

function isSecretRule(rule: ParsedRule): rule is ComparisonRule {
  if (rule.kind !== 'value' || rule.text.value === '') return false;
  const name = textOf(rule.parameter['name']);
  return parseSecretTemplate(rule.text.value) !== null
    || isSecretName(rule.path.startsWith('payload.') ? name.split('.').at(-1) ?? '' : name)
    || /^(?:headers|query)\./.test(rule.path) && TOKEN_NAME.test(name)
      && !RECORD_KEY_NAME.test(name);
}

/** The first list of addresses. Of several all must hold, which cannot be set: that is reported. */
function chooseAddresses(
  demands: readonly ParsedRule[], report: HookReport,
): readonly string[] | null {
  const [first, ...others] = demands.filter((rule) => rule.kind === 'addresses');
  if (first?.kind !== 'addresses') return null;
  for (const { pointer } of others) {
    report.lock(pointer, 'two lists of addresses, of which both must hold, cannot be set',
      'write the addresses that are in both into "allowedAddresses"');
  }
  if (first.addresses.length <= ADDRESSES_MAX) return first.addresses;
  report.lock(first.pointer, `more than ${ADDRESSES_MAX} addresses cannot be allowed`,
    'write blocks such as 192.0.2.0/24 into "allowedAddresses"');
  return first.addresses.slice(0, ADDRESSES_MAX);
}

/**
 * The condition for the demands that nothing else expresses; null: it is always true. `isOnlyRule`
 * says whether the rest is the whole rule of the hook: then it may pass while a value is missing,
 * and within an `and` it may not (rule-conditions.ts).
 */
function compileRest(
  rest: readonly ParsedRule[], isOnlyRule: boolean, report: HookReport,
): JsonObject | null {
  const pointer = at(report.pointer, 'trigger-rule');
  const rules = rest.flatMap((rule) => {
    const expressibleRule = toExpressible(rule, report);
    return expressibleRule === null ? [] : [expressibleRule];
  });
  const [only] = rules;
  const formula = isOnlyRule && only !== undefined ? compilePassing(only)
    : compileTrue({ kind: 'all', rules });
  if (formula === false) {
    report.lock(pointer, 'this rule is never true', 'delete the webhook');
    return compileRest([], false, report);
  }
  const condition = joinAll([formula, ...report.isLocked ? [NEVER] : []]);
  if (typeof condition === 'boolean') return null;
  const when = condition as unknown as JsonObject;
  const [problem] = findConditionProblems(fillReferences(when), '');
  if (problem === undefined) return when;
  report.lock(pointer, `as a condition this rule ${problem.detail}`,
    'share it among several routes of the webhook');
  return compileRest([], false, report);
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
      report.lock(rule.pointer, 'a signature is demanded of every request, or of none',
        SET_IN_VERIFICATION);
      return null;
    case 'addresses':
      report.lock(rule.pointer, 'addresses are demanded of every request, or of none',
        'give those who call from there a webhook of their own, with "allowedAddresses"');
      return null;
    case 'lost': return null;
  }
}

function toValueRule(rule: ComparisonRule, report: HookReport): Rule {
  const { path, text } = rule;
  const compareWith = (values: readonly JsonValue[]): Rule =>
    ({ kind: 'value', path, comparisons: [{ op: 'in', values }] });
  if (isSecretRule(rule)) {
    report.note(rule.pointer, 'the secret of this rule is shown to all who may read webhooks',
      'have the sender send it where "verification" can look for it');
    return compareWith([report.referToSecret(text)]);
  }
  return compareWith(listValues(path, text, report));
}

function toExpressionRule(
  { path, pointer, comparisons }: ParsedRule & { readonly kind: 'expression' }, report: HookReport,
): Rule {
  return {
    kind: 'value', path, comparisons: comparisons.map(({ op, texts }) => ({
      op, values: op !== 'in' ? texts : texts.flatMap((value) =>
        listValues(path, { value, pointer: at(pointer, 'regex') }, report)),
    })),
  };
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
    report.lock(pointer, 'an array or an object cannot be compared as a whole',
      'compare the members that matter');
  }
  return [value];
}
