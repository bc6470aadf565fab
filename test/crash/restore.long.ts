import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { writeBackup } from '../../src/store/backup/backup.ts';
import { openArchive, restoreBackup } from '../../src/store/backup/restore.ts';
import { contentOn, imagesOf, sample, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { COLLECTIONS, createSteps, runSteps } from '../support/workload.ts';

const BACKUP = '/var/backup';

/** What a crash leaves of a disk with a finished backup on it, and other data since. */
async function prepare(tar: boolean): Promise<{ readonly disk: Disk; readonly from: string }> {
  const from = tar ? `${BACKUP}.tar` : BACKUP;
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(101, 6, 'a'), 2, () => 0);
  await store.compact();
  await runSteps(store, createSteps(101, 4, 'b'), 2, () => 0);
  const backup = await store.openBackupSources();
  await writeBackup(files, backup, from, 0);
  backup.close();
  await runSteps(store, createSteps(101, 4, 'c'), 2, () => 0);
  await store.close();
  return { disk: files.disk.crash({ kind: 'dropped' }), from };
}

async function restore(
  files: SimulatedFiles, from: string, nowMs: number, isReplacing: boolean,
): Promise<void> {
  const archive = await openArchive(files, from);
  await restoreBackup({
    directory: DIRECTORY, archive, files, specs: COLLECTIONS, isReplacing, nowMs,
  });
}

/** Whether every file of the first disk is still there, in the directory or in a `before-…`. */
function keepsAll(first: Disk, later: Disk): boolean {
  const dataOf = (disk: Disk): string[] => disk.paths
    .filter((path) => path.startsWith(`${DIRECTORY}/`) && /\.jsonl?$/.test(path))
    .map((path) => `${basename(path)} ${disk.read(path).toString('base64')}`);
  const there = new Set(dataOf(later));
  return dataOf(first).every((file) => there.has(file));
}

/** Cuts a restore everywhere; each start serves old or new data. */
async function checkRestore(disk: Disk, from: string, isReplacing: boolean): Promise<void> {
  const old = await contentOn(disk);
  const files = new SimulatedFiles(disk.clone());
  await restore(files, from, 1000, isReplacing);
  const restored = await contentOn(files.disk);
  assert.notDeepEqual(restored, old);
  const images = imagesOf(files, { seeds: 16, pageBytes: 64, tornEvery: Infinity });
  for (const image of sample(images, 400, 1)) {
    assert.ok(keepsAll(disk, image.disk), `${image.origin}: a file of the old data is lost`);
    const start = await startOn(image.disk);
    assert.ok('content' in start, image.origin);
    const expected = JSON.stringify(start.content) === JSON.stringify(old) ? old : restored;
    assert.deepEqual(start.content, expected, image.origin);
    const again = new SimulatedFiles(image.disk.clone());
    await restore(again, from, 2000, isReplacing || expected === restored);
    assert.deepEqual(await contentOn(again.disk), restored, `again, ${image.origin}`);
  }
}

for (const tar of [false, true]) {
  test(`a crash at any moment of a restore loses neither old nor new (tar: ${tar})`, async () => {
    const { disk, from } = await prepare(tar);
    await checkRestore(disk, from, true);
  });

  test(`the same in a directory without data (tar: ${tar})`, async () => {
    const { disk, from } = await prepare(tar);
    for (const path of disk.paths.filter((name) => name.startsWith(`${DIRECTORY}/`))) {
      disk.replace(path, null);
    }
    await checkRestore(disk, from, false);
  });
}
