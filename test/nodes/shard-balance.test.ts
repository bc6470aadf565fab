import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARDS } from '../../src/nodes/node-records.ts';
import { computeShardMoves, type ShardCount } from '../../src/nodes/shard-balance.ts';
import { createRandom } from '../support/random.ts';

const share = (node: string, count: number): ShardCount => ({ node, count });

for (const [claim, own, others, free] of [
  ['one node takes all there are', 0, [], 16],
  ['it takes what came free', 12, [], 4],
] as const) {
  test(claim, () => {
    assert.deepEqual(computeShardMoves(share('a', own), others, free), { giveUp: 0, claim: free });
  });
}

test('a node that joins is given its share by the one that has more', () => {
  assert.deepEqual(computeShardMoves(share('a', 16), [share('b', 0)], 0), { giveUp: 8, claim: 0 });
  assert.deepEqual(computeShardMoves(share('b', 0), [share('a', 8)], 8), { giveUp: 0, claim: 8 });
});

test('what others need to have their share is left to them', () => {
  assert.deepEqual(computeShardMoves(share('a', 6), [share('b', 0)], 10), { giveUp: 0, claim: 2 });
  for (const [own, other] of [[6, 5], [5, 6]] as const) {
    assert.deepEqual(computeShardMoves(share('a', own), [share('b', 0), share('c', other)], 5),
      { giveUp: 0, claim: 0 });
  }
});

test('of two that have one too many the later one by id gives it up', () => {
  const [a, b, c] = [share('a', 6), share('b', 6), share('c', 4)];
  assert.deepEqual(computeShardMoves(a, [b, c], 0), { giveUp: 0, claim: 0 });
  assert.deepEqual(computeShardMoves(b, [a, c], 0), { giveUp: 1, claim: 0 });
});

test('what is even is left alone', () => {
  for (const counts of [[16], [8, 8], [6, 5, 5], [4, 4, 4, 4], [3, 3, 3, 3, 4]]) {
    const shares = counts.map((count, index) => share(`n${index}`, count));
    for (const own of shares) {
      const others = shares.filter((other) => other !== own);
      assert.deepEqual(computeShardMoves(own, others, 0), { giveUp: 0, claim: 0 });
    }
  }
});

test('however nodes come and go, all shards have an owner and no two nodes differ by more than '
  + 'one', () => {
  const random = createRandom(15);
  for (let life = 0; life < 200; life += 1) {
    const counts = new Map<string, number>();
    let free = SHARDS;
    for (let event = 0; event < 6; event += 1) {
      const names = [...counts.keys()];
      const name = `n${Math.floor(random() * 8)}`;
      if (counts.has(name) && names.length > 1) {
        free += counts.get(name) ?? 0;
        counts.delete(name);
      } else {
        counts.set(name, counts.get(name) ?? 0);
      }
      free = settle(counts, free, random);
      const held = [...counts.values()];
      assert.equal(free, 0);
      assert.equal(held.reduce((sum, count) => sum + count, 0), SHARDS);
      assert.ok(Math.max(...held) - Math.min(...held) <= 1, held.join(' '));
    }
  }
});

/** Lets nodes act in any order until none wants to; what is free then. */
function settle(counts: Map<string, number>, freeNow: number, random: () => number): number {
  let free = freeNow;
  for (let step = 0; step < 400; step += 1) {
    const names = [...counts.keys()];
    const name = names[Math.floor(random() * names.length)] ?? '';
    const own = share(name, counts.get(name) ?? 0);
    const others = names.filter((other) => other !== name)
      .map((other) => share(other, counts.get(other) ?? 0));
    const { giveUp, claim } = computeShardMoves(own, others, free);
    counts.set(name, own.count - giveUp + claim);
    free += giveUp - claim;
  }
  return free;
}
