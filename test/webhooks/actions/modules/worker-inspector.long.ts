import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { closeInspector } from '../../../../src/webhooks/actions/modules/worker-program.ts';
import { WorkerInspector } from '../../../../src/webhooks/actions/modules/worker-inspector.ts';

const ROUNDS = 15;
const WORKERS = 6;
const PROGRAM = `const __name = (value) => value;
${String(closeInspector)}
const { mark, lifeMs } = require('node:worker_threads').workerData;
process.on('exit', () => closeInspector(mark));
setTimeout(() => process.exit(), lifeMs);`;

test('workers that end while others are looked into leave the process alive', async () => {
  WorkerInspector.attachToWorkers();
  let count = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const marks = new Map<Worker, Int32Array>();
    for (let lifeMs = 0; lifeMs < WORKERS; lifeMs += 1) {
      const mark = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const worker = new Worker(PROGRAM, { eval: true, workerData: { mark, lifeMs } });
      marks.set(worker, mark);
      worker.on('exit', () => marks.delete(worker));
    }
    while (marks.size > 0) {
      count += lookInto(marks);
      await nextTurn();
    }
  }
  assert.ok(count > ROUNDS, `looked into ${count} times`);
});

/** Returns how many of them could be looked into. */
function lookInto(workers: Iterable<readonly [Worker, Int32Array]>): number {
  let count = 0;
  for (const [{ threadId }, mark] of workers) {
    WorkerInspector.attachToWorkers();
    try {
      const inspector = new WorkerInspector(threadId, mark);
      void inspector.readHeapBytes();
      inspector.close();
      count += 1;
    } catch (error) {
      assert.match(String(error), /no worker thread .* is attached/);
    }
  }
  return count;
}
