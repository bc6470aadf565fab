import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arena } from '../../../src/store/records/arena.ts';
import { LruCache, StoredCollection } from '../../../src/store/records/collection.ts';
import { STANDARD_LIMITS, computeMemoryLimits } from '../../../src/store/records/memory-limits.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';

const ALPHABET = '-.0189AZ_az~';

/** A collection and a plain map that are given the same operations. */
class Pair {
  readonly collection = new StoredCollection({ name: 'books', key: 'id' });
  readonly model = new Map<string, string>();
  readonly random: Random;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  randomKey(): string {
    const length = 1 + below(this.random, 3);
    return Array.from({ length }, () => ALPHABET[below(this.random, ALPHABET.length)]).join('');
  }

  put(id: string, text = 'x'.repeat(below(this.random, 200))): void {
    const json = JSON.stringify({ id, text });
    this.collection.apply({ collection: 'books', id, bytes: Buffer.from(json) });
    this.model.set(id, json);
  }

  delete(id: string): void {
    if (!this.model.delete(id)) return;
    this.collection.apply({ collection: 'books', id, bytes: null });
  }

  step(): void {
    const id = this.randomKey();
    if (below(this.random, 3) === 0) this.delete(id);
    else this.put(id);
  }

  sorted(): string[] {
    return [...this.model.keys()].sort();
  }
}

test('records are found, ordered and counted as in a plain map, over many changes', () => {
  const pair = new Pair(7);
  const { collection, model } = pair;
  for (let round = 0; round < 40; round += 1) {
    for (let step = 0; step < 200; step += 1) pair.step();
    assert.equal(collection.size, model.size);
    assert.equal(collection.bytesTotal,
      [...model.values()].reduce((sum, json) => sum + Buffer.byteLength(json), 0));
    for (const [id, json] of model) {
      assert.equal(collection.find(id)?.bytes.toString(), json);
      const slot = collection.findSlot(id);
      assert.equal(collection.idAt(slot), id);
      assert.ok(slot < collection.slotBound);
    }
    assert.equal(collection.find(`${pair.randomKey()}~~~~`), undefined);
    assert.deepEqual(walkAll(collection), pair.sorted());
    assert.deepEqual(walkAll(collection, true), pair.sorted().reverse());
  }
});

test('thousands of keys, inserted in any order, split blocks and stay in order', () => {
  const pair = new Pair(3);
  for (let count = 0; count < 6000; count += 1) pair.put(`k${below(pair.random, 1e6)}`, '');
  assert.deepEqual(walkAll(pair.collection), pair.sorted());
  for (const id of pair.sorted().slice(500, 4500)) pair.delete(id);
  assert.deepEqual(walkAll(pair.collection), pair.sorted());
  for (const id of pair.sorted()) if (below(pair.random, 50) > 0) pair.delete(id);
  assert.deepEqual(walkAll(pair.collection), pair.sorted());
  assert.equal(pair.collection.order.blockCount, 1);
});

test('no key that cannot be one is found, however like a stored one it looks', () => {
  const { collection } = new Pair(1);
  collection.apply({ collection: 'books', id: 'A', bytes: Buffer.from('{"id":"A"}') });
  for (const id of ['', '\u0141', 'A"', 'A\0', 'A ', `A"}${'x'.repeat(200)}`, '"']) {
    assert.equal(collection.find(id), undefined, JSON.stringify(id));
  }
});

test('a walk sees every record that is there throughout once, whatever is written', () => {
  for (const isDescending of [false, true]) {
    for (let seed = 1; seed <= 30; seed += 1) {
      const pair = new Pair(seed);
      for (let step = 0; step < 150; step += 1) pair.step();
      const throughout = new Set(pair.model.keys());
      const walk = pair.collection.walk({ isDescending });
      const seen: string[] = [];
      for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
        seen.push(pair.collection.idAt(slot) ?? '');
        for (let step = below(pair.random, 4); step > 0; step -= 1) {
          pair.step();
          for (const id of throughout) if (!pair.model.has(id)) throughout.delete(id);
        }
      }
      assert.equal(new Set(seen).size, seen.length);
      assert.deepEqual(seen, isDescending ? [...seen].sort().reverse() : [...seen].sort());
      assert.deepEqual([...throughout].filter((id) => !seen.includes(id)), []);
    }
  }
});

