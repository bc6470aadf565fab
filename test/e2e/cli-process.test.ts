import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { PROGRAM } from '../support/program.ts';
import { hookshelf, start, startServer } from './processes.ts';

const EMMA = '{"title": "Emma"}';
const VILLETTE = '{"title": "Villette"}';

test('--version, help and completion need no data directory', () => inFolder(async (cwd) => {
  for (const words of [['--version'], ['help'], ['help', 'serve'], ['completion', 'bash']]) {
    const { code, stdout, stderr } = await hookshelf(words, { cwd });
    assert.deepEqual([code, stderr], [0, ''], words.join(' '));
    assert.notEqual(stdout, '');
  }
  assert.equal(spawnSync('ls', ['-A', cwd], { encoding: 'utf8' }).stdout, '');
}));

test('a Node that is too old is named in one sentence, whatever the command', () =>
  inFolder(async (cwd) => {
    const cases = [['18.20.4', '--version'], ['18.20.4', 'help'], ['18.20.4', 'serve'],
      ['20.10.0', 'doctor'], ['21.7.3', 'book:list'], ['22.1.0', 'serve']] as const;
    for (const [version, word] of cases) {
      const module = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
      const old = ['--import', `data:text/javascript,${encodeURIComponent(module)}`, PROGRAM];
      const { code, stdout, stderr } = await hookshelf(
        [word], { cwd, program: [process.execPath, ...old] });
      assert.deepEqual([code, stdout, stderr], [1, '', 'hookshelf: Node 20.15 or later is needed '
        + `(of 22, 22.2 or later); this is Node ${version}\n`]);
    }
    assert.deepEqual(readdirSync(cwd), []);
  }));

test('a reader that goes away ends a long list quietly', () => inFolder(async (data) => {
  const lines = Array.from({ length: 8000 }, (_, index) => `{"title":"Book ${index}"}`);
  const imported = await hookshelf(
    ['book:import', '--file', '-', '--format', 'jsonl', '--data', data],
    { input: lines.join('\n') });
  assert.equal(imported.stdout, 'imported 8000, updated 0, unchanged 0, skipped 0\n');
  for (const words of [['book:list'], ['book:export']]) {
    const child = start([...words, '--data', data]);
    const ended = endOf(child);
    assert.ok(child.stdout !== null);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, ''], words.join(' '));
  }
}));

test('progress is not written where nobody watches', () => inFolder(async (data) => {
  const { stderr } = await hookshelf(
    ['book:import', '--file', '-', '--data', data],
    { input: '[{"id":"01a1f92d-caca-7402-ba53-049deb0fba53","title":"Emma"}]' });
  assert.equal(stderr, 'hookshelf: reading JSON\n');
}));

test('a damaged directory is refused in one line', () => inFolder(async (data) => {
  for (const title of ['One', 'Two', 'Three']) {
    await hookshelf(['book:add', '--data', data, '--input', JSON.stringify({ title })]);
  }
  const journal = join(data, 'journal-000001.jsonl');
  const { stdout } = spawnSync('cat', [journal], { encoding: 'utf8' });
  writeFileSync(journal, stdout.replace('One', 'Ona'));
  const { code, stderr } = await hookshelf(['book:list', '--data', data]);
  assert.equal(code, 1);
  assert.match(stderr, /^hookshelf: .*journal-000001\.jsonl[^\n]*\n$/);
}));

test('a command can be killed at its standard input', () => inFolder(async (data) => {
  const child = owned(spawn(process.execPath,
    [PROGRAM, 'book:import', '--file', '-', '--format', 'jsonl', '--data', data]));
  const ended = endOf(child);
  child.stdin.write('{"title":"One"}\n');
  // It has opened the directory for what has come so far, and waits for the rest.
  await until('the lock is taken', () => existsSync(join(data, 'lock')) || child.exitCode !== null);
  child.kill('SIGTERM');
  const { signal, stdout, stderr } = await ended;
  assert.deepEqual([signal, stdout, stderr],
    ['SIGTERM', '', 'hookshelf: reading JSON Lines\n']);
  const listed = await hookshelf(['book:list', '--data', data]);
  assert.equal(listed.code, 0, listed.stderr);
}));

test('a copy of the directory of a running server is a directory of its own', () =>
  inFolder(async (cwd) => {
    const [data, copy] = [join(cwd, 'data'), join(cwd, 'copy')];
    const server = await startServer(['--data', data]);
    spawnSync('cp', ['-r', data, copy]);
    // A copy for another machine has no socket.
    spawnSync('sh', ['-c', 'tar -c --exclude=*.sock data | tar -x --transform s/^data/tarred/'],
      { cwd });
    for (const directory of [copy, join(cwd, 'tarred')]) {
      const doctor = await hookshelf(['doctor', '--data', directory]);
      assert.ok(doctor.stdout.replace(/\s+/g, ' ').includes('lock ok nobody holds the data '
        + `directory, which is a copy of that of pid ${server.child.pid}: `), doctor.stdout);
      const made = await hookshelf(['book:add', '--input', EMMA, '--data', directory]);
      assert.equal(made.code, 0, made.stderr);
      const copyServer = await startServer(['--data', directory]);
      assert.match((await hookshelf(['book:list', '--data', directory])).stdout, /Emma/);
      const added = await hookshelf(['book:add', '--input', VILLETTE, '--data', directory]);
      assert.equal(added.code, 0, added.stderr);
      assert.match(await (await fetch(`${copyServer.url}/api/books`)).text(), /Villette/);
      await copyServer.stop();
    }
    assert.doesNotMatch((await hookshelf(['book:list', '--data', data])).stdout, /Emma|Villette/);
    renameSync(data, join(cwd, 'renamed'));
    const added = await hookshelf(['book:add', '--input', EMMA, '--data', join(cwd, 'renamed')]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(await (await fetch(`${server.url}/api/books`)).text(), /Emma/);
    await server.stop();
  }));

test('output that a full disk does not take is a failure', {
  skip: process.platform !== 'linux' && 'needs /dev/full',
}, () => inFolder(async (cwd) => {
  mkdirSync(join(cwd, 'data'), { mode: 0o700 });
  for (const words of ['help', 'book:list', 'book:list --json']) {
    const script = `exec "$0" "$1" ${words} > /dev/full`;
    const { code, stderr } = await hookshelf([], {
      cwd, program: ['/bin/sh', '-c', script, process.execPath, PROGRAM],
    });
    assert.equal(code, 1, words);
    assert.match(stderr, /^hookshelf: cannot write to standard output: ENOSPC/);
  }
}));

test('lines for the journal of systemd have their priority, and no others', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'stderr');
    for (const isJournal of [true, false]) {
      const stderr = openSync(path, 'w');
      const { dev, ino } = fstatSync(stderr);
      const child = owned(spawn(process.execPath, [
        PROGRAM, 'serve', '--port', '0', '--paused', '--data', join(folder, 'data'),
      ], {
        env: { JOURNAL_STREAM: isJournal ? `${dev}:${ino}` : `${dev}:1` },
        stdio: ['ignore', 'pipe', stderr],
      }));
      closeSync(stderr);
      assert.ok(child.stdout);
      await once(child.stdout, 'data');
      child.kill();
      await once(child, 'exit');
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      for (const line of lines) {
        const json = isJournal ? line.replace(/^<\d>/, '') : line;
        const priority = JSON.parse(json).level === 'warning' ? '<4>' : '<6>';
        assert.equal(line, isJournal ? priority + json : json);
      }
      assert.ok(lines.some((line) => line.includes('"warning"')));
    }
  }));
