import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDataDirectory } from '../../src/app/data-directory.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

test('a directory that is made is private, and the one of a clone becomes so at first', () => {
  for (const [names, mode] of [
    [null, 0o700], [['samples'], 0o700],
    // Somebody may have opened these on purpose.
    [[], 0o755], [['samples', 'lock'], 0o755], [['photos'], 0o755],
  ] as const) {
    const path = join(createTemporaryFolder(), 'data');
    if (names !== null) {
      mkdirSync(path);
      names.forEach((name) => mkdirSync(join(path, name)));
      chmodSync(path, 0o755);
    }
    makeDataDirectory(path);
    assert.equal(statSync(path).mode & 0o777, mode, String(names));
  }
});

test('a directory is made with its parents, and all names are on disk then', () => {
  const folder = createTemporaryFolder();
  const synced: string[] = [];
  const files = {
    ...createNodeFiles(),
    syncDirectorySync: (path: string) => {
      assert.ok(!existsSync(join(folder, 'new/deep/data')) || path === join(folder, 'new/deep'));
      synced.push(path);
    },
  };
  makeDataDirectory(join(folder, 'new/deep/data'), '--data', files);
  assert.deepEqual(synced.slice(-3), [folder, join(folder, 'new'), join(folder, 'new/deep')]);
});
