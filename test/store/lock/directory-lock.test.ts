import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync,
  statSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import {
  acquireLock, readCopiedOwner, readLockOwner,
} from '../../../src/store/lock/directory-lock.ts';
import { describeThisProcess } from '../../../src/store/lock/lock-owner.ts';
import { owned } from '../../support/children.ts';
import { compile } from '../../support/compile.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;
const compiled = createTemporaryFolder();
/** For a process of its own. */
const MODULE = pathToFileURL(compile(
  resolve(import.meta.dirname, '../../../src/store/lock/directory-lock.ts'), compiled)).href;

const WAYS = [{ program: 'flock' }, { program: 'no-such-program' }];
const LACKS_FLOCK = spawnSync('flock', ['--version']).error !== undefined
  && 'flock(1) is missing here';

/** Where flock(1) is missing, what names it would test the stand-in a second time. */
function skipOf({ program }: { readonly program: string }): false | string {
  return program === 'flock' && LACKS_FLOCK;
}

for (const way of WAYS) {
  test(`one owner at a time, named to the others (${way.program})`, {
    skip: skipOf(way),
  }, async () => {
    const directory = createTemporaryFolder();
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

  test(`a command waits for a command (${way.program})`, {
    skip: skipOf(way),
  }, async () => {
    const directory = createTemporaryFolder();
    const lock = await acquireLock(directory, { kind: 'command', ...way });
    const waiting = acquireLock(directory, { kind: 'command', waitMs: 5000, ...way });
    setTimeout(() => lock.release(), 30);
    (await waiting).release();
  });

  test(`of processes that start at once one wins, and its end frees the lock (${way.program})`,
    { skip: skipOf(way) }, async () => {
      const directory = createTemporaryFolder();
      const children = [1, 2, 3].map(() => startHolder(directory, way.program));
      const answers = await Promise.all(children.map(firstLine));
      assert.deepEqual(answers.sort(), ['conflict', 'conflict', 'held']);
      await Promise.all(children.map(kill));
      (await acquireLock(directory, { kind: 'server', ...way })).release();
    });
}

test('the two ways of locking respect each other', { skip: LACKS_FLOCK }, async () => {
  const directory = createTemporaryFolder();
  for (const [first, second] of [WAYS, WAYS.toReversed()]) {
    const lock = await acquireLock(directory, { kind: 'server', ...first });
    await assert.rejects(acquireLock(directory, { kind: 'server', ...second }),
      { code: 'conflict' });
    lock.release();
  }
});

test('an owner whose pid now belongs to another process is dead', async () => {
  const directory = createTemporaryFolder();
  const owner = describeThisProcess(createNodeFiles(), 'server', null, false);
  for (const stale of [{ startTime: '1' }, { bootId: 'earlier' }, { namespace: '7' }]) {
    writeFileSync(join(directory, 'lock-900'), JSON.stringify({ ...owner, ...stale }));
    const lock = await acquireLock(directory, { kind: 'server', program: 'no-such-program' });
    lock.release();
    rmSync(join(directory, 'lock-901'));
  }
});

test('a new owner is never taken for the dead one whose name is still there', {
  skip: LACKS_FLOCK,
}, async () => {
  const directory = createTemporaryFolder();
  const files = createNodeFiles();
  const dead = { ...describeThisProcess(files, 'server', null, true), pid: 999_999 };
  writeFileSync(join(directory, 'lock'), JSON.stringify(dead));
  let named: unknown = 'nobody looked';
  // Called first when the new owner's sign of life can be seen.
  const writeSync: Files['writeSync'] = (descriptor, source, position) => {
    named = readLockOwner(directory);
    return files.writeSync(descriptor, source, position);
  };
  const lock = await acquireLock(directory, { kind: 'server', files: { ...files, writeSync } });
  assert.equal(named, null);
  lock.release();
});

for (const way of WAYS) {
  test(`an owner whose pid says nothing here keeps its lock while it lives (${way.program})`, {
    skip: skipOf(way) || (!canUnshare && 'process namespaces cannot be made here'),
  }, async () => {
    const directory = createTemporaryFolder();
    // As containers that share a volume: process 1 of the one is not process 1 of the other.
    const inContainer = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const first = startHolder(directory, way.program, inContainer);
    assert.equal(await firstLine(first), 'held');
    await assert.rejects(acquireLock(directory, { kind: 'server', program: 'no-such-program' }), {
      code: 'conflict', message: /process 1 \(server\) of another container or of the host; stop/,
    });
    const second = startHolder(directory, 'no-such-program', inContainer);
    assert.equal(await firstLine(second), 'conflict');
    await kill(first);
    const third = startHolder(directory, 'no-such-program', inContainer);
    assert.equal(await firstLine(third), 'held');
    await Promise.all([kill(second), kill(third)]);
  });
}

test('the socket of a process that was killed makes way for that of the next owner', async () => {
  for (const [way, name] of [[WAYS[0], 'lock'], [WAYS[1], 'lock-1']] as const) {
    if (way === undefined || skipOf(way) !== false) continue;
    const directory = createTemporaryFolder();
    writeFileSync(join(directory, `${name}.sock`), '');
    const lock = await acquireLock(directory, { kind: 'server', ...way });
    assert.equal(JSON.parse(readFileSync(join(directory, name), 'utf8')).hasSocket, true);
    lock.release();
  }
});

test('the path of a directory may be longer than a socket takes', async () => {
  const directory = join(createTemporaryFolder(), 'd'.repeat(120));
  mkdirSync(directory);
  const stranger = { namespace: '7', pid: 1 };
  const lock = await acquireLock(directory, { kind: 'server', program: 'no-such-program' });
  const path = join(directory, 'lock-1');
  const owner = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...owner, ...stranger }));
  await assert.rejects(acquireLock(directory, { kind: 'server', program: 'no-such-program' }),
    { code: 'conflict' });
  lock.release();
  writeFileSync(path, JSON.stringify({ ...owner, ...stranger }));
  (await acquireLock(directory, { kind: 'server', program: 'no-such-program' })).release();
});

