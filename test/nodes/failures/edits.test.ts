/** Whether what is planted still fits the program; how it is found out takes minutes for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { editedSource } from '../support/changed-build.ts';
import { NEXT_FORMAT, PLANTS } from './edits.ts';
import { SCENARIOS } from './scenarios.ts';

const sets = [...Object.entries(PLANTS).map(([name, { edits }]) => [name, edits] as const),
  ['the next release', NEXT_FORMAT] as const];

for (const [name, edits] of sets) {
  test(`has its places in the program: ${name}`, () => {
    for (const [file] of edits) {
      const text = editedSource(file, edits);
      assert.doesNotThrow(() => transformSync(text, { loader: 'ts' }), file);
    }
  });
}

test('each fault is shown by something', () => {
  for (const { scenario } of Object.values(PLANTS)) assert.ok(Object.hasOwn(SCENARIOS, scenario));
});
