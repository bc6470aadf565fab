/** A test that fails leaves no process behind: run for real, as the runner runs it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { owned } from './children.ts';
import { isRunning } from './is-running.ts';
import { until } from './until.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

const CHILDREN = new URL('children.ts', import.meta.url).href;

test('the children of a test that fails are ended, and so are those of its process', async () => {
  const folder = createTemporaryFolder();
  const file = join(folder, 'fails.test.mjs');
  writeFileSync(file, `
    import { spawn } from 'node:child_process';
    import { test } from 'node:test';
    import { owned } from ${JSON.stringify(CHILDREN)};
    const start = (where) => {
      const { pid } = owned(spawn('sleep', ['600'], { stdio: 'ignore' }));
      process.stderr.write('started in ' + where + ': ' + pid + '\\n');
    };
    test('fails', () => {
      start('test');
      throw new Error('as it should');
    });
    start('file');`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runner = owned(spawn(process.execPath,
    ['--import', import.meta.resolve('tsx'), '--test-reporter=tap', file],
    { stdio: ['ignore', 'pipe', 'pipe'], env }));
  let told = '';
  for (const stream of [runner.stdout, runner.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void (told += text));
  }
  const ended = once(runner, 'close');
  const pid = (where: string): number =>
    Number(new RegExp(`^started in ${where}: (\\d+)$`, 'm').exec(told)?.[1] ?? NaN);
  await until('it has failed', () => /^not ok 1/m.test(told) && pid('test') > 0);
  await until('the child of the test has ended', () => !isRunning(pid('test')));
  assert.ok(isRunning(pid('file')), told);
  // That one keeps the process alive, until whoever runs it has waited too long.
  runner.kill('SIGTERM');
  assert.deepEqual(await ended, [1, null], told);
  await until('the child of the file has ended', () => !isRunning(pid('file')));
});
