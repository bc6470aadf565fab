import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { Membership } from '../../src/nodes/membership.ts';
import {
  LEASES, NODES, SHARDS, computeShard, decodeLease, formatLeaseId,
} from '../../src/nodes/node-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';

const HOUR_MS = 3_600_000;
const LENGTHS = { lengthMs: 25_000, attemptMs: 15_000 };

const opened: Membership[] = [];
afterEach(() => Promise.all(opened.splice(0).map((node) => node.close())));

/** Several nodes over one log, without delay. */
class Cluster {
  readonly clock = new ManualClock();
  readonly store: MemoryStore = createMemoryStore([NODES, LEASES]);
  readonly logLines: string[] = [];
  isReloading = false;
  #runs = 0;

  /** `aheadMs`: by how much its wall clock is. */
  node(id: string, aheadMs = 0): Membership {
    const { clock } = this;
    const membership = new Membership({
      store: this.store, lengths: LENGTHS,
      clock: {
        now: () => clock.now() + aheadMs, monotonicMs: () => clock.monotonicMs(),
        startTimer: (delayMs, run) => clock.startTimer(delayMs, run),
      },
      node: id, makeRun: () => {
        this.#runs += 1;
        return `${id}-${this.#runs}`;
      },
      log: createLogger({
        level: 'debug', format: 'json', now: () => this.clock.now(),
        write: (line) => this.logLines.push(line),
      }),
      isReloading: () => this.isReloading,
      describeNode: () => ({ version: '1', address: null, position: 0, lag: 0 }),
    });
    membership.start();
    opened.push(membership);
    return membership;
  }

  /** Owners by shard, as the log has it; released ones are null. */
  owners(): readonly (string | null)[] {
    return Array.from({ length: SHARDS }, (_, shard) => {
      const bytes = this.store.collection(LEASES.name).findBytes(formatLeaseId(shard));
      const lease = bytes === undefined ? null : decodeLease(bytes);
      return lease === null || lease.released ? null : lease.node;
    });
  }

  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const owner of this.owners()) counts[String(owner)] = (counts[String(owner)] ?? 0) + 1;
    return counts;
  }

  term(shard: number): number {
    const bytes = this.store.collection(LEASES.name).findBytes(formatLeaseId(shard));
    return bytes === undefined ? 0 : decodeLease(bytes).term;
  }
}

/** A node that owns every shard. */
async function startCluster(): Promise<{ readonly cluster: Cluster; readonly a: Membership }> {
  const cluster = new Cluster();
  const a = cluster.node('a');
  await cluster.clock.advance(10);
  return { cluster, a };
}

/** Ends without a word, as by SIGKILL: it writes nothing more. */
function kill(node: Membership): void {
  node.ownership.isActive = false;
}

const keyOf = (shard: number): string => {
  const number = Array.from({ length: 1000 }, (_, index) => index)
    .find((index) => computeShard(`key-${index}`) === shard);
  return `key-${number}`;
};

test('the first node owns everything at once', async () => {
  const cluster = new Cluster();
  const a = cluster.node('a');
  let notifications = 0;
  a.ownership.onChange(() => {
    notifications += 1;
  });
  assert.equal(a.ownership.findLease('hook'), null);
  assert.equal(a.ownership.mayBegin(), false);
  await cluster.clock.advance(10);
  assert.deepEqual(cluster.counts(), { a: 16 });
  assert.equal(a.ownership.mayBegin(), true);
  assert.equal(a.ownership.isMaintainer(), true);
  assert.equal(a.ownership.findLease('hook')?.beginAttempt(), true);
  assert.equal(notifications, 1);
});

test('nodes that join get their share, and one that stops gives it back at once', async () => {
  const { cluster, a } = await startCluster();
  const b = cluster.node('b');
  await cluster.clock.advance(10);
  assert.deepEqual(cluster.counts(), { a: 8, b: 8 });
  const c = cluster.node('c');
  await cluster.clock.advance(10);
  assert.deepEqual(Object.values(cluster.counts()).sort(), [5, 5, 6]);
  await b.close();
  await cluster.clock.advance(10);
  assert.deepEqual(cluster.counts(), { a: 8, c: 8 });
  assert.equal(cluster.store.collection(NODES.name).findBytes('b'), undefined);
  await Promise.all([a.close(), c.close()]);
  assert.deepEqual(cluster.counts(), { null: 16 });
});

