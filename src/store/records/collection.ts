/** The committed records of one collection in memory: the state that readers see. */
import { assert } from '../../base/assert.ts';
import type { FrozenArena, RecordSpan } from './arena.ts';
import { KeyOrder } from './key-order.ts';
import type { KeyPosition, SlotBlock } from './key-order.ts';
import { STANDARD_LIMITS } from './memory-limits.ts';
import type { MemoryLimits } from './memory-limits.ts';
import type {
  Change, Collection, CollectionSpec, Operation, StoredRecord, Walk, WalkStart,
} from '../store-port.ts';
import { KEY_LENGTH_MAX, RecordTable, encodeKey } from './record-table.ts';
import type { SlotPage } from './record-table.ts';
import { UniqueIndex } from './unique-index.ts';
import { CollectionWalk } from './walk.ts';

/** A collection as of one moment; the bytes stay reachable through it, whatever is written. */
export type FrozenCollection = FrozenArena & {
  readonly size: number;
  /** The live table, whose records may be moved elsewhere with the same bytes. */
  readonly table: RecordTable;
  readonly pages: readonly SlotPage[];
  readonly blocks: readonly SlotBlock[];
};

/**
 * An operation whose record lies in the arena already, at `span`, or is to be copied there.
 * `record` is the record for the cache, if it was made.
 */
export type AppliedOperation = Pick<Operation, 'collection' | 'id' | 'bytes'> & {
  readonly span?: RecordSpan | null;
  readonly record?: StoredRecord | null;
};

const NO_NAMES: ReadonlyMap<string, string> = new Map();

export class StoredCollection implements Collection {
  readonly spec: CollectionSpec;
  readonly table: RecordTable;
  readonly order: KeyOrder;
  readonly unique: UniqueIndex;
  bytesTotal = 0;
  readonly #cache: LruCache;
  #listeners: ((change: Change, slot: number) => void)[] = [];
  /** The key that is searched for, and its position: allocated once, overwritten by each search. */
  readonly #key = Buffer.alloc(KEY_LENGTH_MAX + 1);
  readonly #keyPosition: KeyPosition = { block: 0, position: 0 };

  constructor(spec: CollectionSpec, cachedRecordsMax = STANDARD_LIMITS.cachedRecordsMax) {
    this.spec = spec;
    this.#cache = new LruCache(cachedRecordsMax);
    this.table = new RecordTable(spec.key);
    this.order = new KeyOrder(this.table);
    this.unique = new UniqueIndex(spec.unique);
  }

  get idByName(): ReadonlyMap<string, string> {
    return this.spec.hasNames === true ? this.unique.idByValue : NO_NAMES;
  }

  get size(): number {
    return this.order.size;
  }

  get slotBound(): number {
    return this.table.bound;
  }

  find(id: string): StoredRecord | undefined {
    const cachedRecord = this.#cache.find(id);
    if (cachedRecord !== undefined) return cachedRecord;
    const bytes = this.bytesAt(this.findSlot(id));
    if (bytes === undefined) return undefined;
    const record = { bytes, representation: undefined };
    this.#cache.set(id, record);
    return record;
  }

  findBytes(id: string): Buffer | undefined {
    return this.#cache.find(id)?.bytes ?? this.bytesAt(this.findSlot(id));
  }

  walk(from: WalkStart = {}): Walk {
    return new CollectionWalk(this.table, this.order, from);
  }

