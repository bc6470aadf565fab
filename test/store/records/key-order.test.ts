import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyOrder } from '../../../src/store/records/key-order.ts';
import type { SlotBlock, KeyPosition } from '../../../src/store/records/key-order.ts';
import { RecordTable } from '../../../src/store/records/record-table.ts';
import { below, createRandom } from '../../support/random.ts';

const BLOCK_SLOTS = 1024;

function slotsOf(blocks: readonly SlotBlock[]): number[] {
  return blocks.flatMap(({ slots, count }) => [...slots.subarray(0, count)]);
}

test('slots stay as in a plain list, and frozen views as they were, whatever is changed', () => {
  let appended = 0;
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = createRandom(seed);
    const order = new KeyOrder(new RecordTable('id'));
    const model: number[] = [];
    let next = 0;
    let frozen: { readonly blocks: readonly SlotBlock[]; readonly slots: readonly number[] }[] = [];
    // Where a position of the list is among the blocks.
    const placeOf = (rank: number) => {
      let position = rank;
      let block = 0;
      for (; block < order.blockCount - 1 && position >= order.countOf(block); block += 1) {
        position -= order.countOf(block);
      }
      return { block, position };
    };
    for (let step = 0; step < 300; step += 1) {
      const kind = below(random, 10);
      if (kind < 5) {
        const count = 1 + below(random, 60);
        order.append(next, count);
        model.push(...Array.from({ length: count }, (_, index) => next + index));
        next += count;
        appended += count;
      } else if (kind < 7 && model.length > 0) {
        const rank = below(random, model.length);
        next += 1 + below(random, 2);
        order.insert(placeOf(rank), next);
        model.splice(rank, 0, next);
        next += 1;
      } else if (kind < 9 && model.length > 0) {
        const rank = below(random, model.length);
        order.remove(placeOf(rank));
        model.splice(rank, 1);
      } else {
        frozen = [...frozen.slice(-3), { blocks: order.freeze(), slots: [...model] }];
      }
      assert.equal(order.size, model.length);
    }
    const now: number[] = [];
    for (let block = 0; block < order.blockCount; block += 1) {
      for (let position = 0; position < order.countOf(block); position += 1) {
        now.push(order.slotAt(block, position));
      }
    }
    assert.deepEqual(now, model, `seed ${seed}`);
    for (const { blocks, slots } of frozen) assert.deepEqual(slotsOf(blocks), slots);
  }
  assert.ok(appended > 8 * BLOCK_SLOTS, `${appended} appended`);
});

test('a key is found, or its place, whatever was added, found and removed just before', () => {
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = createRandom(seed);
    const table = new RecordTable('id');
    const order = new KeyOrder(table);
    const keys: string[] = [];
    const place = { block: 0, position: 0 };
    let key = 0;
    for (let step = 0; step < 6000; step += 1) {
      // Rising, by little mostly, as the ids of one batch; now and then from elsewhere.
      key = below(random, 40) === 0 ? below(random, 40_000) : key + below(random, 12);
      const text = String(key).padStart(6, '0');
      const target = Buffer.from(`${text}"`);
      const expected = keys.findIndex((other) => other >= text);
      const rank = expected < 0 ? keys.length : expected;
      const isFound = order.seek(target, 0, place);
      assert.equal(isFound, keys[rank] === text, `seed ${seed}, step ${step}`);
      assert.equal(rankOf(order, place), rank, `seed ${seed}, step ${step}`);
      const isGoing = below(random, 8) === 0;
      if (isFound && isGoing) {
        order.remove(place);
        keys.splice(rank, 1);
      } else if (!isFound && !isGoing) {
        order.insert(place, table.add(table.arena.append(`{"id":"${text}"}`)));
        keys.splice(rank, 0, text);
      }
    }
    assert.ok(order.blockCount > 2);
  }
});

function rankOf(order: KeyOrder, { block, position }: KeyPosition): number {
  let rank = position;
  for (let before = 0; before < block; before += 1) rank += order.countOf(before);
  return rank;
}