test('a shard is given up when what is under way of it has ended', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease(keyOf(15));
  assert.equal(lease?.beginAttempt(), true);
  cluster.node('b');
  await cluster.clock.advance(6000);
  assert.equal(cluster.owners()[15], 'a');
  assert.equal(a.ownership.findLease(keyOf(15)), null, 'no attempt of it begins any more');
  assert.equal(await cluster.store.transact((transaction) => lease.isHeld(transaction)), true);
  lease.endAttempt();
  await cluster.clock.advance(10);
  assert.equal(cluster.owners()[15], 'b');
  assert.equal(await cluster.store.transact((transaction) => lease.isHeld(transaction)), false);
});

test('an attempt that does not end is cut off, so that its shard can be given up', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease(keyOf(15));
  assert.equal(lease?.beginAttempt(), true);
  lease.endSignal.addEventListener('abort', () => lease.endAttempt());
  cluster.node('b');
  await cluster.clock.advance(30_000);
  assert.equal(lease.endSignal.aborted, false);
  await cluster.clock.advance(6000);
  assert.equal(lease.endSignal.aborted, true);
  assert.equal(cluster.owners()[15], 'b');
});

test('a node that dies hands over L + 1 s after its last beat, not before and not much later',
  async () => {
    const cluster = new Cluster();
    cluster.node('a');
    const b = cluster.node('b');
    cluster.node('c');
    await cluster.clock.advance(7000);
    const terms = cluster.owners().map((owner, shard) => ({ owner, term: cluster.term(shard) }));
    const beats = JSON.parse(String(cluster.store.collection(NODES.name).findBytes('b')));
    const lastBeatMs = Date.parse(beats.at);
    kill(b);
    const leftMs = lastBeatMs + LENGTHS.lengthMs + 1000 - cluster.clock.now();
    await cluster.clock.advance(leftMs - 10);
    assert.ok(cluster.owners().includes('b'));
    await cluster.clock.advance(60);
    assert.deepEqual(cluster.counts(), { a: 8, c: 8 });
    for (const [shard, { owner, term }] of terms.entries()) {
      const isTaken = owner === 'b';
      assert.equal(cluster.term(shard), isTaken ? term + 1 : term, `shard ${shard}`);
    }
  });

test('where writes are refused a beat finds out within a second when they go on', async () => {
  const { cluster } = await startCluster();
  const { sequence } = cluster.store.statistics;
  cluster.store.setFailure(new AppError('storage_full', 'no room'));
  await cluster.clock.advance(1000);
  assert.equal(cluster.logLines.filter((line) => line.includes('cannot renew')).length, 1);
  cluster.store.setFailure(null);
  await cluster.clock.advance(1000);
  assert.ok(cluster.store.statistics.sequence > sequence);
});

test('while no beat can be written attempts end, and go on with the first that is', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease('hook');
  assert.equal(lease?.beginAttempt(), true);
  cluster.store.setFailure(new AppError('unavailable', 'the engine is gone'));
  await cluster.clock.advance(8900);
  assert.equal(a.ownership.mayBegin(), true);
  await cluster.clock.advance(100);
  assert.equal(a.ownership.mayBegin(), false, 'L - http.timeout - 1 s after the last beat');
  assert.equal(lease.beginAttempt(), false);
  await cluster.clock.advance(14_900);
  assert.equal(lease.endSignal.aborted, false);
  await cluster.clock.advance(100);
  assert.equal(lease.endSignal.aborted, true, 'L - 1 s after the last beat');
  assert.equal(a.ownership.isMaintainer(), false);
  let notifications = 0;
  a.ownership.onChange(() => {
    notifications += 1;
  });
  cluster.store.setFailure(null);
  await cluster.clock.advance(1100);
  assert.equal(notifications, 1);
  const next = a.ownership.findLease('hook');
  assert.equal(next?.beginAttempt(), true);
  assert.equal(next.endSignal.aborted, false);
  assert.equal(cluster.term(3), 1, 'nobody else has had it');
  assert.equal(cluster.logLines.filter((line) => line.includes('cannot renew')).length, 1);
});

test('a result does not count once its shard was given up and claimed again', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease(keyOf(15));
  const b = cluster.node('b');
  await cluster.clock.advance(6000);
  assert.equal(cluster.owners()[15], 'b');
  await b.close();
  await cluster.clock.advance(6000);
  assert.equal(cluster.owners()[15], 'a');
  const isHeld = await cluster.store.transact((transaction) => lease?.isHeld(transaction));
  assert.equal(isHeld, false);
});

