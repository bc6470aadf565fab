import assert from 'node:assert/strict';
import { test } from 'node:test';
import { about, checkImages, imagesOf, sample } from '../support/crashes.ts';
import { IS_LONG } from '../support/long.ts';
import { openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, runSteps } from '../support/workload.ts';

test('a crash at any moment of a recovery from a crash keeps what was acknowledged', async () => {
  const { store, files } = await openOn(new Disk());
  const outcomes = await runSteps(store, createSteps(2, 10), 3, () => files.history.length);
  await store.compact();
  outcomes.push(...await runSteps(store, createSteps(3, 8, 'u'), 4, () => files.history.length));
  await store.close();
  const crashes = sample(
    imagesOf(files, { seeds: 6, pageBytes: 64, tornEvery: 9 }), IS_LONG ? 36 : 12, 2);
  let recoveries = 0;
  for (const crash of crashes) {
    const recovering = await openOn(crash.disk.clone());
    await recovering.store.close();
    const images = imagesOf(recovering.files, { seeds: 2, pageBytes: 64 })
      .map((image) => ({ ...image, index: crash.index }));
    await about(crash.origin, () => checkImages(sample(images, 12, crash.index), outcomes, 8));
    recoveries += images.length;
  }
  assert.ok(recoveries > crashes.length, 'recoveries change the disk');
});

test('a third crash, in the recovery from the second, changes nothing about that', async () => {
  const { store, files } = await openOn(new Disk());
  const outcomes = await runSteps(store, createSteps(4, 12), 4, () => files.history.length);
  await store.close();
  const firstCrashes = imagesOf(files, { seeds: 6, pageBytes: 32, tornEvery: 5 });
  for (const first of sample(firstCrashes, IS_LONG ? 8 : 3, 4)) {
    const second = await openOn(first.disk.clone());
    await second.store.close();
    for (const image of sample(imagesOf(second.files, { seeds: 2, pageBytes: 32 }), 4, 5)) {
      const third = await openOn(image.disk.clone());
      await third.store.close();
      const images = imagesOf(third.files, { seeds: 2, pageBytes: 32 })
        .map((last) => ({ ...last, index: first.index }));
      await about(first.origin, () => checkImages(sample(images, 12, 6), outcomes, 6));
    }
  }
});
