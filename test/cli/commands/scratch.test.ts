import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { withScratch } from '../../../src/cli/commands/operation/engine-scratch.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

test('a command removes what killed ones left, and nothing of those that run', async () => {
  const directory = createTemporaryFolder();
  // No process has a number beyond 2^22.
  const remains = ['scratch-4194305-abc', `scratch-${process.pid}-abc`];
  const kept = ['books-000001.json', `scratch-${process.ppid}-abc`, 'scratch-abc'];
  for (const name of [...remains, ...kept]) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'file'), 'x');
  }
  const made = await withScratch(directory, async (scratch) => {
    assert.deepEqual(readdirSync(directory).toSorted(), [...kept, basename(scratch)].toSorted());
    return scratch;
  });
  assert.match(basename(made), new RegExp(`^scratch-${process.pid}-`));
  assert.deepEqual(readdirSync(directory).toSorted(), kept.toSorted());
});
