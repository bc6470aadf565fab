/** What a hook command gets, and that nothing of it is left, however it ends. Scripts of bash. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import { CommandOutputPipes } from '../../../../src/webhooks/actions/commands/output-pipes.ts';
import { makeRunFolder } from '../../../../src/webhooks/actions/commands/run-folder.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { isRunning } from '../../../support/is-running.ts';
import { IS_LONG, longTest } from '../../../support/long.ts';
import {
  CommandHarness, compileCommandServer, assertEnded, waitForFile,
} from './command-harness.ts';

const FLOOD_BYTES = IS_LONG ? 1 << 30 : 1 << 26;
/** A long flood through three processes took more than a minute of a busy machine. */
const FLOOD_MS_MAX = 600_000;

test('a command has the environment that it is given, and nothing of ours', async (context) => {
  const harness = new CommandHarness(context);
  process.env['PLANTED_SECRET'] = 'planted';
  context.after(() => delete process.env['PLANTED_SECRET']);
  const output = await harness.read('', {
    file: '/usr/bin/env', arguments: ['-0'], environment: { A: '1', B: 'x\ny' },
    files: [{ variable: 'KEY', bytes: Buffer.from('k') }],
  });
  const names = output.split('\0').slice(0, -1).map((entry) => entry.split('=')[0]);
  assert.deepEqual(names.sort(), ['A', 'B', 'KEY']);
});

test('a run whose folder is gone gets the error of the system', { timeout: 10_000 }, async () => {
  const place = createTemporaryFolder();
  const pipes = new CommandOutputPipes(place);
  const folder = await makeRunFolder(place);
  rmSync(folder, { recursive: true });
  await assert.rejects(pipes.take(folder, 'stdout'), { code: 'ENOENT' });
});

