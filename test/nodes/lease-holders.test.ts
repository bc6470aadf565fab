import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLeaseHolders, remainingLeaseMs } from '../../src/nodes/lease-holders.ts';
import { LEASES, NODES, encodeLease, formatLeaseId } from '../../src/nodes/node-records.ts';
import { createMemoryStore } from '../support/memory-store.ts';

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
