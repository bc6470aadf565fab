/** A test that fails leaves no process behind: run for real, as the runner runs it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from './children.ts';

const CHILDREN = new URL('children.ts', import.meta.url).href;

test('the children of a test that fails are ended, and so are those of its process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-children-'));
  try {
    const file = join(folder, 'fails.test.mjs');
    writeFileSync(file, `
      import { spawn } from 'node:child_process';
      import { test } from 'node:test';
      import { owned } from ${JSON.stringify(CHILDREN)};
      const start = () => owned(spawn('sleep', ['600'], { stdio: 'ignore' }));
      test('fails', () => {
        process.stderr.write('pid ' + start().pid + '\\n');
        throw new Error('as it should');
      });
      process.stderr.write('pid ' + start().pid + '\\n');`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stderr, status } = spawnSync(process.execPath,
      ['--import', import.meta.resolve('tsx'), file], { encoding: 'utf8', timeout: 120_000, env });
    assert.equal(status, 1, stderr);
    const pids = [...stderr.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    assert.equal(pids.length, 2);
    await until(() => !pids.some(isRunning), 'both have ended');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** One that has ended may stay as a zombie, where nobody asks for it. */
function isRunning(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
