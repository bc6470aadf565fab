/** The types of the built package. What runs long tests makes them; a run by hand may find none. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

export function makeTypes(): void {
  if (existsSync(join(ROOT, 'dist/types/index.d.ts'))) return;
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, '.ci/types.mjs')],
    { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
}
