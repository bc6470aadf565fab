import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { writeBackup } from '../../src/store/backup/backup.ts';
import { openArchive, restoreBackup } from '../../src/store/backup/restore.ts';
import { verifyDirectory } from '../../src/store/backup/verify.ts';
import { about, contentOn, imagesOf, sample } from '../support/crashes.ts';
import { DIRECTORY, openOn, openWith } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { COLLECTIONS, contentOf, createSteps, runSteps } from '../support/workload.ts';
import type { Content } from '../support/workload.ts';

const ELSEWHERE = '/var/backups';

/** A disk with two generations on it. */
async function prepare(): Promise<Disk> {
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(77, 8, 'a'), 2, () => 0);
  await store.compact();
  await runSteps(store, createSteps(77, 8, 'b'), 2, () => 0);
  await store.close();
  files.makeDirectorySync(ELSEWHERE);
  return files.disk.crash({ kind: 'kept' });
}

/** Backs up what is on the disk; `history` begins with the backup. */
async function backUp(disk: Disk, to: string): Promise<{ files: SimulatedFiles; held: Content }> {
  const { store, files } = await openOn(disk.clone());
  const held = contentOf(store);
  const copying = new SimulatedFiles(files.disk);
  const backup = await store.openBackupSources();
  const { contents } = backup;
  const names = backup.files.map(({ name }) => name);
  backup.close();
  const sources = names.map((name) => {
    const descriptor = copying.openSync(`${DIRECTORY}/${name}`, 'read');
    return { name, descriptor, offset: 0, bytes: copying.sizeSync(descriptor) };
  });
  await writeBackup(copying, { files: sources, contents, close() {} }, to, 0);
  await store.close();
  return { files: copying, held };
}

/** What a restore into an empty directory brings, or why it is refused. */
async function restored(disk: Disk, from: string): Promise<Content | AppError> {
  const files = new SimulatedFiles(disk.clone());
  for (const path of files.disk.paths) {
    if (path.startsWith(`${DIRECTORY}/`)) files.disk.replace(path, null);
  }
  try {
    const archive = await openArchive(files, from);
    await restoreBackup({
      directory: DIRECTORY, archive, files, specs: COLLECTIONS, isReplacing: true, nowMs: 0,
    });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  return contentOn(files.disk);
}

for (const name of ['copy', 'copy.tar']) {
  test(`a backup that a crash cuts off is whole, or refused, never less (${name})`, async () => {
    const to = `${ELSEWHERE}/${name}`;
    const { files, held } = await backUp(await prepare(), to);
    assert.deepEqual(await restored(files.disk, to), held);
    const images = imagesOf(files, { seeds: 8, pageBytes: 64, tornEvery: 512 });
    let refusals = 0;
    for (const { disk, origin } of sample(images, 300, 1)) {
      if (disk.find(to) === undefined) continue;
      await about(origin, async () => {
        const result = await restored(disk, to);
        if (!(result instanceof AppError)) return assert.deepEqual(result, held);
        refusals += 1;
        return assert.match(result.code, /^(damaged|not_found)$/);
      });
    }
    assert.ok(refusals > 0 || name.endsWith('.tar'), 'some crashes fall into the copying');
  });

  test(`a backup that finds no room leaves nothing behind (${name})`, async () => {
    const files = new SimulatedFiles(await prepare());
    const { store } = await openWith(files);
    const backup = await store.openBackupSources();
    const pathsBefore = files.disk.paths;
    files.bytesMax = files.disk.bytesUsed + 1500;
    await assert.rejects(writeBackup(files, backup, `${ELSEWHERE}/${name}`, 0), { code: 'ENOSPC' });
    assert.deepEqual(files.disk.paths, pathsBefore);
    files.bytesMax = Infinity;
    await writeBackup(files, backup, `${ELSEWHERE}/${name}`, 0);
    backup.close();
    await store.close();
  });
}

test('a backup that is done survives a crash, in new folders too', async () => {
  const to = '/srv/new/copy';
  const { files, held } = await backUp(await prepare(), to);
  assert.deepEqual(await restored(files.disk.crash({ kind: 'dropped' }), to), held);
});

test('where a backup was cut off, verifying says what a start would', async () => {
  const files = new SimulatedFiles(await prepare());
  files.closeSync(files.openSync(`${DIRECTORY}/backup.pending`, 'create'));
  const source = { directory: DIRECTORY, files, specs: COLLECTIONS };
  const refusal = await openWith(files).catch((error: unknown) => error);
  assert.ok(refusal instanceof AppError);
  await assert.rejects(verifyDirectory(source), { code: 'damaged', message: refusal.message });
});
