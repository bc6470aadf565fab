import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { verifyDirectory } from '../../src/store/backup/verify.ts';
import { recoverState } from '../../src/store/generations/recovery.ts';
import { finishReplacements, replaceState } from '../../src/store/generations/replacement.ts';
import { about, checkImages, contentOn, imagesOf } from '../support/crashes.ts';
import { failAt } from '../support/faults.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles, cuts } from '../support/simulated-files.ts';
import { COLLECTIONS, contentOf, createSteps, runSteps } from '../support/workload.ts';
import type { Content } from '../support/workload.ts';

const BEFORE = 'before-then';

/** A disk with two generations and a torn end that nobody has repaired yet. */
async function prepareOld(): Promise<Disk> {
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(77, 8, 'a'), 2, () => 0);
  await store.compact();
  await runSteps(store, createSteps(77, 8, 'b'), 2, () => 0);
  await store.close();
  return files.disk.crash({ kind: 'kept' });
}

/** Another state, in memory. */
async function prepareNew() {
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(5, 11, 'c'), 3, () => 0);
  const content = contentOf(store);
  await store.close();
  const state = await recoverState({ directory: DIRECTORY, files, specs: COLLECTIONS });
  return { state, content };
}

async function verify(disk: Disk): Promise<number> {
  const files = new SimulatedFiles(disk.clone());
  return (await verifyDirectory({ directory: DIRECTORY, files, specs: COLLECTIONS })).sequence;
}

function isEqual(left: Content, right: Content): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

for (const before of [BEFORE, null]) {
  test(`a crash of a replacement leaves the old state or the new one (before: ${before})`,
    async () => {
      const disk = await prepareOld();
      const oldContent = await contentOn(disk);
      const oldNames = disk.paths.filter((path) => /\.jsonl?$/.test(path));
      const { state, content } = await prepareNew();
      const files = new SimulatedFiles(disk);
      await replaceState(files, DIRECTORY, state, { before });
      assert.deepEqual(files.openPaths, []);
      let [oldCount, newCount] = [0, 0];
      const images = imagesOf(files, { seeds: 6, pageBytes: 64, tornEvery: 4096 });
      for (const { disk: image, origin } of images) {
        await about(origin, async () => {
          const sequence = await verify(image);
          const held = await contentOn(image);
          const isOld = isEqual(held, oldContent);
          assert.ok(isOld || isEqual(held, content), 'one of the two states');
          if (isOld) oldCount += 1;
          else newCount += 1;
          if (!isOld) assert.equal(sequence, state.sequence);
          // What a crash has left is finished, and then nothing is left of the other state.
          const finishing = new SimulatedFiles(image.clone());
          await finishReplacements(finishing, DIRECTORY);
          const after = finishing.disk.crash({ kind: 'dropped' });
          assert.ok(isEqual(await contentOn(after), held), 'finishing changes no state');
          assert.ok(!finishing.disk.paths.some((path) => path.endsWith('.replacing')));
          const isKept = before !== null && !isOld;
          for (const path of oldNames) {
            const kept = path.replace(DIRECTORY, `${DIRECTORY}/${BEFORE}`);
            assert.equal(after.paths.includes(path), isOld, path);
            assert.equal(after.paths.includes(kept), isKept, kept);
          }
        });
      }
      assert.ok(oldCount > 5 && newCount > 2, `${oldCount} old, ${newCount} new`);
    });
}

test('a crash while a start finishes a replacement leaves a whole state as well', async () => {
  const disk = await prepareOld();
  const oldContent = await contentOn(disk);
  const { state, content } = await prepareNew();
  const files = new SimulatedFiles(disk);
  // Old files that are deleted are lost for good.
  await replaceState(files, DIRECTORY, state, { before: null });
  // The process has died, and what it had not synced is not on disk yet.
  for (const { disk: image, index } of cuts(files, { tornEvery: Infinity })) {
    const origin = `at operation ${index}`;
    const started = await openOn(image.crash({ kind: 'kept' }));
    const leftovers = started.files.disk.paths.filter((path) => path.endsWith('.replacing'));
    assert.deepEqual(leftovers, [], `a start leaves no mark, ${origin}`);
    await started.store.close();
    for (const later of imagesOf(started.files, { seeds: 4, pageBytes: 64, tornEvery: Infinity })) {
      await about(`${origin}, and then ${later.origin}`, async () => {
        const held = await contentOn(later.disk);
        assert.ok(isEqual(held, oldContent) || isEqual(held, content), 'one of the two states');
      });
    }
  }
});

