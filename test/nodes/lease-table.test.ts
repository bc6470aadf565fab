import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLeaseHolders, remainingLeaseMs } from '../../src/nodes/lease-holders.ts';
import { type Instant, LeaseTable } from '../../src/nodes/lease-table.ts';
import {
  LEASES, type Lease, NODES, type NodeRecord, SHARDS, computeShard, decodeLease, decodeNode,
  encodeLease, formatLeaseId, parseLeaseId,
} from '../../src/nodes/node-records.ts';
import { createMemoryStore } from '../support/memory-store.ts';

const LENGTH_MS = 25_000;
const ATTEMPT_MS = 15_000;
const LENGTHS = { lengthMs: LENGTH_MS, attemptMs: ATTEMPT_MS };
const A = { node: 'a', run: 'a1' };
const B = { node: 'b', run: 'b1' };

const at = (ms: number): Instant => ({ monotonicMs: ms, wallMs: 1_000_000 + ms });
const lease = (holder: typeof A, term: number, more: Partial<Lease> = {}): Lease =>
  ({ ...holder, term, lengthMs: LENGTH_MS, released: false, ...more });
const beatOf = ({ node, run }: typeof A, beat: number): NodeRecord => ({
  identifier: node, run, beat, lengthMs: LENGTH_MS, version: '1', address: null,
  position: 0, lag: 0,
  startedAt: '2026-01-01T00:00:00.000Z', at: '2026-01-01T00:00:00.000Z',
});

/** A table of node a that owns shard 3 since a beat that was sent and applied at 0. */
function owner(): LeaseTable {
  const table = new LeaseTable(A, LENGTHS);
  table.recordSent(1, at(0));
  table.applyNode('a', beatOf(A, 1), 0);
  table.applyLease(3, lease(A, 1), 0);
  return table;
}

test('an owner begins until L - the time of an attempt - 1 s after its beat was sent', () => {
  const table = owner();
  assert.equal(table.mayStartAttempts(at(0)), true);
  assert.equal(table.mayStartAttempts(at(LENGTH_MS - ATTEMPT_MS - 1001)), true);
  assert.equal(table.mayStartAttempts(at(LENGTH_MS - ATTEMPT_MS - 1000)), false);
});

test('a beat that is applied late counts from when it was sent', () => {
  const table = owner();
  table.recordSent(2, at(5000));
  table.applyNode('a', beatOf(A, 2), 9000);
  assert.equal(table.mayStartAttempts(at(5000 + 8999)), true);
  assert.equal(table.mayStartAttempts(at(5000 + 9000)), false);
});

test('a beat that was sent and is not applied renews nothing', () => {
  const table = owner();
  table.recordSent(2, at(5000));
  assert.equal(table.mayStartAttempts(at(9000)), false);
});

test('nothing of a shard may be under way L - 1 s after the beat was sent', () => {
  const table = owner();
  assert.equal(table.remainingMs(at(0)), LENGTH_MS - 1000);
  assert.equal(table.remainingMs(at(LENGTH_MS - 1000)), 0);
});

test('another claims only L + 1 s after it applied the last beat, with the next term', () => {
  const table = new LeaseTable(B, LENGTHS);
  table.applyNode('a', beatOf(A, 1), 100);
  table.applyLease(3, lease(A, 7), 100);
  table.applyNode('a', beatOf(A, 2), 5100);
  assert.equal(table.isFree(3, 5100 + LENGTH_MS + 999), false);
  assert.equal(table.isFree(3, 5100 + LENGTH_MS + 1000), true);
  assert.deepEqual(table.claim(3), lease(B, 8));
});

test('the owner has ended two seconds before another may begin, however late it hears', () => {
  for (const lateMs of [0, 3, 900, 60_000]) {
    const [own, other] = [owner(), new LeaseTable(B, LENGTHS)];
    other.applyNode('a', beatOf(A, 1), lateMs);
    other.applyLease(3, lease(A, 1), lateMs);
    let endMs = 0;
    while (own.remainingMs(at(endMs)) > 0) endMs += 1;
    let beginMs = 0;
    while (!other.isFree(3, beginMs)) beginMs += 1;
    assert.ok(beginMs - endMs >= 2000, `late by ${lateMs}`);
  }
});

