/** What the runs in `.ci` say, tried on small cases. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const TESTS = `
import { test } from 'node:test';
test('one', { skip: 'zsh is not installed' }, () => {});
test('two', { skip: true }, () => {});
test('three', (t) => t.test('four', { skip: 'zsh is not installed' }, () => {}));
`;

test('a run tells how many tests were skipped and why, and ends with the summary', () =>
  inFolder((folder) => {
    const file = join(folder, 'some.test.mjs');
    writeFileSync(file, TESTS);
    const { stdout, status } = runTests(file);
    assert.equal(status, 0, stdout);
    const told = stdout.slice(stdout.indexOf('ℹ')).replace(/[\d.]+\n$/, 'n\n');
    assert.equal(told, [
      'ℹ 3 skipped:', 'ℹ   2, zsh is not installed: one; four', 'ℹ   1, no reason given: two',
      'ℹ tests 4', 'ℹ suites 0', 'ℹ pass 1', 'ℹ fail 0', 'ℹ cancelled 0', 'ℹ skipped 3', 'ℹ todo 0',
      'ℹ duration_ms n', '',
    ].join('\n'));
  }));

test('a run without skips tells none, and one that fails ends with 1', () => inFolder((folder) => {
  const file = join(folder, 'some.test.mjs');
  const begin = 'import { test } from \'node:test\';\n';
  writeFileSync(file, `${begin}test('one', () => {});`);
  assert.doesNotMatch(runTests(file).stdout, /skipped:/);
  writeFileSync(file, `${begin}test('one', () => { throw new Error('no'); });`);
  assert.equal(runTests(file).status, 1);
}));

test('a run of many files tells how far it is, then the failing tests, then the summary', () =>
  inFolder((folder) => {
    const files = Array.from({ length: 14 }, (_, index) => {
      const file = join(folder, `${index}.test.mjs`);
      writeFileSync(file, `import { test } from 'node:test';
        test('${index}', (t) => t.test('within', () => { if (${index} === 3) throw 'no'; }));`);
      return file;
    });
    const { stdout } = runTests(...files);
    assert.match(stdout, /^file \d+ of 14, \d failed\n/);
    assert.doesNotMatch(stdout, /✔/);
    const failing = stdout.slice(stdout.indexOf('failing tests:'));
    assert.match(failing, /test at .*\/3.test.mjs:2:\d+\n.*within.*\n *'no'\n/);
    assert.match(failing, /\nℹ tests 28\n(ℹ \w+ \d+\n){6}ℹ duration_ms [\d.]+\n$/);
  }));

test('files that touch nothing of their process share one, and failures name their source', () =>
  inFolder((folder) => {
    writeFileSync(join(folder, 'once.mjs'), "console.log('a new process');");
    const files = ['one', 'two', 'alone'].map((name) => {
      const file = join(folder, `${name}.test.mjs`);
      writeFileSync(file, `import { test } from 'node:test';
        import './once.mjs';
        ${name === 'alone' ? 'process.exitCode = 0;' : ''}
        test('fails in ${name}', () => { throw new Error('no'); });`);
      return file;
    });
    const { stdout, status } = runTests(...files);
    assert.equal(status, 1);
    assert.equal(stdout.split('a new process').length - 1, 2, stdout);
    for (const name of ['one', 'two', 'alone']) {
      assert.match(stdout, new RegExp(`test at .*/${name}.test.mjs:4:9\\n.*fails in ${name}`));
      assert.match(stdout, new RegExp(`at .*/${name}.test.mjs:4:\\d+\\)`));
    }
  }));

test('a seed chooses mistakes in a source, and its tests find them', () => {
  const run = () => spawnSync(process.execPath,
    ['.ci/faults.mjs', 'base/text/edit-distance.ts', '--count', '2', '--seed', '3'],
    { cwd: ROOT, encoding: 'utf8', env: environment(), timeout: 240_000 });
  const { stdout, stderr } = run();
  assert.equal(stderr, '');
  const places = [...stdout.matchAll(/src\/base\/text\/edit-distance\.ts:\d+ [^(]+/g)]
    .map(String);
  assert.equal(new Set(places).size, 2, stdout);
  assert.match(stdout, /\n[12] of 2 mistakes found in base\/text\/edit-distance.ts, seed 3\n$/);
  const again = run().stdout;
  assert.ok(places.every((place) => again.includes(place)), again);
});

function runTests(...files: readonly string[]) {
  return spawnSync(process.execPath, ['.ci/test.mjs', ...files], {
    cwd: ROOT, encoding: 'utf8', env: environment(), timeout: 120_000,
  });
}

/** Our own runner told this process that it is a part of it. */
function environment() {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return env;
}
