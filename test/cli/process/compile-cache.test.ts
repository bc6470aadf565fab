import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { useCompileCache } from '../../../src/cli/process/compile-cache.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { NOBODY, needsRoot } from '../../support/users.ts';

test('keeps code in a folder beside the bundles that nobody else may enter', () =>
  inInstallation((dist) => {
    assert.deepEqual(cachesUsed(join(dist, 'chunks')), [join(dist, 'cache')]);
    assert.equal(statSync(join(dist, 'cache')).mode & 0o777, 0o700);
    assert.deepEqual(cachesUsed(join(dist, 'chunks')), [join(dist, 'cache')], 'and again');
  }));

test('keeps none for the sources, and where Node has no such cache', () =>
  inInstallation((dist) => {
    assert.deepEqual(cachesUsed(join(dist, 'base')), []);
    useCompileCache(join(dist, 'chunks'), null);
    assert.equal(statSync(join(dist, 'cache'), { throwIfNoEntry: false }), undefined);
  }));

test('does not use a folder that others may write, or one behind a link', () =>
  inInstallation((dist) => {
    const cache = join(dist, 'cache');
    mkdirSync(cache);
    for (const mode of [0o777, 0o770, 0o702]) {
      chmodSync(cache, mode);
      assert.deepEqual(cachesUsed(join(dist, 'chunks')), [], mode.toString(8));
    }
    rmSync(cache, { recursive: true });
    mkdirSync(join(dist, 'elsewhere'), { mode: 0o700 });
    symlinkSync('elsewhere', cache);
    assert.deepEqual(cachesUsed(join(dist, 'chunks')), []);
  }));

test('leaves the program of another user as it is', { skip: needsRoot }, () =>
  inInstallation((dist) => {
    chownSync(dist, NOBODY, NOBODY);
    assert.deepEqual(cachesUsed(join(dist, 'chunks')), []);
    assert.equal(statSync(join(dist, 'cache'), { throwIfNoEntry: false }), undefined);
    chownSync(dist, 0, 0);
    mkdirSync(join(dist, 'cache'), { mode: 0o700 });
    chownSync(join(dist, 'cache'), NOBODY, NOBODY);
    assert.deepEqual(cachesUsed(join(dist, 'chunks')), [], 'and does not run what another kept');
  }));

test('goes without where it cannot be made', { skip: needsRoot }, () => {
  // Nobody, not even root, makes a folder there.
  assert.deepEqual(cachesUsed('/proc/chunks'), []);
});

/** The folders that Node was told to keep code in. */
function cachesUsed(folder: string): string[] {
  const used: string[] = [];
  useCompileCache(folder, (cache: string) => used.push(cache));
  return used;
}

function inInstallation(use: (dist: string) => void): void {
  const dist = createTemporaryFolder();
  mkdirSync(join(dist, 'chunks'));
  use(dist);
}
