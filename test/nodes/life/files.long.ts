/** The whole rig with one node over files: it is killed, frozen, and keeps every promise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesRig } from './engine-rigs.ts';
import { Life } from './life.ts';

const WRITES = 150;

test('one node over files keeps what several nodes promise, killed and frozen', async () => {
  const life = await Life.start({ rig: filesRig, seed: 15, nodes: 1 });
  try {
    const shelf = life.shelf(0);
    await life.progress(WRITES);
    await life.disturb(() => life.freeze(shelf, 500));
    await life.progress(WRITES);
    await life.disturb(async () => {
      await shelf.stop('SIGKILL');
      await shelf.start();
    });
    await life.progress(WRITES);
    assert.deepEqual((await life.end()).slice(0, 5), []);
    assert.ok(life.receiver.attempts.length >= WRITES && life.workload.reads.length > 0);
    const { lateHooks, emitters: { emissions } } = life;
    assert.ok(lateHooks !== null && lateHooks.backfills > 2 && lateHooks.late.length === 2);
    assert.ok(emissions.some(({ cancellation }) => cancellation?.outcome === 'ok'));
  } finally {
    await life.close();
  }
});