test('the length that counts is that of the lease, not that of who looks at it', () => {
  const table = new LeaseTable(B, LENGTHS);
  table.applyLease(3, lease(A, 1, { lengthMs: 70_000 }), 0);
  assert.equal(table.isFree(3, 70_999), false);
  assert.equal(table.isFree(3, 71_000), true);
});

test('a lease that was released is free at once', () => {
  const table = new LeaseTable(B, LENGTHS);
  table.applyLease(3, lease(A, 4, { released: true }), 0);
  assert.equal(table.isFree(3, 0), true);
  assert.equal(table.claim(3).term, 5);
  assert.equal(table.isFree(9, 0), true, 'and so is one that never had an owner');
  assert.equal(table.claim(9).term, 1);
});

test('the wall clock of another machine counts for nothing', () => {
  const table = new LeaseTable(B, LENGTHS);
  const ahead = { ...beatOf(A, 1), at: '2031-01-01T00:00:00.000Z' };
  table.applyNode('a', ahead, 0);
  table.applyLease(3, lease(A, 1), 0);
  assert.equal(table.isFree(3, LENGTH_MS + 999), false);
  assert.equal(table.isLive('a', LENGTH_MS + 999), true);
});

test('a wall clock that is an hour off, or set back, changes no lease', () => {
  const table = new LeaseTable(A, LENGTHS);
  const off = (ms: number, byMs: number): Instant => ({ monotonicMs: ms, wallMs: ms + byMs });
  table.recordSent(1, off(0, 3_600_000));
  table.applyNode('a', beatOf(A, 1), 0);
  table.applyLease(3, lease(A, 1), 0);
  assert.equal(table.mayStartAttempts(off(8999, 3_600_000)), true);
  assert.equal(table.mayStartAttempts(off(8999, 0)), true);
  assert.equal(table.mayStartAttempts(off(9000, 0)), false);
});

test('an owner that was frozen begins nothing, though its monotonic clock stood still', () => {
  const table = owner();
  assert.equal(table.mayStartAttempts(at(30_000)), false);
  const woken = { monotonicMs: 10, wallMs: at(0).wallMs + 30_000 };
  assert.equal(table.mayStartAttempts(woken), false);
  assert.ok(table.remainingMs(woken) <= 0);
});

test('an owner that comes back finds its lease taken, and may renew nothing', () => {
  const table = owner();
  table.applyLease(3, lease(B, 2), 40_000);
  assert.equal(table.isOurs(3), false);
  table.recordSent(2, at(40_001));
  table.applyNode('a', beatOf(A, 2), 40_002);
  assert.equal(table.isOurs(3), false);
  assert.equal(table.isFree(3, 40_002), false);
});

test('an owner that comes back before anybody claimed goes on with its next beat', () => {
  const table = owner();
  table.recordSent(2, at(40_000));
  table.applyNode('a', beatOf(A, 2), 40_010);
  assert.equal(table.isOurs(3), true);
  assert.equal(table.mayStartAttempts(at(40_010)), true);
});

test('a new run of the same node waits for the leases of the old one like any other', () => {
  const table = new LeaseTable({ node: 'a', run: 'a2' }, LENGTHS);
  table.applyNode('a', beatOf(A, 900), 0);
  table.applyLease(3, lease(A, 5), 0);
  assert.equal(table.isOurs(3), false);
  table.recordSent(1, at(10));
  table.applyNode('a', beatOf({ node: 'a', run: 'a2' }, 1), 20);
  assert.equal(table.isFree(3, LENGTH_MS + 999), false, 'its own beats do not renew them');
  assert.equal(table.isFree(3, LENGTH_MS + 1000), true);
  assert.deepEqual(table.claim(3), lease({ node: 'a', run: 'a2' }, 6));
});