test('a live owner keeps its lock when its sign of life is removed', async () => {
  for (const way of WAYS.filter((one) => skipOf(one) === false)) {
    const directory = createTemporaryFolder();
    const lock = await acquireLock(directory, { kind: 'server', ...way });
    for (const name of readdirSync(directory)) {
      if (name.endsWith('.sock')) rmSync(join(directory, name));
    }
    await assert.rejects(acquireLock(directory, { kind: 'server', program: 'no-such-program' }),
      { code: 'conflict' });
    lock.release();
  }
});

test('a live owner keeps the directory when its lock file is removed', {
  skip: LACKS_FLOCK,
}, async () => {
  const directory = createTemporaryFolder();
  const lock = await acquireLock(directory, { kind: 'server' });
  rmSync(join(directory, 'lock'));
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await assert.rejects(acquireLock(directory, { kind: 'server' }),
      { code: 'conflict', message: /in use by another process; stop it first/ });
  }
  lock.release();
  (await acquireLock(directory, { kind: 'server' })).release();
});

test('the socket of a server in another container is looked for here', async () => {
  const directory = createTemporaryFolder();
  const owner = describeThisProcess(createNodeFiles(), 'server', '/elsewhere/control.sock', false);
  writeFileSync(join(directory, 'lock'), JSON.stringify({ ...owner, namespace: '7' }));
  assert.equal(readLockOwner(directory)?.socketPath, '/elsewhere/control.sock');
  writeFileSync(join(directory, 'control.sock'), '');
  assert.equal(readLockOwner(directory)?.socketPath, join(directory, 'control.sock'));
});

for (const way of WAYS) {
  test(`the copy of a held directory is free, and names nobody (${way.program})`, {
    skip: skipOf(way),
  }, async () => {
    const directory = createTemporaryFolder();
    const copy = createTemporaryFolder();
    const lock = await acquireLock(directory, { kind: 'server', ...way });
    lock.announce(join(directory, 'control.sock'));
    const names = readdirSync(directory).filter((name) => !name.endsWith('.sock'));
    for (const name of names) copyFileSync(join(directory, name), join(copy, name));
    assert.equal(readLockOwner(copy), null);
    assert.equal(readCopiedOwner(copy)?.pid, process.pid);
    assert.equal(readCopiedOwner(directory), null);
    const copyLock = await acquireLock(copy, { kind: 'server', ...way });
    assert.equal(readCopiedOwner(copy), null);
    await assert.rejects(acquireLock(copy, { kind: 'command', ...way }), { code: 'conflict' });
    await assert.rejects(acquireLock(directory, { kind: 'command', ...way }), { code: 'conflict' });
    copyLock.release();
    lock.release();
  });
}

test('a directory that is renamed, or whose lock is linked, keeps its owner', async () => {
  const directory = createTemporaryFolder();
  const linked = createTemporaryFolder();
  const renamed = `${directory}-renamed`;
  const lock = await acquireLock(directory, { kind: 'server', program: 'no-such-program' });
  lock.announce(join(directory, 'control.sock'));
  writeFileSync(join(directory, 'control.sock'), '');
  linkSync(join(directory, 'lock-1'), join(linked, 'lock-1'));
  assert.equal(readLockOwner(linked)?.pid, process.pid);
  renameSync(directory, renamed);
  // Another directory may have the name now, and its own server.
  mkdirSync(directory);
  writeFileSync(join(directory, 'control.sock'), '');
  assert.equal(readLockOwner(renamed)?.socketPath, join(renamed, 'control.sock'));
  lock.release();
  rmSync(renamed, { recursive: true });
});