test('a command has three open files, and none that we have inherited', async (context) => {
  const harness = new CommandHarness(context);
  const program = compileCommandServer(harness.directory);
  const secret = join(harness.directory, 'secret');
  writeFileSync(secret, 'planted');
  const script = 'find /proc/$$/fd -type l -printf "%f %l\n"; true';
  const { status, stdout } = spawnSync('bash', ['-c',
    `exec 7<${secret} 99<${secret}; exec "$@"`, 'bash',
    process.execPath, program, harness.runsFolder, script], {
    encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.equal(status, 0);
  const open = stdout.split('\n').filter((line) => /^\d/.test(line)).map((line) => line.split(' '))
    .sort(([left], [right]) => Number(left) - Number(right));
  const [others, standard] = [open.slice(3), open.slice(0, 3)];
  assert.deepEqual(standard.map(([number]) => number), ['0', '1', '2']);
  assert.ok(others.some(([number]) => number === '99'));
  assert.deepEqual(others.filter(([, path]) => path !== '/dev/null'), []);
});

test('its standard input, output and error can be opened by name', async (context) => {
  const harness = new CommandHarness(context);
  const { output, errorTail, exitCode } = await harness.run(
    'cat /dev/stdin > /dev/stdout && echo problem | tee /dev/stderr',
    { stdin: Buffer.from('body\n') });
  assert.equal(exitCode, 0);
  assert.equal(String(output), 'body\nproblem\n');
  assert.equal(String(errorTail), 'problem\n');
});

test('a command runs where what lies ready for runs is removed', async (context) => {
  const harness = new CommandHarness(context);
  const first = join(harness.directory, 'first');
  const longRun = harness.run(`touch ${first}; until [ -e ${first}.end ]; do sleep 0.01; done`);
  await waitForFile(first);
  rmSync(harness.runsFolder, { recursive: true });
  assert.equal(await harness.read('echo two > /dev/stdout'), 'two\n');
  writeFileSync(`${first}.end`, '');
  assert.equal((await longRun).exitCode, 0);
});

longTest('many commands run at once', async (context) => {
  const harness = new CommandHarness(context);
  const outputs = await Promise.all(Array.from({ length: 40 }, (_, index) =>
    harness.read(`echo ${index}`)));
  assert.deepEqual(outputs, outputs.map((_, index) => `${index}\n`));
  assert.deepEqual(harness.listFolders(), []);
});

test('a command reads the bytes that it is given, or nothing', async (context) => {
  const harness = new CommandHarness(context);
  const bytes = Buffer.from([0, 255, 10, 13, 128, 0]);
  assert.deepEqual((await harness.run('cat', { stdin: bytes })).output, bytes);
  assert.equal(await harness.read('cat; echo end'), 'end\n');
});

test('its files are 0600, in a folder 0700 that is gone with them later', async (context) => {
  const harness = new CommandHarness(context);
  const output = await harness.read(
    'cat "$KEY"; stat -c " %a" "$KEY"; stat -c %a . .. "$(dirname "$KEY")"; pwd; touch left',
    { files: [{ variable: 'KEY', bytes: Buffer.from('secret') }] });
  const [head, ...rest] = output.trim().split('\n');
  assert.equal(head, 'secret 600');
  assert.deepEqual(rest.slice(0, 3), ['700', '700', '700']);
  assert.ok(rest[3]?.startsWith(`${harness.runsFolder}/run-`), rest[3]);
  assert.deepEqual(harness.listFolders(), []);
  assert.equal(statSync(harness.runsFolder).mode & 0o777, 0o700);
});

test('a command works in the directory that it is given, which stays', async (context) => {
  const harness = new CommandHarness(context);
  const workingDirectory = join(harness.directory, 'place');
  mkdirSync(workingDirectory);
  assert.equal(await harness.read('pwd; echo kept > file', { workingDirectory }),
    `${workingDirectory}\n`);
  assert.equal(readFileSync(join(workingDirectory, 'file'), 'utf8'), 'kept\n');
});

longTest('what a command has made in its folder is removed, however deep or closed it is', {
  timeout: 60_000,
}, async (context) => {
  const harness = new CommandHarness(context);
  const { exitCode } = await harness.run(
    'mkdir -p closed/in && touch closed/in/file && chmod 000 closed/in closed && ln -s / root\n'
    + 'name=$(printf "%0200d" 0)\n'
    + 'for i in $(seq 60); do mkdir $name && cd -P $name || exit 1; done; chmod 500 .; touch ../x');
  assert.equal(exitCode, 0);
  assert.deepEqual(harness.listFolders(), []);
  assert.deepEqual(harness.lines, []);
});

test('the exit code and the signal of a command are told', async (context) => {
  const harness = new CommandHarness(context);
  const { exitCode, signal, isTimedOut, isStopped } = await harness.run('exit 3');
  assert.deepEqual({ exitCode, signal, isTimedOut, isStopped },
    { exitCode: 3, signal: null, isTimedOut: false, isStopped: false });
  const killed = await harness.run('kill -SEGV $$');
  assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGSEGV']);
});

test('output is kept up to its limit, and a flood beyond it is read', {
  timeout: FLOOD_MS_MAX,
}, async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run(`echo start; head -c ${FLOOD_BYTES} /dev/zero; exit 4`,
    { timeoutMs: FLOOD_MS_MAX });
  assert.equal(end.exitCode, 4);
  assert.equal(end.output.length, 65_536);
  assert.equal(end.output.toString('utf8', 0, 6), 'start\n');
  assert.equal(end.isTruncated, true);
});

test('a limit cuts no character in two', async (context) => {
  const harness = new CommandHarness(context);
  const { output } = await harness.run('printf aäöü', { outputBytesMax: 4 });
  assert.equal(String(output), 'aä');
  const { errorTail } = await harness.run('printf "ä%.0s" {1..3000} >&2; printf b >&2');
  assert.match(String(errorTail), /^ä{2047}b$/);
});

test('output that no answer has is logged line by line, and its end is told', async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run('echo one; printf last', { outputBytesMax: 0 });
  assert.deepEqual(harness.lines.map(({ level, message, fields }) =>
    [level, message, fields['line']]), [
    ['debug', 'a command wrote to its standard output', 'one'],
    ['debug', 'a command wrote to its standard output', 'last'],
  ]);
  assert.deepEqual([String(end.outputTail), end.output.length], ['one\nlast', 0]);
});

