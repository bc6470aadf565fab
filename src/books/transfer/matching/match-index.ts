/**
 * Which committed books have a match key: an index that is made when an import first needs it,
 * follows the changes of the collection while any import does, and is dropped after the last.
 *
 * It knows a hash of each key, in 16 to 32 bytes a key outside of the heap, which may be small,
 * and looks at the stored bytes to be sure. It is made in turns of the event loop, beside traffic,
 * and takes in each change as it is applied. So it is exact whenever a transaction runs, however
 * much others write: also on the nodes of an engine, which apply what others wrote before a
 * transaction runs again. What is staged and not applied yet it does not know:
 * `BookStaging` does.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../../../base/assert.ts';
import type { Steps, Turns } from '../../../base/turns.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { MatchKeys } from './match-key.ts';

type MatchIndexDeps = { readonly collection: Collection; readonly turns: Turns };

const SLOTS_PER_YIELD = 16;
/** One list of a million hashes would hold the event loop for 25 ms when it grows. */
const SHARDS = 256;

export class MatchIndex {
  readonly keys: MatchKeys;
  /** Resolves when it knows all books, or when it is closed. */
  readonly whenReady: Promise<unknown>;
  readonly #collection: Collection;
  readonly #shards = Array.from({ length: SHARDS }, () => new SlotsByHash());
  readonly #unsubscribe: () => void;
  readonly #stagedKeys = new WeakMap<Buffer, readonly string[]>();
  #isClosed = false;

  constructor({ collection, turns }: MatchIndexDeps, keys: MatchKeys) {
    this.keys = keys;
    this.#collection = collection;
    this.#unsubscribe = collection.onChange(({ before, after }, slot) => {
      const keysBefore = new Set(this.#readKeys(before));
      for (const key of this.#readKeys(after)) if (!keysBefore.has(key)) this.#add(slot, key);
    });
    this.whenReady = turns.runLater(this.#fill(), () => !this.#isClosed);
  }

  /** The ids of the committed books with the key, in no order. */
  * find(key: string): Generator<string> {
    const hash = crc32(key);
    const shard = this.#shardOf(hash);
    // Few books are merged ones: of most ids nothing has to be looked for.
    if (shard.isEmpty) return;
    const seenSlots = new Set<number>();
    for (const slot of shard.find(hash)) {
      const bytes = this.#collection.bytesAt(slot);
      // The book may have another key now, or be another one, and a slot may be there twice.
      const isMatch = bytes !== undefined && this.keys.readStored(bytes).includes(key);
      if (!isMatch || seenSlots.has(slot)) continue;
      seenSlots.add(slot);
      const id = this.#collection.idAt(slot);
      assert(id !== undefined, 'a slot with bytes has an id');
      yield id;
    }
  }

  /**
   * The keys of a staged book. Each batch of an import looks at all that is staged: what was read
   * before is remembered for as long as it is, but for ids of merged books, which are read faster
   * than remembered (0.1 of 0.4 µs).
   */
  readStagedKeys(bytes: Buffer): readonly string[] {
    if (this.keys.areMerged === true) return this.keys.readStored(bytes);
    const keysReadBefore = this.#stagedKeys.get(bytes);
    if (keysReadBefore !== undefined) return keysReadBefore;
    const keys = this.keys.readStored(bytes);
    this.#stagedKeys.set(bytes, keys);
    return keys;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
  }

  * #fill(): Steps<void> {
    // Books that come meanwhile are taken in as they are applied.
    const { slotBound } = this.#collection;
    for (let slot = 0; slot < slotBound; slot += 1) {
      for (const key of this.#readKeys(this.#collection.bytesAt(slot))) this.#add(slot, key);
      if (slot % SLOTS_PER_YIELD === 0) yield;
    }
  }

  #add(slot: number, key: string): void {
    const hash = crc32(key);
    this.#shardOf(hash).add(hash, slot);
  }

  #readKeys(bytes: Buffer | null | undefined): readonly string[] {
    if (bytes === null || bytes === undefined) return [];
    // A book that is applied was staged, mostly in the same bytes.
    return this.#stagedKeys.get(bytes) ?? this.keys.readStored(bytes);
  }

  #shardOf(hash: number): SlotsByHash {
    const shard = this.#shards[hash % SHARDS];
    assert(shard !== undefined);
    return shard;
  }
}

/**
 * Pairs of a hash and a slot, in chains by the bits of the hash beside those of the shard. They are
 * only added: what has become of a book is seen in its bytes.
 */
class SlotsByHash {
  /** Three numbers a pair: its hash, its slot, the next pair of its chain (0: it is the last). */
  #pairs = new Uint32Array(3 * PAIRS_MIN);
  /** The number of the first pair of each chain, from 1; there is a chain for each pair. */
  #heads = new Uint32Array(PAIRS_MIN);
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(hash: number, slot: number): void {
    if (this.#count === this.#heads.length) this.#grow();
    this.#pairs.set([hash, slot], this.#count * 3);
    this.#link(this.#count);
    this.#count += 1;
  }

  /** No pair may be added meanwhile. */
  * find(hash: number): Generator<number> {
    let number = this.#heads[this.#chainOf(hash)] ?? 0;
    while (number > 0) {
      const offset = (number - 1) * 3;
      if (this.#pairs[offset] === hash) yield this.#pairs[offset + 1] ?? 0;
      number = this.#pairs[offset + 2] ?? 0;
    }
  }

  #link(index: number): void {
    const chain = this.#chainOf(this.#pairs[index * 3] ?? 0);
    this.#pairs[index * 3 + 2] = this.#heads[chain] ?? 0;
    this.#heads[chain] = index + 1;
  }

  #chainOf(hash: number): number {
    return Math.floor(hash / SHARDS) % this.#heads.length;
  }

  #grow(): void {
    const pairs = new Uint32Array(this.#pairs.length * 2);
    pairs.set(this.#pairs);
    this.#pairs = pairs;
    this.#heads = new Uint32Array(this.#heads.length * 2);
    for (let index = 0; index < this.#count; index += 1) this.#link(index);
  }
}

const PAIRS_MIN = 4;

type IndexUse = { readonly index: MatchIndex; importCount: number };

/** The match indexes that imports use at the moment: imports that match alike share one. */
export class MatchIndexes {
  readonly #deps: MatchIndexDeps;
  readonly #uses = new Map<string, IndexUse>();

  constructor(deps: MatchIndexDeps) {
    this.#deps = deps;
  }

  /** The index of the keys, which the import has to `release`. */
  acquire(keys: MatchKeys): MatchIndex {
    let use = this.#uses.get(keys.name);
    if (use === undefined) {
      use = { index: new MatchIndex(this.#deps, keys), importCount: 0 };
      this.#uses.set(keys.name, use);
    }
    use.importCount += 1;
    return use.index;
  }

  release(index: MatchIndex): void {
    for (const [name, use] of this.#uses) {
      if (use.index !== index) continue;
      use.importCount -= 1;
      if (use.importCount > 0) return;
      index.close();
      this.#uses.delete(name);
    }
  }
}
