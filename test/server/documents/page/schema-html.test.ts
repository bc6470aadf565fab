import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderRule } from '../../../../src/server/documents/page/schema-html.ts';

type RuleCase = readonly [schema: Parameters<typeof renderRule>[0], rule: string];

const RULES: readonly RuleCase[] = [
  [{ minimum: 0 }, 'at least 0'],
  [{ minimum: 1 }, 'at least 1'],
  [{ minimum: 0, maximum: 9 }, '0–9'],
  [{ maximum: 9 }, 'at most 9'],
  [{ minLength: 1 }, 'not empty'],
  [{ minLength: 2 }, 'at least 2 characters'],
  [{ minLength: 1, maxLength: 9 }, '1–9 characters'],
  [{ maxLength: 9 }, 'at most 9 characters'],
];

test('the limits of a value are told, a minimum of 0 too', () => {
  for (const [schema, rule] of RULES) {
    assert.equal(renderRule(schema), `<span class="note">${rule}</span>`);
  }
});

test('a value without limits has no rule, nor has a text that may be empty', () => {
  assert.equal(renderRule({}), '');
  assert.equal(renderRule({ minLength: 0 }), '');
});
