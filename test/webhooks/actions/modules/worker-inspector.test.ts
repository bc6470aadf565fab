import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  WorkerInspector,
} from '../../../../src/webhooks/actions/modules/worker-inspector.ts';

const ROUNDS = 25;
const WORKERS = 6;

test('workers that end while others are looked into leave the process alive', async () => {
  WorkerInspector.attachToWorkers();
  let count = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const workers = Array.from({ length: WORKERS }, () =>
      new Worker('setTimeout(() => process.exit(), 2);', { eval: true }));
    const exits = workers.map((worker) => once(worker, 'exit'));
    for (const worker of workers) {
      worker.on('online', () => {
        count += lookInto(workers);
      });
    }
    await Promise.all(exits);
  }
  assert.ok(count > ROUNDS, `looked into ${count} times`);
});

/** Returns how many of them could be looked into. */
function lookInto(workers: readonly Worker[]): number {
  let count = 0;
  WorkerInspector.attachToWorkers();
  for (const { threadId } of workers) {
    try {
      new WorkerInspector(threadId).close();
      count += 1;
    } catch (error) {
      assert.match(String(error), /no worker thread .* is attached/);
    }
  }
  return count;
}
