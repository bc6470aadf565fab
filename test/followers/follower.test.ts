import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Follower } from '../../src/followers/follower.ts';

const PLACE = { copy: 'c', name: 'box', address: '::1' };

/** What is shown at that time. */
function lagAt(follower: Follower, headSequence: number, nowMs: number): readonly number[] {
  const { behindTransactions, behindSeconds } = follower.view(headSequence, nowMs);
  return [behindTransactions, behindSeconds];
}

test('a follower is behind for as long as its disk lacks the oldest transaction', () => {
  const follower = new Follower(PLACE, 10, 0, 0);
  assert.deepEqual(lagAt(follower, 10, 5000), [0, 0]);
  follower.recordCommit(11, 6000);
  follower.recordCommit(12, 7000);
  assert.deepEqual(lagAt(follower, 12, 8000), [2, 2]);
  follower.confirm(11, 12, 8000, 0);
  assert.deepEqual(lagAt(follower, 12, 9000), [1, 2]);
  follower.confirm(12, 12, 9000, 0);
  assert.deepEqual(lagAt(follower, 12, 60_000), [0, 0]);
});

test('a follower that is never quite level under load is behind by what it really is', () => {
  const follower = new Follower(PLACE, 0, 0, 0);
  for (let second = 1; second <= 600; second += 1) {
    const head = second * 100;
    for (let sequence = head - 99; sequence <= head; sequence += 1) {
      follower.recordCommit(sequence, second * 1000 + (sequence % 100) * 10);
    }
    // Its disk has what was there a second before.
    follower.confirm(head - 100, head, second * 1000 + 999, 0);
    const [transactions = 0, seconds = 0] = lagAt(follower, head, second * 1000 + 999);
    assert.equal(transactions, 100);
    assert.ok(seconds >= 0.7 && seconds <= 1.3, `${seconds} s after ${second}`);
  }
});

test('a follower that is stuck for hours takes no more memory, and its lag grows', () => {
  const follower = new Follower(PLACE, 0, 0, 0);
  for (let sequence = 1; sequence <= 20_000; sequence += 1) {
    follower.recordCommit(sequence, sequence * 1000);
  }
  assert.deepEqual(lagAt(follower, 20_000, 20_001_000), [20_000, 20_000]);
  follower.confirm(19_999, 20_000, 20_001_000, 0);
  assert.equal(lagAt(follower, 20_000, 20_001_000)[0], 1);
});

test('one that has gone is shown with when it was heard', () => {
  const follower = new Follower(PLACE, 3, 0, 0);
  follower.confirm(4, 4, 1000, Date.UTC(2026, 0, 2));
  follower.isConnected = false;
  assert.deepEqual(follower.view(6, 5000), {
    ...PLACE, isConnected: false, sequence: 4, behindTransactions: 2, behindSeconds: 4,
    seenAt: '2026-01-02T00:00:00.000Z',
  });
});
