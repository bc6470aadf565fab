import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { writeBackup } from '../../src/store/backup/backup.ts';
import { openArchive, restoreBackup } from '../../src/store/backup/restore.ts';
import { checkImages, contentOn, imagesOf, sample, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import type { CallKind } from '../support/simulated-files.ts';
import { COLLECTIONS, type Outcome, createSteps, runSteps } from '../support/workload.ts';

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

const IMAGES = 150;

/** Two generations and some traffic since; every outcome is long known. */
async function createGenerations(): Promise<{ disk: Disk; outcomes: Outcome[] }> {
  const { store, files } = await openOn(new Disk());
  const outcomes: Outcome[] = [];
  for (const prefix of ['a', 'b']) {
    outcomes.push(...await runSteps(store, createSteps(121, 6, prefix), 2, () => 0));
    await store.compact();
  }
  outcomes.push(...await runSteps(store, createSteps(121, 5, 'c'), 2, () => 0));
  await store.close();
  return { disk: files.disk.crash({ kind: 'dropped' }), outcomes };
}

test('a crash in traffic after a fall back from a damaged snapshot loses nothing', async () => {
  const { disk, outcomes } = await createGenerations();
  const path = `${DIRECTORY}/books-000003.json`;
  const bytes = Buffer.from(disk.read(path));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40);
  disk.replace(path, bytes);
  const { store, files } = await openOn(disk);
  const later = await runSteps(store, createSteps(122, 12, 'd'), 3, () => files.history.length);
  await store.compact();
  later.push(...await runSteps(store, createSteps(122, 3, 'e'), 3, () => files.history.length));
  await store.close();
  const images = imagesOf(files, { seeds: 8, pageBytes: 64, tornEvery: 31 });
  await checkImages(sample(images, IMAGES, 1), [...outcomes, ...later], 5);
});

test('what is written behind a note whose sync failed unnoticed does not lie behind a hole',
  async () => {
    const first = await openOn(new Disk());
    const outcomes = await runSteps(first.store, createSteps(126, 4, 'a'), 2, () => 0);
    const isFailing = (kind: CallKind): boolean => kind === 'datasync' || kind === 'open';
    first.files.onCall = ({ kind }) => isFailing(kind) ? { code: 'EIO' } : null;
    await first.clock.advance(1000);
    assert.notEqual(first.store.failure, null, 'the mark of the pause was not synced');
    const { store, files } = await openOn(first.files.disk.crash({ kind: 'kept' }));
    const later = await runSteps(store, createSteps(127, 4, 'b'), 2, () => files.history.length);
    await store.close();
    const images = imagesOf(files, { seeds: 4, pageBytes: 64, tornEvery: 17 });
    await checkImages(images, [...outcomes, ...later], 5);
    first.files.onCall = () => null;
    await first.store.close();
  });

test('a crash at any moment of the copying after a failed sync loses nothing', async () => {
  const { disk, outcomes } = await createGenerations();
  const failing = await openOn(disk);
  const operations = (): number => failing.files.history.length;
  const good = await runSteps(failing.store, createSteps(123, 4, 'd'), 2, operations);
  failing.files.onCall = ({ kind }) => kind === 'datasync'
    ? { code: 'EIO', survival: { kind: 'random', seed: 5, pageBytes: 64 } } : null;
  const bad = await runSteps(failing.store, createSteps(124, 4, 'e'), 2, operations);
  failing.files.onCall = () => null;
  await failing.store.close();
  const known = [...outcomes, ...good, ...bad].map((outcome) => ({ ...outcome, seenAt: 0 }));
  // The process goes on to see what is not on the disk.
  const { store, files } = await openOn(failing.files.disk.crash({ kind: 'kept' }));
  assert.ok(store.statistics.generation > failing.store.statistics.generation);
  const later = await runSteps(store, createSteps(125, 4, 'f'), 2, () => files.history.length);
  await store.close();
  const images = imagesOf(files, { seeds: 8, pageBytes: 64, tornEvery: 31 });
  await checkImages(sample(images, IMAGES, 2), [...known, ...later], 5);
});
