import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImages, imagesOf } from '../support/crashes.ts';
import { failAt } from '../support/faults.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, runSteps } from '../support/workload.ts';

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