  findSlot(id: string): number {
    if (encodeKey(id, this.#key) < id.length) return -1;
    const isFound = this.order.seek(this.#key, 0, this.#keyPosition);
    return isFound ? this.order.slotAt(this.#keyPosition.block, this.#keyPosition.position) : -1;
  }

  bytesAt(slot: number): Buffer | undefined {
    return slot < 0 ? undefined : this.table.bytesAt(slot);
  }

  idAt(slot: number): string | undefined {
    return slot < 0 ? undefined : this.table.keyAt(slot);
  }

  onChange(listener: (change: Change, slot: number) => void): () => void {
    this.#listeners.push(listener);
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  apply({ id, bytes, span, record }: AppliedOperation): void {
    if (bytes === null) return this.#remove(id);
    const { arena } = this.table;
    return this.#put(id, span ?? arena.appendBytes(bytes), record ?? null);
  }

  /** Makes the record at `span` of the arena the current version of `id`. */
  #put(id: string, span: RecordSpan, record: StoredRecord | null): void {
    const length = encodeKey(id, this.#key);
    assert(length === id.length);
    let slot = -1;
    let before: Buffer | null = null;
    if (this.order.seek(this.#key, 0, this.#keyPosition)) {
      slot = this.order.slotAt(this.#keyPosition.block, this.#keyPosition.position);
      if (this.#listeners.length > 0) before = this.bytesAt(slot) ?? null;
      this.bytesTotal -= this.table.lengthOf(slot);
      this.table.move(slot, span);
    } else {
      slot = this.table.add(span);
      this.order.insert(this.#keyPosition, slot);
    }
    this.bytesTotal += span.length;
    this.#cache.replace(id, record);
    if (this.unique.isUsed) this.unique.put(id, this.table.bytesAt(slot));
    if (this.#listeners.length === 0) return;
    this.#notify(id, slot, before, record?.bytes ?? this.bytesAt(slot) ?? null);
  }

  #remove(id: string): void {
    encodeKey(id, this.#key);
    const isFound = this.order.seek(this.#key, 0, this.#keyPosition);
    assert(isFound, `delete of an unknown ${this.spec.name} record`);
    const slot = this.order.slotAt(this.#keyPosition.block, this.#keyPosition.position);
    const before = this.bytesAt(slot) ?? null;
    this.bytesTotal -= this.table.lengthOf(slot);
    this.order.remove(this.#keyPosition);
    this.table.remove(slot);
    this.#cache.delete(id);
    this.unique.delete(id);
    this.#notify(id, slot, before, null);
  }

  /**
   * Adds records of a chunk that was adopted; `spans` holds offset and length of each. False when
   * the keys do not rise: the records of a snapshot are in order.
   */
  load(chunk: number, spans: Uint32Array, count: number): boolean {
    const { arena, keyStart } = this.table;
    const bytes = arena.chunk(chunk);
    if (count === 0) return true;
    if (!this.order.isAfterAll(bytes, (spans[0] ?? 0) + keyStart)) return false;
    if (!this.table.areKeysRising(bytes, spans, count)) return false;
    const first = this.table.bound;
    const length = this.table.addRun(chunk, spans, count);
    arena.retain(chunk, length, count);
    this.order.append(first, count);
    this.bytesTotal += length;
    if (!this.unique.isUsed) return true;
    for (let slot = first; slot < first + count; slot += 1) {
      this.unique.put(this.idAt(slot) ?? '', this.bytesAt(slot));
    }
    return true;
  }

  /** The present state, for a snapshot, until `thaw`. Copies a pointer per page and block. */
  freeze(): FrozenCollection {
    return {
      size: this.size, table: this.table,
      pages: this.table.freeze(), blocks: this.order.freeze(), ...this.table.arena.freeze(),
    };
  }

  thaw(): void {
    this.table.arena.thaw();
    // Cached records would keep alive the chunks that a compaction has emptied.
    this.#cache.clear();
  }

  #notify(id: string, slot: number, before: Buffer | null, after: Buffer | null): void {
    const change = { collection: this.spec.name, id, before, after };
    const failures: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(change, slot);
      } catch (error) {
        // One listener's bug must not keep the change from the others.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Collections without records, by name. */
export function createCollections(
  specs: readonly CollectionSpec[], limits: MemoryLimits = STANDARD_LIMITS,
): ReadonlyMap<string, StoredCollection> {
  return new Map(specs.map((spec) =>
    [spec.name, new StoredCollection(spec, limits.cachedRecordsMax)]));
}

/** The present state of all collections, until each is thawed. */
export function freezeAll(
  collections: ReadonlyMap<string, StoredCollection>,
): ReadonlyMap<string, FrozenCollection> {
  return new Map([...collections].map(([name, collection]) => [name, collection.freeze()]));
}

/**
 * An LRU cache of records by id: a record that is read often costs one look-up, and keeps what a
 * reader has derived from it. Without it a GET takes 15 % more CPU time (bench `get-one`). It is
 * two maps; a full younger map replaces the older map. So the cache evicts the least recently used
 * half, and no step costs more than one insertion.
 */
export class LruCache {
  // The limit is for the memory of the cache, and of the arena's chunks that the cache keeps alive.
  readonly #recordsPerMap: number;
  #young = new Map<string, StoredRecord>();
  #old = new Map<string, StoredRecord>();

  constructor(recordsMax: number) {
    this.#recordsPerMap = Math.ceil(recordsMax / 2);
  }

  find(id: string): StoredRecord | undefined {
    const record = this.#young.get(id);
    if (record !== undefined || this.#old.size === 0) return record;
    const older = this.#old.get(id);
    if (older !== undefined) this.set(id, older);
    return older;
  }

  set(id: string, record: StoredRecord): void {
    if (this.#young.size >= this.#recordsPerMap) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(id, record);
  }

  /**
   * Replaces a cached record by its next version, or removes it. A record that is not cached stays
   * uncached: caching every record written made imports a tenth slower.
   */
  replace(id: string, record: StoredRecord | null): void {
    if (!this.#young.has(id) && !this.#old.has(id)) return;
    if (record === null) this.delete(id);
    else this.set(id, record);
  }

  delete(id: string): void {
    this.#young.delete(id);
    this.#old.delete(id);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}

// Garbage below either limit does not matter.
const GARBAGE_BYTES_MIN = 32 << 20;
const GARBAGE_SHARE_MAX = 0.5;

/** The bytes of all records, and whether there is so much garbage that a snapshot pays. */
export function measureGarbage(
  collections: ReadonlyMap<string, StoredCollection>,
): { readonly liveBytes: number; readonly isWorthCompacting: boolean } {
  let liveBytes = 0;
  let garbageBytes = 0;
  for (const { bytesTotal, table } of collections.values()) {
    liveBytes += bytesTotal;
    garbageBytes += table.arena.garbageBytes;
  }
  const garbageBytesMax = Math.max(GARBAGE_BYTES_MIN, liveBytes * GARBAGE_SHARE_MAX);
  const isWorthCompacting = garbageBytes > garbageBytesMax;
  return { liveBytes, isWorthCompacting };
}
