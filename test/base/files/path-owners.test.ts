import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  canBeReplacedBy, findUntrustedStep, walkPath,
} from '../../../src/base/files/path-owners.ts';
import type { PathStep, PathWalk } from '../../../src/base/files/path-owners.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

function makeFolder(): string {
  return realpathSync(createTemporaryFolder());
}

test('every link and folder on the way is a step, and what is missing ends it', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/file'), '');
  symlinkSync('../a', join(folder, 'a/loop-free'));
  symlinkSync(join(folder, 'a'), join(folder, 'link'));
  symlinkSync('self', join(folder, 'self'));
  for (const [path, last, isThere] of [
    ['a/b', 'a/b', true], ['link/b', 'a/b', true], ['a/loop-free/b', 'a/b', true],
    ['link/none/below', 'a', false], ['a/file/below', 'a/file', false], ['a/file', 'a/file', true],
    ['a/../link/./b', 'a/b', true],
  ] as const) {
    const walk = walkPath(join(folder, path));
    assert.equal(walk.nearest.path, join(folder, last), path);
    assert.equal(walk.exists, isThere, path);
  }
  const steps = walkPath(join(folder, 'link/b')).steps.map((step) => step.path);
  for (const name of ['link', 'a', 'a/b', '.']) assert.ok(steps.includes(join(folder, name)));
  assert.equal(walkPath(join(folder, 'self')).exists, false);
});

const US = 1000;
const step = (uid: number, mode: number, gid = 0): PathStep =>
  ({ path: `/${uid}/${mode}`, uid, gid, mode, isDirectory: true, isLink: false, isFile: false });

test('finds a step that another user owns, or may write in unless it is sticky', () => {
  for (const [steps, isForeign] of [
    [[step(0, 0o755), step(US, 0o700)], false],
    [[step(0, 0o755), step(2000, 0o755), step(US, 0o700)], true],
    [[step(0, 0o777)], true], [[step(0, 0o1777), step(US, 0o700)], false],
    [[step(0, 0o775, 50)], true], [[step(0, 0o775)], false],
    [[{ ...step(2000, 0o777), isDirectory: false, isLink: true }], true],
    [[{ ...step(0, 0o777), isDirectory: false, isLink: true }], false],
  ] as const) {
    assert.equal(findUntrustedStep(steps, US) !== undefined, isForeign, JSON.stringify(steps));
  }
});

test('a path can be replaced by who owns a step, may write in one, or may create a missing one',
  () => {
    const user = { uid: US, groups: [US, 50] };
    const walk = (isThere: boolean, ...steps: readonly PathStep[]): PathWalk =>
      ({ steps, nearest: steps.at(-1) ?? step(0, 0), exists: isThere });
    for (const [given, isTheirs] of [
      [walk(true, step(0, 0o755), step(2000, 0o700)), false],
      [walk(true, step(0, 0o755), step(US, 0o700)), true],
      [walk(true, step(0, 0o777), step(0, 0o700)), true],
      [walk(true, step(0, 0o1777), step(0, 0o700)), false],
      [walk(false, step(0, 0o1777)), true], [walk(false, step(0, 0o755)), false],
      [walk(true, step(0, 0o775, 50), step(0, 0o700)), true],
      [walk(true, step(0, 0o775, 51), step(0, 0o700)), false],
    ] as const) {
      assert.equal(canBeReplacedBy(given, user), isTheirs, JSON.stringify(given));
    }
  });

test('a mode is looked at, not what we may do', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o777);
  assert.equal(walkPath(join(folder, 'open')).nearest.mode & 0o777, 0o777);
});
