import assert from 'node:assert/strict';
import {
  chmodSync, chownSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  checkCommandDirectory, checkCommand, listCommands, resolveCommand, resolveWorkingDirectory,
} from '../../../../src/webhooks/actions/commands/command-directory.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { CommandPlace } from './command-place.ts';

const IS_ROOT = process.geteuid?.() === 0;
const NOBODY = 65_534;

function assertRefused(look: () => unknown, problem: RegExp): void {
  assert.throws(look, (thrown: unknown) => {
    assert.ok(thrown instanceof AppError);
    assert.equal(thrown.code, 'usage');
    assert.match(thrown.message, problem);
    return true;
  });
}

test('a command is the real path of an executable file', () => {
  const place = new CommandPlace();
  const path = place.add('deploy.sh');
  place.add('-n.sh');
  assert.equal(resolveCommand(place.directory, 'deploy.sh'), realpathSync(path));
  assert.equal(resolveCommand(place.directory, '-n.sh'), realpathSync(join(place.path, '-n.sh')));
});

test('what is no executable file is refused, with the names that are there', () => {
  const { directory, ...place } = new CommandPlace();
  mkdirSync(join(place.path, 'folder'));
  assertRefused(() => resolveCommand(directory, 'deploy.sh'), /is no file in .*: none is known$/);
});

test('a name that is not there gets the one that was likely meant', () => {
  const place = new CommandPlace();
  place.add('deploy.sh');
  mkdirSync(join(place.path, 'folder'));
  const { directory } = place;
  assertRefused(() => resolveCommand(directory, 'depoly.sh'), /did you mean `deploy\.sh`\?$/);
  assertRefused(() => resolveCommand(directory, 'folder'), /"folder" is no file in/);
  place.add('text', 'x', 0o644);
  assertRefused(() => resolveCommand(directory, 'text'),
    /text: is not executable; run: chmod u\+x '.*text'$/);
});

test('a file and a folder that others may write in are refused at each look', () => {
  const place = new CommandPlace();
  const path = place.add('deploy.sh');
  const { directory } = place;
  for (const mode of [0o775, 0o757]) {
    chmodSync(path, mode);
    assertRefused(() => resolveCommand(directory, 'deploy.sh'),
      /deploy\.sh: is writable by group or others; run: chmod go-w/);
  }
  chmodSync(path, 0o755);
  for (const mode of [0o775, 0o757, 0o1777]) {
    chmodSync(place.path, mode);
    for (const look of [
      () => resolveCommand(directory, 'deploy.sh'), () => checkCommandDirectory(directory),
      () => listCommands(directory), () => resolveWorkingDirectory(directory, '.'),
    ]) {
      assertRefused(look, /hooks: is writable by group or others; run: chmod go-w/);
    }
  }
  chmodSync(place.path, 0o755);
  assert.equal(resolveCommand(directory, 'deploy.sh'), realpathSync(path));
});