test('two processes with one node id do not take each other for themselves', () => {
  const copy = new LeaseTable({ node: 'a', run: 'copy' }, LENGTHS);
  copy.applyLease(3, lease(A, 5), 0);
  for (let beat = 1; beat < 20; beat += 1) {
    copy.applyNode('a', beatOf(A, beat), beat * 5000);
    copy.applyNode('a', beatOf({ node: 'a', run: 'copy' }, beat), beat * 5000 + 1);
  }
  assert.equal(copy.isFree(3, 19 * 5000 + LENGTH_MS), false);
});

test('a beat of which it is not known when it was sent renews nothing', () => {
  const table = owner();
  table.applyNode('a', beatOf(A, 77), 5000);
  assert.equal(table.mayStartAttempts(at(5000)), false);
});

test('a node lives for the length of its leases and a second after its last beat', () => {
  const table = new LeaseTable(B, LENGTHS);
  table.applyNode('a', beatOf(A, 1), 500);
  assert.equal(table.isLive('a', 500 + LENGTH_MS + 999), true);
  assert.equal(table.isLive('a', 500 + LENGTH_MS + 1000), false);
  table.applyNode('a', null, 600);
  assert.equal(table.isLive('a', 600), false);
});

test('records are read as they were written', () => {
  const written = lease(A, 3);
  assert.deepEqual({ ...decodeLease(Buffer.from(encodeLease(7, written))) },
    { identifier: 'shard-7', ...written });
  assert.equal(parseLeaseId(formatLeaseId(15)), 15);
  const node = beatOf(B, 4);
  assert.deepEqual(decodeNode(Buffer.from(JSON.stringify(node))), node);
  assert.throws(() => decodeLease(Buffer.from('{"identifier":"shard-1","node":"a"}')),
    { code: 'damaged' });
});

test('hooks are spread over all shards, and stay where every other version finds them', () => {
  assert.deepEqual(['', 'a', 'shop', '019abcde-0000-7000-8000-000000000000'].map(computeShard),
    [4, 12, 0, 10]);
  const counts = new Array<number>(SHARDS).fill(0);
  for (let index = 0; index < 16_000; index += 1) {
    const shard = computeShard(`019abcde-0000-7000-8000-${String(index).padStart(12, '0')}`);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  assert.ok(Math.min(...counts) > 700 && Math.max(...counts) < 1300, counts.join(' '));
});

const HEARD_MS = Date.UTC(2026, 0, 1);

test('a node that has left its record or a lease behind may be at work; one that released may not',
  async () => {
    const store = createMemoryStore([NODES, LEASES]);
    const lease = { run: 'r', term: 1, lengthMs: 20_000 };
    await store.transact((transaction) => {
      transaction.put(NODES.name, 'a', JSON.stringify({
        identifier: 'a', run: 'r', beat: 3, lengthMs: 15_000, version: '1', address: '10.0.0.1:1',
        position: 1, lag: 0, startedAt: 'x', at: new Date(HEARD_MS).toISOString(),
      }));
      for (const [shard, node, released] of [
        [0, 'a', false], [1, 'b', false], [2, 'c', true],
      ] as const) {
        transaction.put(LEASES.name, formatLeaseId(shard),
          encodeLease(shard, { ...lease, node, released }));
      }
    });
    const collections = new Map([NODES, LEASES].map(({ name }) => [name, store.collection(name)]));
    assert.deepEqual(findLeaseHolders(collections), [
      { node: 'a', address: '10.0.0.1:1', heardMs: HEARD_MS, validMs: 21_000 },
      { node: 'b', address: null, heardMs: null, validMs: 21_000 },
    ]);
    assert.deepEqual(findLeaseHolders(new Map()), []);
  });

test('a lease runs out its length after a beat; a clock that is far off tells nothing', () => {
  const holder = { node: 'a', address: null, heardMs: HEARD_MS, validMs: 16_000 };
  for (const [afterMs, remainingMs] of [
    [0, 16_000], [4000, 12_000], [15_999, 1], [16_000, 0], [-3000, 16_000], [-3_600_000, 0],
  ] as const) assert.equal(remainingLeaseMs(holder, HEARD_MS + afterMs), remainingMs);
  assert.equal(remainingLeaseMs({ ...holder, heardMs: null }, HEARD_MS), 0);
});