test('a lock of an earlier version, which does not name its file, is no copy', () => {
  const directory = createTemporaryFolder();
  const owner = describeThisProcess(createNodeFiles(), 'server', null, false);
  writeFileSync(join(directory, 'lock'), JSON.stringify(owner));
  assert.equal(readLockOwner(directory)?.pid, process.pid);
  assert.equal(readCopiedOwner(directory), null);
});

test('a lock leaves nothing but its file', async () => {
  const directory = createTemporaryFolder();
  for (const [way, names] of [[WAYS[0], ['lock']], [WAYS[1], ['lock', 'lock-1']]] as const) {
    if (way === undefined || skipOf(way) !== false) continue;
    (await acquireLock(directory, { kind: 'command', ...way })).release();
    assert.deepEqual(readdirSync(directory).sort(), names);
  }
});

test('the lock file is one JSON object', async () => {
  const directory = createTemporaryFolder();
  const lock = await acquireLock(directory, { kind: 'command' });
  lock.announce('/a/long/path');
  lock.announce(null);
  assert.equal(JSON.parse(readFileSync(join(directory, 'lock'), 'utf8')).pid, process.pid);
  lock.release();
});

async function firstLine(child: ReturnType<typeof startHolder>): Promise<string> {
  const [line] = await once(child.stdout, 'data');
  return String(line).trim();
}

async function kill(child: ReturnType<typeof startHolder>): Promise<void> {
  child.kill('SIGKILL');
  // Unlike its exit, the end of its output waits for what it has started.
  await once(child, 'close');
}

function startHolder(directory: string, program: string, before: readonly string[] = []) {
  const source = `
    import { acquireLock } from ${JSON.stringify(MODULE)};
    acquireLock(${JSON.stringify(directory)}, { kind: 'server', program: '${program}' }).then(
      () => console.log('held'), (error) => console.log(error.code));
    setInterval(() => {}, 1000);`;
  const node = [process.execPath, '--input-type=module', '-e', source];
  const [file = '', ...words] = [...before, ...node];
  return owned(spawn(file, words, { stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** The files of a file system that is mounted read-only. */
function createReadOnlyFiles(): Files {
  const files = createNodeFiles();
  return {
    ...files,
    openSync(path, mode) {
      if (mode === 'read') return files.openSync(path, mode);
      throw Object.assign(new Error('EROFS: read-only'), { code: 'EROFS', syscall: 'open', path });
    },
  };
}

test('on a full disk a command does without a lock, and a server says what cannot be written',
  async () => {
    const directory = createTemporaryFolder();
    const fullFiles: Files = {
      ...createNodeFiles(),
      writeSync() {
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      },
    };
    const lock = await acquireLock(directory, { kind: 'command', files: fullFiles });
    assert.equal(lock.refusal?.code, 'storage_full');
    lock.release();
    await assert.rejects(acquireLock(directory, { kind: 'server', files: fullFiles }), {
      code: 'storage_full',
      message: /^cannot write in the data directory \/.*ENOSPC.*; free some room on the disk/,
    });
    const holder = await acquireLock(directory, { kind: 'server' });
    await assert.rejects(acquireLock(directory, { kind: 'command', files: fullFiles }),
      { code: 'conflict' });
    holder.release();
    const { blocks } = statSync(join(directory, 'lock'));
    assert.ok(blocks > 0, 'the next owner can be named without a free block');
  });

test('a command needs no lock where nothing can be written, unless a process holds it elsewhere',
  async () => {
    const directory = createTemporaryFolder();
    const files = createReadOnlyFiles();
    const lock = await acquireLock(directory, { kind: 'command', files });
    assert.match(lock.refusal?.message ?? '', /^cannot write in .* is mounted read-only: \//);
    lock.announce(null);
    lock.release();
    assert.deepEqual(readdirSync(directory), []);
    await assert.rejects(acquireLock(directory, { kind: 'server', files }),
      { code: 'unavailable', message: /is mounted read-only/ });
    const holder = await acquireLock(directory, { kind: 'server' });
    assert.equal(holder.refusal, undefined);
    await assert.rejects(acquireLock(directory, { kind: 'command', files }), { code: 'conflict' });
    holder.release();
  });
