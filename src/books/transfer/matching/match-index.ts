/**
 * Which committed books have a match key: an index that is made when an import first needs it,
 * follows the changes of the collection while any import does, and is dropped after the last.
 *
 * It knows a hash of each key (slot-chains.ts, about 16 bytes a book), and looks at the stored
 * bytes to be sure. It is made in turns of the event loop, beside traffic, and takes in each change
 * as it is applied. So it is exact whenever a transaction runs, however much others write: also on
 * the nodes of an engine, which apply what others wrote before a transaction runs again. What is
 * staged and not applied yet it does not know: `StagingIndex` does.
 */
import { crc32 } from 'node:zlib';
import { assert } from '../../../base/assert.ts';
import type { Steps, Turns } from '../../../base/turns.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { Match, MatchMode } from './book-import.ts';
import { createMatchKeys } from './match-key.ts';
import type { MatchKeys } from './match-key.ts';
import { SlotChains } from './slot-chains.ts';

type MatchIndexDeps = { readonly collection: Collection; readonly turns: Turns };

const SLOTS_PER_YIELD = 16;

export class MatchIndex {
  readonly keys: MatchKeys;
  /** Resolves when it knows all books, or when it is closed. */
  readonly whenReady: Promise<unknown>;
  readonly #collection: Collection;
  readonly #chains: SlotChains;
  readonly #unsubscribe: () => void;
  readonly #stagedKeys = new WeakMap<Buffer, string | null>();
  #isClosed = false;

  constructor({ collection, turns }: MatchIndexDeps, keys: MatchKeys) {
    this.keys = keys;
    this.#collection = collection;
    this.#chains = new SlotChains(collection.slotBound);
    this.#unsubscribe = collection.onChange(({ after }, slot) => this.#set(slot, after));
    this.whenReady = turns.runLater(this.#fill(), () => !this.#isClosed);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#chains.bytes;
  }

  /** The ids of the committed books with the key, in no order. */
  * find(key: string): Generator<string> {
    for (const slot of this.#chains.find(crc32(key))) {
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
      this.#set(slot, this.#collection.bytesAt(slot));
      if (slot % SLOTS_PER_YIELD === 0) yield;
    }
  }

  #set(slot: number, bytes: Buffer | undefined | null): void {
    const key = bytes === undefined || bytes === null ? null : this.keys.readStored(bytes);
    if (key === null) this.#chains.delete(slot);
    else this.#chains.put(slot, crc32(key));
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
