import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SyncPolicy } from '../../../src/store/journal/sync-policy.ts';

/** How many of `batches` were blocking on a disk that takes `tookMs` each. */
function countBlocking(policy: SyncPolicy, batches: number, tookMs: number): number {
  let blocking = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    if (policy.choose(1000, false, 'awaited') !== 'loop') continue;
    blocking += 1;
    policy.record(tookMs);
  }
  return blocking;
}

test('a fast disk is soon waited for on the loop, and goes on to be', () => {
  assert.ok(countBlocking(new SyncPolicy(), 100, 0.15) >= 95);
});

test('a slow disk is tried ever more rarely', () => {
  const policy = new SyncPolicy();
  assert.ok(countBlocking(policy, 1000, 8) <= 8);
  assert.ok(countBlocking(policy, 10_000, 8) <= 4);
});

test('one slow sync on a fast disk costs a short while in the pool', () => {
  const policy = new SyncPolicy();
  countBlocking(policy, 200, 0.15);
  policy.record(5);
  assert.equal(policy.choose(1000, false, 'awaited'), 'pooled-sync');
  assert.ok(countBlocking(policy, 100, 0.15) >= 80);
});

test('a large batch never blocks the loop, nor does any while the disk has other work', () => {
  const policy = new SyncPolicy();
  countBlocking(policy, 100, 0.15);
  assert.equal(policy.choose(1000, false, 'awaited'), 'loop');
  assert.equal(policy.choose(10 << 20, false, 'awaited'), 'pool');
  assert.equal(policy.choose(1000, true, 'awaited'), 'pool');
});

test('what nobody waits for never blocks the loop', () => {
  const policy = new SyncPolicy();
  countBlocking(policy, 100, 0.15);
  assert.equal(policy.choose(1000, false, 'background'), 'pooled-sync');
  assert.equal(policy.choose(1000, true, 'background'), 'pool');
});