test('standard error is logged line by line, and its end is told', async (context) => {
  const harness = new CommandHarness(context);
  const { errorTail } = await harness.run('echo one >&2; printf "two\\r\\n\\nlast" >&2; exit 1');
  assert.deepEqual(harness.lines.map(({ level, fields }) => [level, fields['line']]),
    [['debug', 'one'], ['debug', 'two'], ['debug', ''], ['debug', 'last']]);
  assert.equal(String(errorTail), 'one\ntwo\r\n\nlast');
});

test('a flood of standard error is cut in lines, and fills no log', {
  timeout: FLOOD_MS_MAX,
}, async (context) => {
  const harness = new CommandHarness(context);
  const { errorTail } = await harness.run(
    `head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' x >&2; echo end >&2`,
    { timeoutMs: FLOOD_MS_MAX });
  assert.equal(errorTail.length, 4096);
  assert.equal(String(errorTail.subarray(-5)), 'xend\n');
  const lengths = harness.lines.map(({ fields }) => String(fields['line'] ?? '').length);
  assert.ok(lengths.every((length) => length <= 8192));
  assert.ok(lengths.length < 200, `${lengths.length} lines`);
  assert.match(harness.lines.at(-1)?.message ?? '', /not logged/);
});

test('a flood of short lines fills no log, which says once that it is cut', async (context) => {
  const harness = new CommandHarness(context);
  await harness.run("yes '' | head -c 3000000 >&2");
  assert.ok(harness.lines.length < 5000, `${harness.lines.length} lines`);
  const ends = harness.lines.filter(({ message }) => /not logged/.test(message));
  assert.deepEqual(ends, harness.lines.slice(-1));
});

test('a command that closes what it is given ends as any other', async (context) => {
  const harness = new CommandHarness(context);
  const stdin = Buffer.alloc(10_000_000, 'x');
  const { exitCode } = await harness.run('exec <&- >&- 2>&-; sleep 0.1; exit 7', { stdin });
  assert.equal(exitCode, 7);
});

test('a command is ended when its time is over, and has time to tidy up', async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run('trap "echo ends; exit 5" TERM; sleep 60 & wait', {
    timeoutMs: 200,
  });
  assert.deepEqual([end.exitCode, end.isTimedOut, String(end.output)], [5, true, 'ends\n']);
  assert.ok(end.durationMs >= 200);
});

longTest('a command that ignores SIGTERM is killed 5 s later, with all its group', {
  timeout: 60_000,
}, async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run(
    'trap "" TERM; sleep 1000 & echo $! $$; while true; do sleep 1; done', { timeoutMs: 300 });
  assert.deepEqual([end.exitCode, end.signal, end.isTimedOut], [null, 'SIGKILL', true]);
  assert.ok(end.durationMs >= 5200, `${end.durationMs} ms`);
  assertEnded(end.output);
});

test('what a command leaves behind ends with it, whatever its group', async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run(
    'trap "" TERM HUP; sleep 1000 & echo $!; (sleep 1000 & echo $!)\n'
    + 'set -m; sleep 1000 & echo $!; timeout 1000 sleep 1000 & echo $!; exit 0');
  assert.equal(end.exitCode, 0);
  assert.equal(assertEnded(end.output), 4);
});

// Sixty-four of them, and no more: what forks without end would stop the machine of the tests.
longTest('a command that forks, and whose children fork, is ended with all of them', {
  timeout: 60_000,
}, async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run(
    'fork() { echo $BASHPID; if (($1 > 0)); then fork $(($1 - 1)) & fork $(($1 - 1)) & fi\n'
    + '  sleep 30; }; fork 5',
    { timeoutMs: 2000 });
  assert.equal(end.isTimedOut, true);
  assert.ok(assertEnded(end.output) > 32);
  assert.deepEqual(harness.listFolders(), []);
});

