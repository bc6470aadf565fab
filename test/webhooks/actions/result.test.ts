import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { toActionResult } from '../../../src/webhooks/actions/action-registry.ts';

/** What JavaScript may make of `ok` and `fail`. */
const ok = ActionResult.ok as (...given: unknown[]) => unknown;
const fail = ActionResult.fail as (...given: unknown[]) => unknown;

const SOUND: readonly [unknown, ActionResult][] = [
  [ok(), new ActionResult(true, null, {})],
  [ok([1], 'done'), new ActionResult(true, 'done', [1])],
  [ok(null), new ActionResult(true, null, {})],
  [fail(undefined, null), new ActionResult(false, null, {})],
  [{ success: true }, new ActionResult(true, null, {})],
  [{ success: false, message: 'no', data: ['a'] }, new ActionResult(false, 'no', ['a'])],
  [{ success: true, message: null, data: null }, new ActionResult(true, null, {})],
];

test('what is sound is a result, made by a class or plain', () => {
  for (const [outcome, expected] of SOUND) assert.deepEqual(toActionResult(outcome), expected);
});

const UNSOUND: readonly unknown[] = [
  fail(5), fail(new Error('planted')), ok('text'), ok({}, { a: 1 }), ok(7), undefined, null, 'yes',
  {}, { success: 1 }, { success: true, message: 5 }, { success: true, data: 'text' },
];

test('what is not is an error, whether a class made it or not', () => {
  for (const outcome of UNSOUND) {
    assert.throws(() => toActionResult(outcome), TypeError, JSON.stringify(outcome));
  }
});
