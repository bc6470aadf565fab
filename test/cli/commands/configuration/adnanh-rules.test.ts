/** Conditions made of rules hold for the requests that adnanh/webhook would run its command for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { HookReport } from '../../../../src/cli/commands/configuration/adnanh/hook-report.ts';
import {
  convertTriggerRule,
} from '../../../../src/cli/commands/configuration/adnanh/trigger-rule.ts';
import type { Condition } from '../../../../src/webhooks/members/filters/condition.ts';
import { Facts } from '../../../../src/webhooks/members/filters/facts.ts';
import { prepareCondition } from '../../../../src/webhooks/members/filters/prepare-condition.ts';
import { below, createRandom, type Random } from '../../../support/random.ts';

/** What a rule gives there: a value, and whether something that it needs was missing. */
type Outcome = { readonly isTrue: boolean; readonly isMissing: boolean };
/** It ends the evaluation with an error, so that nothing runs. */
class HardError extends Error {}

const VALUES = ['a', '42', 'true', 'null', '<nil>'];
const EXPRESSIONS = [
  '.*', '', '^x', '^x.*', '^x.*$', '^.*$', 'xy|z', 'yz$', '.*z$', '^(x|xy)z$', 'a',
  '^(xy|b.*)$', '^x.+$', '^.+$', '^x.+', '^(y|x).+', '^.+',
  '(?i)^X(Y?Z)?$', '^[x-z]', '^x+', '^a$|^x|yz$', '^(x[yz]|b+)',
  '^[0-9]{2}$', '^\\d\\d$', '|a',
];
const NAMES = ['x', 'o.x', 'o.p.x'];

/** The rules for `and`, `or`, `not` and `match` as its documentation and behaviour have them. */
function evaluate(rule: JsonObject, payload: JsonValue): Outcome {
  const { and, or, not, match } = rule as Readonly<Record<string, never>>;
  if (and !== undefined) return evaluateAnd(and, payload);
  if (or !== undefined) return evaluateOr(or, payload);
  if (not !== undefined) {
    const { isTrue, isMissing } = evaluate(not, payload);
    return { isTrue: !isTrue, isMissing };
  }
  return match === undefined ? { isTrue: false, isMissing: false } : evaluateMatch(match, payload);
}

function evaluateAnd(rules: readonly JsonObject[], payload: JsonValue): Outcome {
  for (const rule of rules) {
    const { isTrue, isMissing } = evaluate(rule, payload);
    if (isMissing || !isTrue) return { isTrue: false, isMissing };
  }
  return { isTrue: true, isMissing: false };
}

function evaluateOr(rules: readonly JsonObject[], payload: JsonValue): Outcome {
  return { isTrue: rules.some((rule) => evaluate(rule, payload).isTrue), isMissing: false };
}

function evaluateMatch(match: JsonObject, payload: JsonValue): Outcome {
  const { type, value, regex, parameter } =
    match as { type: string; value: string; regex: string; parameter: { name: string } };
  let current: unknown = payload;
  for (const step of parameter.name.split('.')) {
    if (current === null) throw new HardError();
    if (typeof current !== 'object' || !Object.hasOwn(current as object, step)) {
      return { isTrue: false, isMissing: true };
    }
    current = (current as Record<string, unknown>)[step];
  }
  const text = current === null ? '<nil>'
    : typeof current === 'object' ? JSON.stringify(current) : String(current);
  const isTrue = type !== 'regex' ? text === value
    : new RegExp(regex.replace(/^\(\?i\)/, ''), regex.startsWith('(?i)') ? 'iu' : 'u').test(text);
  return { isTrue, isMissing: false };
}

function makeRule(random: Random, depth: number): JsonObject {
  const kind = depth === 0 ? 3 : below(random, 4);
  const makeList = (): JsonObject[] =>
    Array.from({ length: 1 + below(random, 3) }, () => makeRule(random, depth - 1));
  if (kind === 0) return { and: makeList() };
  if (kind === 1) return { or: makeList() };
  if (kind === 2) return { not: makeRule(random, depth - 1) };
  const parameter = { source: 'payload', name: NAMES[below(random, NAMES.length)] ?? '' };
  const regex = EXPRESSIONS[below(random, EXPRESSIONS.length)] ?? '';
  if (below(random, 2) === 0) return { match: { type: 'regex', regex, parameter } };
  return {
    match: {
      type: 'value', value: VALUES[below(random, VALUES.length)] ?? '',
      parameter,
    },
  };
}

const SCALARS: readonly JsonValue[] = [
  'a', 42, '42', true, 'true', null, 'null', false, 'b', 'xyz', 'xy', 'x\nz', 'z', 'x\n', '',
];

function makePayload(random: Random): JsonValue {
  const scalar = (): JsonValue => SCALARS[below(random, SCALARS.length)] ?? null;
  const member = (name: string, value: JsonValue): JsonObject =>
    below(random, 4) === 0 ? {} : { [name]: value };
  return {
    ...member('x', scalar()),
    ...member('o', below(random, 4) === 0 ? scalar() : {
      ...member('x', scalar()),
      ...member('p', below(random, 3) === 0 ? scalar() : member('x', scalar())),
    }),
  };
}

function isRunThere(rule: JsonObject, payload: JsonValue): boolean {
  try {
    return evaluate(rule, payload).isTrue;
  } catch (thrown) {
    assert.ok(thrown instanceof HardError);
    return false;
  }
}

const deniesPart = (rule: JsonObject): boolean =>
  /"not".*"regex":"(?:xy\|z|a)"/.test(JSON.stringify(rule));

test('a condition holds for a request when the rule that it was made of runs the command', () => {
  const random = createRandom(31);
  const counts = { run: 0, refused: 0 };
  for (let round = 0; round < 3000; round += 1) {
    const rule = makeRule(random, below(random, 4));
    const report = new HookReport('a', '/0', new Set());
    const { when } = convertTriggerRule(rule, report);
    if (report.isDisabled) continue;
    const matches = when === null ? () => true : prepareCondition(when as Condition);
    for (let tries = 0; tries < 8; tries += 1) {
      const payload = makePayload(random);
      const expected = isRunThere(rule, payload);
      counts[expected ? 'run' : 'refused'] += 1;
      const facts = new Facts({ payload: () => payload, event: () => null });
      // Where a part of a text must not be, only texts are let through.
      if (expected && deniesPart(rule)) continue;
      assert.equal(matches(facts), expected, JSON.stringify({ rule, payload, when }, null, 1));
    }
  }
  assert.ok(counts.run > 2000 && counts.refused > 2000, JSON.stringify(counts));
});
