/** The lock where flock(1) is missing: of two that take it at once one fails. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import { describeThisProcess } from '../../../src/store/lock/lock-owner.ts';
import { acquireLock } from '../../../src/store/lock/directory-lock.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const program = 'no-such-program';
const real = createNodeFiles();

/** Another live process's lock, as its file. */
function someoneElse(): string {
  return JSON.stringify({ ...describeThisProcess(real, 'server', null, false), pid: process.pid });
}

/** Files whose first creation of `name` comes after something else has happened. */
function overtaken(name: string, happen: () => void): Files {
  let isOver = false;
  return {
    ...real,
    openSync(path, mode) {
      if (!isOver && mode === 'create' && path.endsWith(`/${name}`)) {
        isOver = true;
        happen();
      }
      return real.openSync(path, mode);
    },
  };
}

test('a start that others overtook while it slept gives way to the one that holds the lock',
  async () => {
    const directory = createTemporaryFolder();
    const other = join(directory, 'lock-2');
    // Meanwhile the first of them has ended, and the second has removed its file.
    const files = overtaken('lock-1', () => writeFileSync(other, someoneElse()));
    await assert.rejects(acquireLock(directory, { kind: 'server', program, files }),
      { code: 'conflict' });
    assert.equal(readFileSync(other, 'utf8'), someoneElse());
    assert.doesNotMatch(readFileSync(join(directory, 'lock-1'), 'utf8'), /pid/);
    rmSync(other);
    (await acquireLock(directory, { kind: 'server', program })).release();
  });

test('a start that finds its number taken gives way', async () => {
  const directory = createTemporaryFolder();
  const path = join(directory, 'lock-1');
  const files = overtaken('lock-1', () => writeFileSync(path, someoneElse()));
  await assert.rejects(acquireLock(directory, { kind: 'server', program, files }),
    { code: 'conflict' });
  assert.equal(readFileSync(path, 'utf8'), someoneElse());
});

test('a lock whose owner has not yet written its name is waited for, and then respected',
  async () => {
    const directory = createTemporaryFolder();
    const path = join(directory, 'lock-1');
    writeFileSync(path, '');
    let looks = 0;
    const files: Files = {
      ...real,
      sizeSync(descriptor) {
        looks += 1;
        if (looks === 2) writeFileSync(path, someoneElse());
        return real.sizeSync(descriptor);
      },
    };
    await assert.rejects(acquireLock(directory, { kind: 'server', program, files }),
      { code: 'conflict' });
    assert.ok(looks >= 2);
    assert.deepEqual(readdirSync(directory).filter((name) => name === 'lock-2'), []);
  });

test('a start that has the highest number still gives way to one that locked the other way',
  async () => {
    const directory = createTemporaryFolder();
    const lockFile = join(directory, 'lock');
    const files = overtaken('lock-1', () => writeFileSync(lockFile, someoneElse()));
    await assert.rejects(acquireLock(directory, { kind: 'server', program, files }),
      { code: 'conflict' });
    assert.doesNotMatch(readFileSync(join(directory, 'lock-1'), 'utf8'), /pid/);
  });

test('of what it replaces a lock leaves nothing, and of what replaces it everything',
  async () => {
    const directory = createTemporaryFolder();
    writeFileSync(join(directory, 'lock-4'), JSON.stringify({ released: true }));
    const lock = await acquireLock(directory, { kind: 'server', program });
    assert.ok(!existsSync(join(directory, 'lock-4')));
    assert.ok(existsSync(join(directory, 'lock-5')));
    lock.release();
  });

for (const way of ['flock', program]) {
  test(`a server is not waited for: who finds one fails at once (${way})`, {
    skip: way === 'flock' && spawnSync('flock', ['--version']).error !== undefined
      && 'flock(1) is missing here',
  }, async (context) => {
    const directory = createTemporaryFolder();
    const lock = await acquireLock(directory, { kind: 'server', program: way });
    context.after(() => lock.release());
    const clock = {
      ...systemClock,
      startTimer(): never {
        throw new Error('it waited');
      },
    };
    for (const kind of ['server', 'command'] as const) {
      await assert.rejects(acquireLock(directory, { kind, program: way, waitMs: 5000, clock }),
        { code: 'conflict' });
    }
  });
}