test('a process in a session of its own keeps no run waiting, and lives on', async (context) => {
  const harness = new CommandHarness(context);
  const end = await harness.run('setsid sleep 1000 & sleep 0.2; pgrep -s $! sleep; echo text');
  const pid = Number(String(end.output).split('\n')[0]);
  assert.ok(pid > 1, String(end.output));
  assert.match(String(end.output), /text/);
  assert.ok(isRunning(pid));
  process.kill(pid, 'SIGKILL');
});

test('a stopping runner ends its commands, and starts no more', async (context) => {
  const harness = new CommandHarness(context);
  const marker = join(harness.directory, 'started');
  const running = harness.run(`echo $$; touch ${marker}; sleep 1000`);
  await waitForFile(marker);
  await Promise.all([harness.runner.close(), harness.runner.close()]);
  const { signal, isStopped, isTimedOut, output } = await running;
  assert.deepEqual([signal, isStopped, isTimedOut], ['SIGTERM', true, false]);
  assertEnded(output);
  assert.deepEqual(harness.listFolders(), []);
  await assert.rejects(harness.run('true'), { code: 'unavailable' });
});

longTest('a command that became another user is given up, as it cannot be ended', {
  skip: process.geteuid?.() !== 0 && 'only root can make a program that changes its user',
  timeout: 60_000,
}, async (context) => {
  const harness = new CommandHarness(context);
  const nobody = 65_534;
  const setuid = join(harness.directory, 'setuid');
  copyFileSync('/usr/bin/setpriv', setuid);
  chmodSync(setuid, 0o4755);
  chmodSync(harness.directory, 0o755);
  mkdirSync(harness.runsFolder);
  chownSync(harness.runsFolder, nobody, nobody);
  const pidFile = join(harness.runsFolder, 'pid');
  const { stdout } = spawnSync(process.execPath, [
    compileCommandServer(harness.directory), harness.runsFolder,
    `echo $$ > ${pidFile}; exec ${setuid} --reuid=0 --clear-groups sleep 1000`,
  ], {
    encoding: 'utf8', uid: nobody, gid: nobody, stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TIMEOUT_MS: '200', HOME: harness.runsFolder },
  });
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  assert.match(stdout, /ended {"exitCode":null,"signal":null,"isTimedOut":true}/);
});

test('a command that cannot be started says why, and leaves nothing', async (context) => {
  const harness = new CommandHarness(context);
  const plain = join(harness.directory, 'plain');
  writeFileSync(plain, 'text', { mode: 0o600 });
  const cases = [
    [{ file: '/missing/file' }, /^The command could not be started \(ENOENT\)$/],
    [{ file: plain }, /\(EACCES\)$/],
    [{ workingDirectory: '/missing/folder' }, /\(ENOENT\)$/],
    [{ arguments: ['a\0b'] }, /NUL/],
    [{ environment: { A: 'a\0b' } }, /NUL/],
    [{ arguments: ['x'.repeat(131_072)] }, /\(E2BIG\)$/],
    [{ files: [{ variable: '../x', bytes: Buffer.alloc(0) }] }, /variable/],
  ] as const;
  for (const [members, message] of cases) {
    await assert.rejects(harness.run('', members), (thrown) => {
      assert.ok(thrown instanceof AppError);
      assert.equal(thrown.code, 'invalid');
      assert.match(thrown.message, message);
      return true;
    });
  }
  assert.deepEqual(harness.listFolders(), []);
});

test('a command is ended before us when memory runs out', async (context) => {
  const harness = new CommandHarness(context);
  const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  const output = await harness.read('sleep 0.1; cat /proc/self/oom_score_adj');
  assert.equal(Number(output), Math.min(own + 500, 1000));
});
