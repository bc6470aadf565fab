import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImages, imagesOf } from '../support/crashes.ts';
import { IS_LONG } from '../support/long.ts';
import { openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, runSteps } from '../support/workload.ts';

const SEEDS = IS_LONG ? 8 : 2;

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
