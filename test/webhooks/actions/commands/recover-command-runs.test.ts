/** After kill -9 of the server, neither its commands nor their folders are left by the next one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createNodeFiles } from '../../../../src/store/disk/files.ts';
import { describeProcess } from '../../../../src/store/lock/process-identity.ts';
import { owned } from '../../../support/children.ts';
import { isRunning } from '../../../support/is-running.ts';
import { until } from '../../../support/until.ts';
import {
  CommandHarness, compileCommandServer, assertEnded, waitForFile,
} from './command-harness.ts';

/**
 * Starts a server with a script, kills it once the script has made the file `ready`, and the server
 * has noted its process, whole: the script may be faster.
 */
async function killServer(harness: CommandHarness, script: string): Promise<void> {
  const ready = join(harness.directory, 'ready');
  const server = owned(spawn(process.execPath, [
    compileCommandServer(harness.directory), harness.runsFolder, `ready=${ready}; ${script}`,
  ], { stdio: 'ignore' }));
  await waitForFile(ready);
  await until('the process is noted', () => listNotes(harness)
    .filter((path) => readFileSync(path, 'utf8').endsWith('}')).length === 1);
  server.kill('SIGKILL');
  await once(server, 'exit');
}

function listNotes(harness: CommandHarness): string[] {
  return harness.listFolders().map((name) => join(harness.runsFolder, name, 'run.json'))
    .filter((path) => existsSync(path));
}

/** A process that is no command, in a group and session of its own. */
function startStranger(): number {
  const stranger = owned(spawn('sleep', ['1000'], { stdio: 'ignore', detached: true }));
  assert.ok(stranger.pid !== undefined);
  return stranger.pid;
}

test('a command that outlives a killed server is ended with its session', async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  await killServer(harness, `echo $$ > ${pids}; sleep 1000 & echo $! >> ${pids}\n`
    + `(set -m; cd /; exec >/dev/null 2>&1; timeout 1000 sleep 1000 & echo $! >> ${pids}); `
    + 'touch $ready; wait');
  const running = readFileSync(pids, 'utf8').match(/\d+/g) ?? [];
  assert.equal(running.filter((pid) => isRunning(Number(pid))).length, 3);
  await harness.runner.recover();
  assertEnded(readFileSync(pids));
  assert.deepEqual(harness.listFolders(), []);
  assert.deepEqual(harness.lines.map(({ level }) => level), ['warning']);
});

test('a start on a copy of the data leaves the commands of the original alone', async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  await killServer(harness, `echo $$ > ${pids}; touch $ready; sleep 1000`);
  const [note = ''] = listNotes(harness).map((path) => readFileSync(path, 'utf8'));
  const original = join(harness.directory, 'original');
  renameSync(harness.runsFolder, original);
  const copy = join(harness.runsFolder, 'run-copy');
  mkdirSync(copy, { recursive: true });
  writeFileSync(join(copy, 'run.json'), note);
  await harness.runner.recover();
  assert.ok(isRunning(Number(readFileSync(pids, 'utf8'))));
  assert.deepEqual(harness.listFolders(), []);
  rmSync(harness.runsFolder, { recursive: true });
  renameSync(original, harness.runsFolder);
  await harness.runner.recover();
  assertEnded(readFileSync(pids));
});

test('one that ignores SIGTERM is killed', { timeout: 60_000 }, async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  await killServer(harness,
    `trap "" TERM; echo $$ > ${pids}; touch $ready; while true; do sleep 1; done`);
  await harness.runner.recover();
  assertEnded(readFileSync(pids));
  assert.deepEqual(harness.listFolders(), []);
});

test('what a command has left is ended when the command itself has ended', async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  const go = join(harness.directory, 'go');
  await killServer(harness, `echo $$ > ${pids}; sleep 1000 & echo $! >> ${pids}; touch $ready; `
    + `until [ -e ${go} ]; do sleep 0.01; done; touch ${go}ne`);
  writeFileSync(go, '');
  await waitForFile(`${go}ne`);
  const [leader, child] = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  while (isRunning(leader ?? 0)) await new Promise(setImmediate);
  assert.ok(isRunning(child ?? 0));
  await harness.runner.recover();
  assertEnded(readFileSync(pids));
});

test('a command that was not noted any more is found by its open files', async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  await killServer(harness, `echo $$ > ${pids}; sleep 1000 & echo $! >> ${pids}; `
    + 'touch $ready; wait');
  for (const note of listNotes(harness)) rmSync(note);
  await harness.runner.recover();
  assertEnded(readFileSync(pids));
  assert.deepEqual(harness.listFolders(), []);
});

test('a process in a session of its own is left alone', async (context) => {
  const harness = new CommandHarness(context);
  const pids = join(harness.directory, 'pids');
  await killServer(harness, `setsid bash -c 'echo $$ > ${pids}; sleep 1000; true' &\n`
    + `until [ -s ${pids} ]; do sleep 0.01; done; touch $ready; wait`);
  const pid = Number(readFileSync(pids, 'utf8'));
  await harness.runner.recover();
  assert.ok(isRunning(pid));
  process.kill(-pid, 'SIGKILL');
});

test('the same pid with another start, boot or container is left alone', async (context) => {
  const harness = new CommandHarness(context);
  const pid = startStranger();
  const identity = describeProcess(createNodeFiles(), pid);
  const notes = [
    { ...identity, startTime: '1' }, { ...identity, startTime: '' },
    { ...identity, bootId: 'other' }, { ...identity, namespace: '1' },
    { pid }, { ...identity, pid: String(pid) }, { ...identity, pid: 0 }, { ...identity, pid: 1 },
    { ...identity, pid: -1 }, { ...identity, pid: -pid }, { ...identity, pid: 1e300 }, [], null,
  ];
  for (const [index, note] of [...notes, '', '{"pid":'].entries()) {
    const folder = join(harness.runsFolder, `run-${index}`);
    mkdirSync(folder, { recursive: true });
    const { ino } = statSync(folder);
    writeFileSync(join(folder, 'run.json'),
      typeof note === 'string' ? note : JSON.stringify(note && { ...note, folderInode: ino }));
  }
  await harness.runner.recover();
  assert.ok(isRunning(pid));
  assert.deepEqual(harness.listFolders(), []);
  assert.deepEqual(harness.lines, []);
});

test('only folders of runs are removed, and links are not followed', async (context) => {
  const harness = new CommandHarness(context);
  const other = join(harness.directory, 'other');
  mkdirSync(harness.runsFolder);
  mkdirSync(other);
  writeFileSync(join(other, 'file'), '');
  symlinkSync(other, join(harness.runsFolder, 'run-link'));
  mkdirSync(join(harness.runsFolder, 'notes'));
  await harness.runner.recover();
  assert.deepEqual(harness.listFolders(), ['notes']);
  assert.deepEqual(readdirSync(other), ['file']);
});

test('where nothing has run there is nothing to do', async (context) => {
  const harness = new CommandHarness(context);
  await harness.runner.recover();
  assert.deepEqual(readdirSync(harness.directory), []);
});
