import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImages, imagesOf, sample } from '../support/crashes.ts';
import { IS_LONG } from '../support/long.ts';
import { openOn } from '../support/open-store.ts';
import { below, createRandom } from '../support/random.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, runSteps } from '../support/workload.ts';

const SEEDS = IS_LONG ? 8 : 2;
const IMAGES = IS_LONG ? 180 : 40;

test('a crash at any operation or byte, from the first start on, keeps what was acknowledged',
  async () => {
    const { store, files } = await openOn(new Disk());
    const outcomes = await runSteps(store, createSteps(1, 14), 3, () => files.history.length);
    assert.ok(outcomes.some(({ error }) => error !== null), 'some are refused');
    await store.close();
    const images = imagesOf(files, { seeds: SEEDS, pageBytes: 64 });
    const contents = await checkImages(images, outcomes, 10);
    const commits = outcomes.filter(({ error }) => error === null).length;
    assert.ok(contents > commits / 2, `${contents} contents of ${commits} commits were seen`);
  });

test('the same in longer traffic of many writers, with batches torn into pages', async () => {
  for (const seed of [11, 12, 13]) {
    const random = createRandom(seed);
    const { store, files, clock } = await openOn(new Disk());
    clock.tickMs = seed % 2;
    files.turnsOf = () => 1 + below(random, 4);
    const steps = createSteps(seed, 120);
    const outcomes = await runSteps(store, steps, 16, () => files.history.length);
    await store.close();
    const images = imagesOf(files, { seeds: 12, pageBytes: 32, tornEvery: 7 });
    await checkImages(sample(images, IMAGES, seed), outcomes, 10);
  }
});

test('the same in traffic after a start on a disk that has seen a crash', async () => {
  const first = await openOn(new Disk());
  const earlier = await runSteps(first.store, createSteps(21, 20), 4, () => 0);
  const crashed = first.files.disk.crash({ kind: 'random', seed: 21, pageBytes: 64 });
  await first.store.close();
  const { store, files } = await openOn(crashed);
  const later = await runSteps(store, createSteps(22, 12, 'u'), 3, () => files.history.length);
  await store.close();
  await checkImages(imagesOf(files, { seeds: SEEDS, pageBytes: 64, tornEvery: 5 }),
    [...earlier, ...later], 10);
});
