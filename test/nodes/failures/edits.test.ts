/** Whether what is planted still fits the program; how it is found out takes minutes for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFunction } from 'node:vm';
import { DIST, edited } from '../support/changed-build.ts';
import { NEXT_FORMAT, PLANTS } from './edits.ts';
import { SCENARIOS } from './scenarios.ts';

const sets = [...Object.entries(PLANTS).map(([name, { edits }]) => [name, edits] as const),
  ['the next release', NEXT_FORMAT] as const];

for (const [name, edits] of sets) {
  test(`has its places in the program: ${name}`, () => {
    for (const edit of edits) {
      const text = edited(DIST, edit);
      assert.doesNotThrow(() => compileFunction(text), edit[0]);
    }
  });
}

test('each fault is shown by something', () => {
  for (const { scenario } of Object.values(PLANTS)) assert.ok(Object.hasOwn(SCENARIOS, scenario));
});
