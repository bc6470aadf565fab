/**
 * An LRU cache of records by id: a record that is read often costs one look-up, and keeps what a
 * reader has derived from it. Without it a GET takes 15 % more CPU time (bench `get-one`). It is
 * two maps; when the younger one is full it replaces the older one. So it evicts the least recently
 * used half, and no step costs more than one insertion.
 */
import type { StoredRecord } from '../store-port.ts';

export class LruCache {
  // Bounds the memory of the cache and the chunks of the arena that it keeps alive.
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
