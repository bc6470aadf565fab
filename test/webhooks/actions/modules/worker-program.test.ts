import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { createWorkerProgram } from '../../../../src/webhooks/actions/modules/worker-program.ts';

const FILE = 'src/webhooks/actions/modules/worker-program.ts';

test('the program of the action worker has all that it uses of its file', () => {
  const root = resolve(import.meta.dirname, '../../../..');
  const declarations = readFileSync(join(root, FILE), 'utf8')
    .matchAll(/^(?:export )?(?:async )?(?:function|const) (\w+)/gm);
  const program = createWorkerProgram();
  const used = [...declarations].map(([, name = '']) => name)
    .filter((name) => new RegExp(`\\b${name}\\b`).test(program));
  assert.ok(used.length > 20);
  assert.deepEqual(used.filter((name) => !program.includes(`function ${name}(`)), []);
});
