import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockingPolicy } from '../../../src/store/journal/blocking-policy.ts';

/** How many of `batches` block on a disk that takes `tookMs` each. */
function countBlocking(policy: BlockingPolicy, batches: number, tookMs: number): number {
  let blocking = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    if (!policy.mayBlock(1000)) continue;
    blocking += 1;
    policy.recordDuration(tookMs);
  }
  return blocking;
}

test('waits for a fast disk on the loop', () => {
  assert.equal(countBlocking(new BlockingPolicy(), 100, 0.15), 100);
});

test('rarely tries a slow disk on the loop', () => {
  assert.equal(countBlocking(new BlockingPolicy(), 1000, 8), 4);
});

test('goes back to the loop a while after one slow sync', () => {
  const policy = new BlockingPolicy();
  policy.recordDuration(5);
  assert.equal(countBlocking(policy, 1000, 0.15), 744);
});

test('never blocks for a large batch', () => {
  assert.equal(new BlockingPolicy().mayBlock(10 << 20), false);
});
