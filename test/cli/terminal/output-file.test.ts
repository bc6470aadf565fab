import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, chownSync, closeSync, constants, mkdirSync, openSync, readFileSync, readdirSync,
  rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OutputFile } from '../../../src/cli/terminal/output-file.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

async function openFile(path: string): Promise<OutputFile> {
  const file = new OutputFile(path);
  await file.open();
  return file;
}

test('only its owner can read a file under any umask, and it appears when it is whole',
  async (context) => {
    const folder = createTemporaryFolder();
    const path = join(folder, 'books.csv');
    writeFileSync(path, 'before', { mode: 0o666 });
    chmodSync(path, 0o666);
    const umask = process.umask(0);
    context.after(() => process.umask(umask));
    const file = await openFile(path);
    await file.write('one\n');
    await file.write('two\n');
    assert.equal(readFileSync(path, 'utf8'), 'before');
    const parts = readdirSync(folder).filter((name) => name !== 'books.csv');
    assert.deepEqual(parts.map((name) => statSync(join(folder, name)).mode & 0o777), [0o600]);
    await file.commit();
    assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['books.csv']);
  });

test('follows no link at its name or at a temporary name',
  async () => {
    const folder = createTemporaryFolder();
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'precious');
    for (const name of ['books.csv', 'books.csv.part']) symlinkSync(precious, join(folder, name));
    const path = join(folder, 'books.csv');
    const file = await openFile(path);
    await file.write('books');
    await file.commit();
    assert.equal(readFileSync(path, 'utf8'), 'books');
    assert.equal(readFileSync(precious, 'utf8'), 'precious');
  });

test('discarding a file leaves the older one', async () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'books.csv');
  writeFileSync(path, 'before');
  const file = await openFile(path);
  await file.write('half');
  await file.discard();
  assert.equal(readFileSync(path, 'utf8'), 'before');
  assert.deepEqual(readdirSync(folder), ['books.csv']);
});

test('writes to no file that has taken the place of a pipe', async () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'books.json');
  const precious = join(folder, 'precious');
  writeFileSync(precious, 'precious');
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
  const file = new OutputFile(path);
  rmSync(path);
  symlinkSync(precious, path);
  await assert.rejects(file.open(), { code: 'unavailable', message: /in the place of the pipe/ });
  await file.discard();
  assert.equal(readFileSync(precious, 'utf8'), 'precious');
});

test("writes to no pipe of another user's", {
  skip: process.geteuid?.() === 0 ? false : 'only root can make one for another user',
}, async (context) => {
  const path = join(createTemporaryFolder(), 'books.json');
  assert.equal(spawnSync('mkfifo', ['-m', '666', path]).status, 0);
  chownSync(path, 12_345, 12_345);
  const reader = openSync(path, constants.O_RDWR);
  context.after(() => closeSync(reader));
  const file = new OutputFile(path);
  await assert.rejects(file.open(), { code: 'unavailable', message: /a pipe of user 12345/ });
  await file.discard();
});

test('writes to a device directly, and refuses a folder', {
  skip: process.platform !== 'linux' && 'needs /dev/full',
}, async () => {
  const folder = createTemporaryFolder();
  const nothing = await openFile('/dev/null');
  await nothing.write('books');
  await nothing.commit();
  assert.ok(!statSync('/dev/null').isFile());
  const full = await openFile('/dev/full');
  await assert.rejects(full.write('books'), { code: 'unavailable', message: /ENOSPC/ });
  await full.discard();
  mkdirSync(join(folder, 'below'));
  await assert.rejects(openFile(join(folder, 'below')), { code: 'unavailable' });
  await assert.rejects(openFile(join(folder, 'none', 'x')), { code: 'unavailable' });
});