test('while the records are loaded anew no attempt begins', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease('hook');
  cluster.isReloading = true;
  assert.equal(a.ownership.mayBegin(), false);
  assert.equal(lease?.beginAttempt(), false);
  cluster.isReloading = false;
  assert.equal(lease.beginAttempt(), true);
});

test('a node that was frozen finds its shards gone, and says so', async () => {
  const { cluster, a } = await startCluster();
  const lease = a.ownership.findLease('hook');
  kill(a);
  cluster.node('b');
  await cluster.clock.advance(LENGTHS.lengthMs + 2000);
  a.start();
  assert.equal(lease?.mayContinue(), false);
  assert.equal(lease.endSignal.aborted, true);
  assert.ok(cluster.logLines.some((line) => line.includes('another node has taken over')));
  await cluster.clock.advance(100);
  assert.deepEqual(cluster.counts(), { a: 8, b: 8 }, 'then it gets its share again');
});

test('a copy of a data directory is noticed, and takes nothing from the node it was taken from',
  async () => {
    const { cluster, a } = await startCluster();
    const copy = cluster.node('a');
    await cluster.clock.advance(60_000);
    assert.ok(cluster.logLines.some((line) => line.includes('under the id of this node')));
    assert.notEqual(a.ownership.findLease('hook'), null);
    assert.equal(copy.ownership.findLease('hook'), null);
  });

test('a copy of a data directory that stops leaves the record of the node that goes on',
  async () => {
    const { cluster, a } = await startCluster();
    const copy = cluster.node('a');
    // The last beat is that of the first node, which began a little earlier.
    await cluster.clock.advance(4995);
    await copy.close();
    assert.notEqual(cluster.store.collection(NODES.name).findBytes('a'), undefined);
    await a.close();
    assert.equal(cluster.store.collection(NODES.name).findBytes('a'), undefined);
  });

test('a node whose log was replaced begins as a new run, and waits for its own leases too',
  async () => {
    const { cluster, a } = await startCluster();
    const lease = a.ownership.findLease('hook');
    assert.equal(lease?.beginAttempt(), true);
    a.restart();
    assert.equal(lease.endSignal.aborted, true);
    assert.equal(lease.beginAttempt(), false);
    assert.equal(await cluster.store.transact((transaction) => lease.isHeld(transaction)), false);
    await cluster.clock.advance(LENGTHS.lengthMs + 900);
    assert.equal(a.ownership.findLease('hook'), null);
    await cluster.clock.advance(200);
    assert.equal(a.ownership.findLease('hook')?.beginAttempt(), true);
    assert.equal(cluster.term(3), 2);
  });

test('clocks that are more than a second apart are reported once, and measured from then on',
  async () => {
    const cluster = new Cluster();
    const [a, b, c] = [cluster.node('a'), cluster.node('b', 3000), cluster.node('c', 900)];
    await cluster.clock.advance(120_000);
    const offsetsMs = ['b', 'c', 'a'].map((id) => a.clockOffsets.estimateOffsetMs(id));
    assert.deepEqual(offsetsMs, [3000, 900, null]);
    assert.deepEqual(['a', 'c'].map((id) => b.clockOffsets.estimateOffsetMs(id)), [-3000, -2100]);
    const warnings = cluster.logLines.map((line) => JSON.parse(line))
      .filter(({ message }) => /clock of another node/.test(message))
      .map(({ level, node, offsetS }) => `${level} ${node} ${offsetS}`);
    assert.deepEqual(warnings.sort(),
      ['warning a -3', 'warning b 2.1', 'warning b 3', 'warning c -2.1']);
    await Promise.all([a.close(), b.close(), c.close()]);
    assert.equal(a.clockOffsets.estimateOffsetMs('b'), null);
  });

test('a node that died is forgotten after a day', async () => {
  const cluster = new Cluster();
  cluster.node('a');
  const b = cluster.node('b');
  await cluster.clock.advance(10);
  kill(b);
  cluster.clock.standStill(23 * HOUR_MS);
  await cluster.clock.advance(60_000);
  assert.notEqual(cluster.store.collection(NODES.name).findBytes('b'), undefined);
  cluster.clock.standStill(2 * HOUR_MS);
  await cluster.clock.advance(60_000);
  assert.equal(cluster.store.collection(NODES.name).findBytes('b'), undefined);
});
