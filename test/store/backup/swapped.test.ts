import assert from 'node:assert/strict';
import {
  mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFiles, writeBackup } from '../../../src/store/backup/backup.ts';
import { createNodeFiles, type Files } from '../../../src/store/disk/files.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const NAMES = ['books-000002.json', 'journal-000002.jsonl'];

test('a backup whose directory is swapped for the data leaves the data alone', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  const target = join(folder, 'backup');
  for (const path of [data, target]) mkdirSync(path);
  for (const name of NAMES) writeFileSync(join(data, name), name);
  const files = createNodeFiles();
  // What another user does who owns the folder above.
  const swapped: Files = {
    ...files,
    openSync(path, mode) {
      const descriptor = files.openSync(path, mode);
      if (path.endsWith('backup.pending')) {
        renameSync(target, `${target}.was`);
        symlinkSync(data, target);
      }
      return descriptor;
    },
  };
  const wanted = NAMES.map((name) => ({ name, bytes: null }));
  const backup = openFiles(files, data, wanted, null);
  await writeBackup(swapped, backup, target, 0);
  backup.close();
  for (const place of [data, `${target}.was`]) {
    assert.deepEqual(readdirSync(place).sort(), NAMES);
    for (const name of NAMES) assert.equal(readFileSync(join(place, name), 'utf8'), name);
  }
});
