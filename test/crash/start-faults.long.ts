import assert from 'node:assert/strict';
import { test } from 'node:test';
import { about, checkGoesOn, checkImages, imagesOf, sample } from '../support/crashes.ts';
import { FAULTS, failAt } from '../support/faults.ts';
import { openOn, openWith } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles, type Call } from '../support/simulated-files.ts';
import { checkHolds, createSteps, runSteps } from '../support/workload.ts';

/** Starts, and stops, with a hook in place; a start that fails must leave no file open. */
async function startWith(files: SimulatedFiles): Promise<void> {
  try {
    const { store } = await openWith(files);
    await store.close();
  } catch (error) {
    assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error));
  }
  assert.deepEqual(files.openPaths, []);
}

/** The calls of a start on a copy of the disk. */
async function callsOn(disk: Disk): Promise<readonly Call[]> {
  const files = new SimulatedFiles(disk.clone());
  const { calls, onCall } = failAt({ number: -1, fault: {}, also: null });
  files.onCall = onCall;
  await startWith(files);
  return calls;
}

test('a start on a full disk serves what is there, and takes writes once there is room',
  async () => {
    const { store, files } = await openOn(new Disk());
    const outcomes = await runSteps(store, createSteps(93, 6), 3, () => files.history.length);
    const full = new SimulatedFiles(files.disk.crash({ kind: 'kept' }));
    await store.close();
    full.bytesMax = full.disk.bytesUsed;
    const next = await openWith(full);
    checkHolds(next.store, outcomes, Infinity);
    await assert.rejects(next.store.transact((transaction) => {
      transaction.put('books', 'b', '{"id":"b"}');
    }), { code: 'storage_full' });
    full.bytesMax = Infinity;
    await next.clock.advance(3000);
    await checkGoesOn(next.store);
    await next.store.close();
  });

test('a failure of any one call of a start after a crash loses nothing', async () => {
  const { store, files } = await openOn(new Disk());
  const outcomes = await runSteps(store, createSteps(91, 6), 3, () => files.history.length);
  await store.compact();
  outcomes.push(...await runSteps(store, createSteps(92, 6, 'u'), 3, () => files.history.length));
  await store.close();
  let starts = 0;
  const crashes = imagesOf(files, { seeds: 4, pageBytes: 64, tornEvery: 9 });
  for (const crash of sample(crashes, 6, 9)) {
    for (const [number, { kind, path }] of (await callsOn(crash.disk)).entries()) {
      for (const fault of FAULTS[kind]) {
        const faulted = new SimulatedFiles(crash.disk.clone());
        faulted.onCall = failAt({ number, fault, also: null }).onCall;
        const origin = `${crash.origin}, ${JSON.stringify(fault)} at ${number}: ${kind} ${path}`;
        await about(origin, async () => {
          await startWith(faulted);
          const from = faulted.history.length;
          const images = imagesOf(faulted, { seeds: 1, pageBytes: 64, from })
            .map((image) => ({ ...image, index: crash.index }));
          await checkImages(images, outcomes, 2);
        });
        starts += 1;
      }
    }
  }
  assert.ok(starts > 100, `${starts} starts`);
});
