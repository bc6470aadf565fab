import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotChains } from '../../../../src/books/transfer/matching/slot-chains.ts';
import { IS_LONG, longTest } from '../../../support/long.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';

const SEEDS = IS_LONG ? 200 : 7;
const CHANGES = 2000;

test('slots are found by the hash that they have now, whatever came and went', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = createRandom(seed);
    // Few hashes make long chains, many make many buckets.
    const hashBound = [4, 300, 2 ** 32][seed % 3] ?? 1;
    const chains = new SlotChains(below(random, 50));
    const hashBySlot = new Map<number, number>();
    for (let change = 0; change < CHANGES; change += 1) {
      changeOne(random, chains, hashBySlot, hashBound);
    }
    assert.equal(chains.size, hashBySlot.size);
    for (const hash of new Set(hashBySlot.values())) {
      const expected = [...hashBySlot].filter(([, other]) => other === hash)
        .map(([slot]) => slot);
      assert.deepEqual(new Set(chains.find(hash)), new Set(expected), `seed ${seed}`);
    }
    for (const slot of hashBySlot.keys()) chains.delete(slot);
    assert.equal(chains.size, 0);
    assert.deepEqual([...hashBySlot.values()].flatMap((hash) => [...chains.find(hash)]), []);
  }
});

longTest('a million slots take 24 bytes each at most, and none is met twice', () => {
  const count = 1_000_000;
  const chains = new SlotChains(count);
  for (let slot = 0; slot < count; slot += 1) chains.put(slot, Math.imul(slot, 0x9e3779b1));
  assert.ok(chains.bytes <= 24 * count, `${chains.bytes / count} bytes a slot`);
  for (const slot of [0, 1, 777_777, count - 1]) {
    assert.deepEqual([...chains.find(Math.imul(slot, 0x9e3779b1))], [slot]);
  }
});

function changeOne(
  random: Random, chains: SlotChains, hashBySlot: Map<number, number>, hashBound: number,
): void {
  const slot = below(random, 700);
  if (random() < 0.3) {
    chains.delete(slot);
    hashBySlot.delete(slot);
    return;
  }
  const hash = below(random, hashBound);
  chains.put(slot, hash);
  hashBySlot.set(slot, hash);
}
