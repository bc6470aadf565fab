/**
 * Which committed books have a match key: an index that is made when an import first needs it,
 * follows the changes of the collection while any import does, and is dropped after the last.
 *
 * It knows a hash of each key, in 30 bytes a book, and looks at the stored bytes to be sure. It is
 * made in turns of the event loop, beside traffic, and takes in each change as it is applied. So it
 * is exact whenever a transaction runs, however much others write: also on the nodes of an engine,
 * which apply what others wrote before a transaction runs again. What is staged and not applied yet
 * it does not know: `TransactionStaging` does.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../../../base/assert.ts';
import type { Steps, Turns } from '../../../base/turns.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { Match, MatchMode } from './book-import.ts';
import { createMatchKeys } from './match-key.ts';
import type { MatchKeys } from './match-key.ts';

type MatchIndexDeps = { readonly collection: Collection; readonly turns: Turns };

const SLOTS_PER_YIELD = 16;
/** One map of a million hashes would hold the event loop for 45 ms when it grows. */
const SHARDS = 64;

export class MatchIndex {
  readonly keys: MatchKeys;
  /** Resolves when it knows all books, or when it is closed. */
  readonly whenReady: Promise<unknown>;
  readonly #collection: Collection;
  /** The slots of the books by the hashes of their keys: mostly one. */
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<number, number | Set<number>>());
  readonly #unsubscribe: () => void;
  readonly #stagedKeys = new WeakMap<Buffer, string | null>();
  #isClosed = false;

  constructor({ collection, turns }: MatchIndexDeps, keys: MatchKeys) {
    this.keys = keys;
    this.#collection = collection;
    this.#unsubscribe = collection.onChange(({ before, after }, slot) => {
      this.#delete(slot, before);
      this.#add(slot, after);
    });
    this.whenReady = turns.runLater(this.#fill(), () => !this.#isClosed);
  }

  /** The ids of the committed books with the key, in no order. */
  * find(key: string): Generator<string> {
    const hash = crc32(key) | 0;
    const slots = this.#shardOf(hash).get(hash) ?? [];
    for (const slot of typeof slots === 'number' ? [slots] : slots) {
      const bytes = this.#collection.bytesAt(slot);
      if (bytes === undefined || this.keys.readStored(bytes) !== key) continue;
      const id = this.#collection.idAt(slot);
      assert(id !== undefined, 'a slot with bytes has an id');
      yield id;
    }
  }

  /**
   * The key of a staged book. Each batch of an import looks at all that is staged: what was read
   * before is remembered for as long as it is.
   */
  readStagedKey(bytes: Buffer): string | null {
    const known = this.#stagedKeys.get(bytes);
    if (known !== undefined) return known;
    const key = this.keys.readStored(bytes);
    this.#stagedKeys.set(bytes, key);
    return key;
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
      this.#add(slot, this.#collection.bytesAt(slot) ?? null);
      if (slot % SLOTS_PER_YIELD === 0) yield;
    }
  }

  /** Does nothing where the slot is there: a book may change before the index has come to it. */
  #add(slot: number, bytes: Buffer | null): void {
    const hash = this.#hashOf(bytes);
    if (hash === null) return;
    const shard = this.#shardOf(hash);
    const slots = shard.get(hash);
    if (slots === undefined) shard.set(hash, slot);
    else if (typeof slots !== 'number') slots.add(slot);
    else if (slots !== slot) shard.set(hash, new Set([slots, slot]));
  }

  #delete(slot: number, bytes: Buffer | null): void {
    const hash = this.#hashOf(bytes);
    if (hash === null) return;
    const shard = this.#shardOf(hash);
    const slots = shard.get(hash);
    if (typeof slots === 'object') slots.delete(slot);
    if (slots === slot || (typeof slots === 'object' && slots.size === 0)) shard.delete(hash);
  }

  /** A small integer, which a map holds as it is; null for a book without a key. */
  #hashOf(bytes: Buffer | null): number | null {
    const key = bytes === null ? null : this.keys.readStored(bytes);
    return key === null ? null : crc32(key) | 0;
  }

  #shardOf(hash: number): Map<number, number | Set<number>> {
    const shard = this.#shards[hash & (SHARDS - 1)];
    assert(shard !== undefined);
    return shard;
  }
}

type IndexUse = { readonly index: MatchIndex; importCount: number };

/** The match indexes that imports use at the moment: imports that match alike share one. */
export class MatchIndexes {
  readonly #deps: MatchIndexDeps;
  readonly #uses = new Map<string, IndexUse>();

  constructor(deps: MatchIndexDeps) {
    this.#deps = deps;
  }

  /** The indexes for an import, one for each way to match, which has to `release` each. */
  acquire({ matches, source }: MatchMode): readonly MatchIndex[] {
    return matches.map((match) => this.#acquire(match, source));
  }

  #acquire(match: Match, source: MatchMode['source']): MatchIndex {
    const name = nameOf(match, source);
    let use = this.#uses.get(name);
    if (use === undefined) {
      use = { index: new MatchIndex(this.#deps, createMatchKeys(match, source)), importCount: 0 };
      this.#uses.set(name, use);
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

function nameOf(match: Match, source: MatchMode['source']): string {
  return match === 'source' ? JSON.stringify([match, source?.format]) : match;
}
