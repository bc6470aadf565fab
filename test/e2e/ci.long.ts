/** What the runs in `.ci` say and install, tried on small cases. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../support/shell.ts';
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

test('missing programs are installed by root, one by one, and what cannot be is told', () =>
  inFolder((folder) => {
    // The system has no fish; all else installs.
    const apt = 'case "$*" in *fish) exit 100;; esac';
    const { stdout, calls } = installTools(folder, 0, apt);
    assert.match(stdout, /^installed curl$/m);
    assert.match(stdout, /^cannot install fish$/m);
    assert.match(stdout, /^installed chromium$/m);
    assert.match(calls[0] ?? '', /^update /);
    // pgbouncer is also looked for where this system may have it.
    const packages = calls.slice(1).map((call) => call.split(' ').at(-1));
    assert.deepEqual(packages.filter((name) => name !== 'pgbouncer'), [
      'curl', 'jq', 'openssl', 'strace', 'php-cli', 'php-curl', 'zsh', 'fish', 'chromium',
      'pandoc', 'bibutils', 'prometheus', 'etcd-server',
    ]);
  }));

test('without root, apt-get or a network the run goes on without them', () => inFolder((folder) => {
  const asNobody = installTools(folder, 65534, 'exit 0');
  assert.match(asNobody.stdout, /^missing: curl jq .*; install them as root/);
  assert.deepEqual(asNobody.calls, []);
  assert.match(installTools(folder, 0, null).stdout, /^missing: curl jq .*; install them as root/);
  const offline = installTools(folder, 0, 'exit 100');
  assert.match(offline.stdout, /; apt-get cannot be reached/);
  assert.equal(offline.calls.length, 1);
}));

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

/** On a machine that has nothing but an `apt-get` that does `apt`, or not even that. */
function installTools(folder: string, uid: number, apt: string | null) {
  const bin = join(folder, `bin-${uid}-${apt === null}-${apt?.length}`);
  const log = join(bin, 'calls');
  mkdirSync(bin);
  writeFileSync(log, '');
  const stub = (name: string, line: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  stub('id', `echo ${uid}`);
  stub('timeout', 'shift; exec "$@"');
  if (apt !== null) stub('apt-get', `echo "$*" >> ${log}\n${apt}`);
  const bash = findProgram('bash') ?? '';
  const ended = spawnSync(bash, [join(ROOT, '.ci/install-tools')], {
    encoding: 'utf8', env: { PATH: bin }, timeout: 120_000,
  });
  assert.equal(ended.status, 0, ended.stderr);
  const calls = readFileSync(log, 'utf8').split('\n').filter((line) => line !== '');
  return { stdout: ended.stdout, calls };
}