test('a file and a folder of another user are refused', { skip: !IS_ROOT }, () => {
  const place = new CommandPlace();
  const path = place.add('deploy.sh');
  chownSync(path, NOBODY, NOBODY);
  assertRefused(() => resolveCommand(place.directory, 'deploy.sh'),
    /deploy\.sh: is user 65534's, neither ours nor root's; run: chown/);
  chownSync(path, 0, 0);
  chownSync(place.path, NOBODY, NOBODY);
  assertRefused(() => checkCommandDirectory(place.directory), /hooks: is user 65534's/);
});

test('a folder that is closed to us is told with its path and our user', { skip: !IS_ROOT }, () => {
  const place = new CommandPlace();
  const folder = join(place.folder, 'closed');
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(join(folder, 'a.sh'), join(place.path, 'a.sh'));
  chmodSync(place.folder, 0o755);
  process.seteuid?.(NOBODY);
  try {
    assertRefused(() => resolveCommand(place.directory, 'a.sh'), new RegExp(
      `^EACCES: .* as user 65534 .*: ${folder} belongs to user 0 .*: ls -ld ${folder}$`));
  } finally {
    process.seteuid?.(0);
  }
});

test('root looks at every folder above', { skip: !IS_ROOT }, () => {
  const place = new CommandPlace();
  place.add('deploy.sh');
  chownSync(place.folder, NOBODY, NOBODY);
  assertRefused(() => checkCommandDirectory(place.directory), /is user 65534's/);
  chownSync(place.folder, 0, 0);
});

test('a link counts as its target, and the folders on the way are looked at', () => {
  const place = new CommandPlace();
  const elsewhere = join(place.folder, 'bin');
  mkdirSync(elsewhere, { mode: 0o755 });
  const other = new CommandPlace();
  const target = other.add('real.sh');
  symlinkSync(target, join(place.path, 'link.sh'));
  symlinkSync(join(place.folder, 'missing'), join(place.path, 'broken.sh'));
  symlinkSync('round.sh', join(place.path, 'round.sh'));
  const { directory } = place;
  assert.equal(resolveCommand(directory, 'link.sh'), realpathSync(target));
  chmodSync(target, 0o777);
  assertRefused(() => resolveCommand(directory, 'link.sh'), /real\.sh: is writable by group/);
  chmodSync(target, 0o755);
  chmodSync(other.path, 0o777);
  assertRefused(() => resolveCommand(directory, 'link.sh'), /hooks: is writable by group/);
  chmodSync(other.path, 0o755);
  assertRefused(() => resolveCommand(directory, 'broken.sh'),
    /"broken\.sh" is a link to \/.*\/missing, which is not there: put it there, or make the link/);
  assertRefused(() => resolveCommand(directory, 'round.sh'),
    /"round\.sh" is a link to round\.sh, which is not there/);
});

test('a configuration may name a link whose target is not there yet, and no other problem', () => {
  const place = new CommandPlace();
  const { directory } = place;
  const target = join(place.folder, 'late.sh');
  symlinkSync(target, join(place.path, 'late.sh'));
  checkCommand(directory, 'late.sh');
  assertRefused(() => resolveCommand(directory, 'late.sh'), /is not there: put it there/);
  assertRefused(() => checkCommand(directory, 'lat.sh'), /did you mean `late\.sh`/);
  for (const [name, late] of [['bash', 'late'], ['own.sh', 'python3']] as const) {
    symlinkSync(join(place.folder, late), join(place.path, name));
    assertRefused(() => checkCommand(directory, name), /is an interpreter/);
  }
  writeFileSync(target, '#!/bin/sh\n', { mode: 0o755 });
  checkCommand(directory, 'late.sh');
  assert.equal(resolveCommand(directory, 'late.sh'), realpathSync(target));
  chmodSync(target, 0o777);
  assertRefused(() => checkCommand(directory, 'late.sh'), /late\.sh: is writable by group/);
  rmSync(target);
  mkdirSync(target);
  assertRefused(() => checkCommand(directory, 'late.sh'), /which is no file: make it anew$/);
});

test('the folder may itself be a link', () => {
  const place = new CommandPlace();
  const path = place.add('deploy.sh');
  const link = join(place.folder, 'link');
  symlinkSync(place.path, link);
  const directory = { path: link, workingDirectories: [] };
  assert.equal(resolveCommand(directory, 'deploy.sh'), realpathSync(path));
  assert.equal(resolveWorkingDirectory(directory, '.'), realpathSync(place.path));
});

test('a folder that is missing or is a file is refused', () => {
  const place = new CommandPlace();
  const path = place.add('deploy.sh');
  const isFile = { path, workingDirectories: [] };
  assertRefused(() => checkCommandDirectory(isFile), /is not a folder; correct the setting/);
  rmSync(place.path, { recursive: true });
  assertRefused(() => checkCommandDirectory(place.directory),
    /is not there; make the folder, or correct/);
});

test('a command that mends rights can be copied to a shell, whatever the file is called', () => {
  const place = new CommandPlace();
  const { directory } = place;
  place.add("it's.sh", '#!/bin/sh\n', 0o644);
  assertRefused(() => resolveCommand(directory, "it's.sh"), /chmod u\+x '.*it'\\''s\.sh'$/);
  place.add("it's.sh", '#!/bin/sh\n', 0o777);
  assertRefused(() => resolveCommand(directory, "it's.sh"), /chmod go-w '.*it'\\''s\.sh'$/);
});

test('of a program of root, root is named to let it be executed', { skip: !IS_ROOT }, () => {
  const place = new CommandPlace();
  const { directory, folder, path } = place;
  place.add('a.sh', '#!/bin/sh\n', 0o644);
  for (const open of [folder, path]) chmodSync(open, 0o755);
  chownSync(path, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    assertRefused(() => resolveCommand(directory, 'a.sh'),
      /a\.sh: is root's, and not executable for us; run as root: chmod a\+x '/);
  } finally {
    process.seteuid?.(0);
  }
});

test('the list has programs, and says which of them cannot run', () => {
  const place = new CommandPlace();
  place.add('b.sh');
  place.add('a.sh', '#!/bin/sh\n', 0o777);
  place.add('text', 'x', 0o644);
  place.add('empty', '', 0o644);
  place.add('script', '#!/bin/sh\n', 0o644);
  mkdirSync(join(place.path, 'folder'));
  symlinkSync('folder', join(place.path, 'linked-folder'));
  symlinkSync('missing', join(place.path, 'broken'));
  const list = listCommands(place.directory);
  assert.deepEqual(list.map(({ name }) => name), ['a.sh', 'b.sh', 'broken', 'script']);
  assert.match(list[0]?.problem ?? '', /a\.sh: is writable by group or others/);
  assert.equal(list[1]?.problem, null);
  assert.match(list[2]?.problem ?? '', /"broken" is a link to missing, which is not there/);
  assert.match(list[3]?.problem ?? '', /script: is not executable; run: chmod u\+x/);
});

test('commands run below the folder, or in a folder that the settings name', () => {
  const named = createTemporaryFolder();
  mkdirSync(join(named, 'inner'));
  const place = new CommandPlace([named]);
  const below = join(place.path, 'site');
  mkdirSync(below);
  place.add('deploy.sh');
  symlinkSync('/etc', join(place.path, 'out'));
  mkdirSync(`${place.path}-beside`);
  const { directory } = place;
  for (const path of ['site', './site', below, join(place.path, 'x', '..', 'site')]) {
    assert.equal(resolveWorkingDirectory(directory, path), realpathSync(below));
  }
  assert.equal(resolveWorkingDirectory(directory, place.path), realpathSync(place.path));
  assert.equal(resolveWorkingDirectory(directory, named), realpathSync(named));
  for (const path of ['/etc', '..', 'out', `${place.path}-beside`, join(named, 'inner')]) {
    assertRefused(() => resolveWorkingDirectory(directory, path), /is not below .*hooks; name it/);
  }
  assertRefused(() => resolveWorkingDirectory(directory, 'missing'), /is not there/);
  assertRefused(() => resolveWorkingDirectory(directory, 'deploy.sh'), /is not a folder/);
});

test('an interpreter is refused by its own name and by that of its target', () => {
  const place = new CommandPlace();
  const other = new CommandPlace();
  for (const name of ['bash', 'python3.11', 'env', 'perl5.36-x86_64-linux-gnu', 'busybox-static']) {
    place.add(name);
    assertRefused(() => resolveCommand(place.directory, name), /is an interpreter, or starts/);
  }
  symlinkSync(other.add('node'), join(place.path, 'deploy'));
  assertRefused(() => resolveCommand(place.directory, 'deploy'), /node: is an interpreter/);
  const names = ['shell.sh', 'env-report', 'python-deploy', 'node.sh', 'deploy2'];
  for (const name of names) place.add(name);
  assert.deepEqual(listCommands(place.directory).filter(({ problem }) => problem === null)
    .map(({ name }) => name), names.sort());
});

test('a file with the rights of its owner or group is refused', () => {
  const place = new CommandPlace();
  for (const mode of [0o4755, 0o2755]) {
    place.add('mount', '#!/bin/sh\n', mode);
    assertRefused(() => resolveCommand(place.directory, 'mount'), /mount: runs with the rights of/);
  }
});