test('a replacement that finds no room leaves the old state as it was', async () => {
  const disk = await prepareOld();
  const oldContent = await contentOn(disk);
  const { state } = await prepareNew();
  const names = disk.paths;
  const used = disk.bytesUsed;
  for (const room of [0, 40, 200, 400, 700, 1000]) {
    const files = new SimulatedFiles(disk.clone());
    files.bytesMax = used + room;
    const replacing = replaceState(files, DIRECTORY, state, { before: BEFORE });
    await assert.rejects(replacing, { code: 'ENOSPC' });
    assert.deepEqual(files.openPaths, []);
    assert.deepEqual(files.disk.paths, names, `with room for ${room} bytes`);
    assert.deepEqual(await contentOn(files.disk.crash({ kind: 'kept' })), oldContent);
  }
});

test('a replacement fills an empty directory', async () => {
  const { state, content } = await prepareNew();
  const files = new SimulatedFiles(new Disk());
  files.makeDirectorySync(DIRECTORY);
  files.syncDirectorySync(dirname(DIRECTORY));
  files.syncDirectorySync('/');
  await replaceState(files, DIRECTORY, state, { before: null });
  assert.deepEqual(await contentOn(files.disk.crash({ kind: 'dropped' })), content);
});

const SEEDS = 16;

test('a crash at any step of a compaction of a quiet store keeps everything', async () => {
  const { store, files } = await openOn(new Disk());
  const outcomes = await runSteps(store, createSteps(31, 14), 3, () => files.history.length);
  const generation = store.statistics.generation;
  const from = files.history.length;
  await store.compact();
  assert.ok(store.statistics.generation > generation);
  await store.close();
  await checkImages(imagesOf(files, { seeds: SEEDS, pageBytes: 64, from }), outcomes, 5);
});

for (const between of [0, 4]) {
  const name = `and ${between} transactions`;
  test(`the same after a compaction that could not remove its journal, ${name}`, async () => {
    const { store, files } = await openOn(new Disk());
    const operations = (): number => files.history.length;
    const outcomes = await runSteps(store, createSteps(55, 6, 'a'), 2, operations);
    const { onCall } = failAt({ number: 3, fault: { code: 'EIO' }, also: 'unlink' });
    files.onCall = onCall;
    await assert.rejects(store.compact(), { code: 'unavailable' });
    files.onCall = () => null;
    assert.ok(files.existsSync(`${DIRECTORY}/journal-000002.jsonl`));
    outcomes.push(...await runSteps(store, createSteps(55, between, 'b'), 2, operations));
    const from = files.history.length;
    await store.compact();
    assert.equal(store.statistics.generation, 3);
    outcomes.push(...await runSteps(store, createSteps(55, 4, 'c'), 2, operations));
    await store.close();
    const images = imagesOf(files, { seeds: 6, pageBytes: 64, from, tornEvery: 17 });
    await checkImages(images, outcomes, 5);
  });
}

test('old snapshots are deleted, all but those of one generation to fall back on', async () => {
  const { store, files } = await openOn(new Disk());
  const counts: number[] = [];
  for (const prefix of ['a', 'b', 'c', 'd', 'e']) {
    await runSteps(store, createSteps(51, 5, prefix), 2, () => 0);
    await store.compact();
    counts.push(files.disk.paths.filter((path) => path.endsWith('.json')).length);
  }
  assert.equal(counts.at(-1), counts.at(-2));
  assert.equal(counts.at(-2), counts.at(-3));
  await store.close();
});