test('a walk starts after a key that need not exist', () => {
  const pair = new Pair(1);
  for (const id of ['b', 'd', 'f']) pair.put(id);
  const from = (after: string, isDescending = false) =>
    pair.collection.idAt(pair.collection.walk({ after, isDescending }).next());
  assert.deepEqual([from('a'), from('b'), from('c'), from('f')], ['b', 'd', 'd', undefined]);
  assert.deepEqual([from('g', true), from('f', true), from('e', true), from('b', true)],
    ['f', 'd', 'd', undefined]);
});

test('runs hold whole records in order, in few slices, and go on where they stopped', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const pair = new Pair(seed);
    for (let step = 0; step < 300; step += 1) pair.step();
    const walk = pair.collection.walk();
    const seen: string[] = [];
    for (let runs = walk.nextSlices(2000); runs.length > 0; runs = walk.nextSlices(2000)) {
      const parsed: unknown = JSON.parse(`[${Buffer.concat(runs).toString()}]`);
      assert.ok(Array.isArray(parsed));
      seen.push(...parsed.map((record) => JSON.stringify(record)));
      assert.ok(runs.length <= 2);
    }
    assert.deepEqual(seen, pair.sorted().map((id) => pair.model.get(id)));
  }
});

test('neighbours that were written in order are one slice of the chunk, not a copy', () => {
  const pair = new Pair(1);
  for (let count = 0; count < 1000; count += 1) {
    pair.put(`k${String(count).padStart(4, '0')}`, 'x'.repeat(60));
  }
  const [slice] = pair.collection.walk().nextSlices(40_000);
  const first = pair.collection.find('k0000');
  assert.equal(slice?.buffer, first?.bytes.buffer);
});

test('listeners hear of each change with both versions, until they stop', () => {
  const pair = new Pair(1);
  const heard: unknown[] = [];
  const stop = pair.collection.onChange(({ id, before, after }, slot) =>
    heard.push([id, slot, before?.toString() ?? null, after?.toString() ?? null]));
  pair.put('a', '1');
  pair.put('a', '2');
  pair.delete('a');
  stop();
  pair.put('b', '3');
  const version = (text: string) => JSON.stringify({ id: 'a', text });
  assert.deepEqual(heard, [
    ['a', 0, null, version('1')],
    ['a', 0, version('1'), version('2')],
    ['a', 0, version('2'), null],
  ]);
});

test('what dead records took is counted as garbage, and dead chunks are dropped', () => {
  const pair = new Pair(1);
  const { arena } = pair.collection.table;
  const large = 'x'.repeat(300_000);
  for (let count = 0; count < 40; count += 1) pair.put('a', large);
  assert.ok(arena.garbageBytes < 3_000_000, String(arena.garbageBytes));
  for (let count = 0; count < 40; count += 1) pair.put(`b${count}`, large);
  for (let count = 0; count < 40; count += 2) pair.delete(`b${count}`);
  assert.ok(arena.garbageBytes > 5_000_000, String(arena.garbageBytes));
});

function walkAll(collection: StoredCollection, isDescending = false): string[] {
  const walk = collection.walk({ isDescending });
  const ids: string[] = [];
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) ids.push(collection.idAt(slot) ?? '');
  return ids;
}

test('the number of a chunk that has gone is given again, but not while it is frozen', () => {
  const arena = new Arena();
  const [first] = [arena.append('a'.repeat(40_000)), arena.append('b'.repeat(40_000))];
  const frozen = arena.freeze();
  arena.release(first.chunk, first.length);
  assert.notEqual(arena.adopt(Buffer.from('c')), first.chunk);
  assert.equal(frozen.chunks[first.chunk]?.toString('utf8', 0, 3), 'aaa');
  arena.thaw();
  assert.equal(arena.adopt(Buffer.from('d')), first.chunk);
});

test('keeps the standard limits without a cap, and shrinks them with one', () => {
  assert.deepEqual(computeMemoryLimits(Infinity), STANDARD_LIMITS);
  assert.deepEqual(computeMemoryLimits(64 << 20),
    { cachedRecordsMax: 4096, stagedBytesMax: 8 << 20 });
});

test('caches at most as many records as allowed, the latest among them', () => {
  const cache = new LruCache(10);
  const record = { bytes: Buffer.alloc(0), representation: undefined };
  for (let count = 0; count < 100; count += 1) cache.set(`id-${count}`, record);
  const kept = Array.from({ length: 100 }, (_, count) => `id-${count}`)
    .filter((id) => cache.find(id) !== undefined);
  assert.ok(kept.length > 0 && kept.length <= 10, kept.join());
  assert.ok(kept.includes('id-99'));
});
