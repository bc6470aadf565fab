import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createNodeFiles } from '../../../src/store/files.ts';
import { acquireLock, readLockOwner } from '../../../src/store/lock/lock.ts';
import { thisProcess } from '../../../src/store/lock/lock-owner.ts';

const WAYS = [{ program: 'flock' }, { program: 'no-such-program' }];

for (const way of WAYS) {
  test(`one owner at a time, named to the others (${way.program})`, async (context) => {
    const directory = makeDirectory(context);
    const lock = await acquireLock(directory, { kind: 'server', ...way });
    lock.announce('/run/control.sock');
    const owner = readLockOwner(directory);
    assert.deepEqual([owner?.pid, owner?.kind, owner?.socketPath],
      [process.pid, 'server', '/run/control.sock']);
    await assert.rejects(acquireLock(directory, { kind: 'command', waitMs: 5000, ...way }), {
      code: 'conflict', message: new RegExp(`process ${process.pid} \\(server\\)`),
    });
    lock.release();
    lock.release();
    assert.equal(readLockOwner(directory), null);
    const next = await acquireLock(directory, { kind: 'command', ...way });
    next.release();
  });

  test(`a command waits for a command (${way.program})`, async (context) => {
    const directory = makeDirectory(context);
    const lock = await acquireLock(directory, { kind: 'command', ...way });
    const waiting = acquireLock(directory, { kind: 'command', waitMs: 5000, ...way });
    setTimeout(() => lock.release(), 30);
    (await waiting).release();
  });

  test(`of processes that start at once one wins, and its end frees the lock (${way.program})`,
    async (context) => {
      const directory = makeDirectory(context);
      const children = [1, 2, 3].map(() => startHolder(directory, way.program));
      const answers = await Promise.all(children.map(async (child) => {
        const [line] = await once(child.stdout, 'data');
        return String(line).trim();
      }));
      assert.deepEqual(answers.sort(), ['conflict', 'conflict', 'held']);
      await Promise.all(children.map(async (child) => {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }));
      (await acquireLock(directory, { kind: 'server', ...way })).release();
    });
}

test('the two ways of locking respect each other', async (context) => {
  const directory = makeDirectory(context);
  for (const [first, second] of [WAYS, WAYS.toReversed()]) {
    const lock = await acquireLock(directory, { kind: 'server', ...first });
    await assert.rejects(acquireLock(directory, { kind: 'server', ...second }),
      { code: 'conflict' });
    lock.release();
  }
});

test('an owner whose pid now belongs to another process is dead', async (context) => {
  const directory = makeDirectory(context);
  const owner = thisProcess(createNodeFiles(), 'server', null);
  for (const stale of [{ startTime: '1' }, { bootId: 'earlier' }, { namespace: '7' }]) {
    writeFileSync(join(directory, 'lock-900'), JSON.stringify({ ...owner, ...stale }));
    const lock = await acquireLock(directory, { kind: 'server', program: 'no-such-program' });
    lock.release();
    rmSync(join(directory, 'lock-901'));
  }
});

test('the lock file is one JSON object', async (context) => {
  const directory = makeDirectory(context);
  const lock = await acquireLock(directory, { kind: 'command' });
  lock.announce('/a/long/path');
  lock.announce(null);
  assert.equal(JSON.parse(readFileSync(join(directory, 'lock'), 'utf8')).pid, process.pid);
  lock.release();
});

function makeDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookshelf-lock-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

function startHolder(directory: string, program: string) {
  const module = import.meta.resolve('../../../src/store/lock/lock.ts');
  const source = `
    import { acquireLock } from ${JSON.stringify(module)};
    acquireLock(${JSON.stringify(directory)}, { kind: 'server', program: '${program}' }).then(
      () => console.log('held'), (error) => console.log(error.code));
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
