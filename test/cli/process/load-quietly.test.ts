import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compile } from '../../support/compile.ts';

const MODULE = resolve(import.meta.dirname, '../../../src/cli/process/load-quietly.ts');

const compiled = mkdtempSync(join(tmpdir(), 'hookshelf-quiet-'));
after(() => rmSync(compiled, { recursive: true }));

const PROGRAM = `
  const { loadQuietly } = await import('${pathToFileURL(compile(MODULE, compiled)).href}');
  function hotWhileLoading(sum) { for (let at = 0; at < 1e6; at += 1) sum += at & 3; return sum; }
  function hotAfterwards(sum) { for (let at = 0; at < 1e6; at += 1) sum += at & 5; return sum; }
  function hotAfterFailure(sum) { for (let at = 0; at < 1e6; at += 1) sum += at & 7; return sum; }
  console.error(await loadQuietly(() => Promise.resolve(hotWhileLoading(0))));
  console.error(hotAfterwards(0));
  await loadQuietly(() => Promise.reject(new Error('no such module'))).catch(console.error);
  console.error(hotAfterFailure(0));
`;

// The trace is V8's own standard output, which nothing else may be written between.
test('optimizes nothing while modules load, and everything as usual afterwards', () => {
  const { stdout, stderr } = runTraced([]);
  assert.match(stderr, /^1500000$/m);
  assert.match(stderr, /no such module/);
  assert.doesNotMatch(stdout, /hotWhileLoading/);
  assert.match(stdout, /hotAfterwards/);
  assert.match(stdout, /hotAfterFailure/);
});

// A Node 26 that was told --jitless ends with a crash once code is compiled.
for (const flag of ['--no-opt', '--no_turbofan', '--jitless']) {
  test(`optimizes nothing afterwards either where ${flag} was given`, () => {
    const { stdout, stderr } = runTraced([flag]);
    assert.match(stderr, /no such module/);
    assert.doesNotMatch(stdout, /compiling .*hot.*TURBOFAN/);
  });
}

function runTraced(flags: readonly string[]): { stdout: string; stderr: string } {
  return spawnSync(process.execPath, [
    ...flags, '--trace-opt', '--input-type=module', '--eval', PROGRAM,
  ], { encoding: 'utf8' });
}
