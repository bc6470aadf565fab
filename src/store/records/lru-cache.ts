/**
 * An LRU cache of records by id, so that a record that is asked for often costs one look-up, and
 * keeps what a reader has derived from it. Two maps, the younger replacing the older when it is
 * full: least recently used to within half the cache, and no step costs more than one insertion.
 */
import type { StoredRecord } from '../store-port.ts';

export class LruCache {
  // Bounds both the memory that is held and the chunks that are kept alive by it.
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
   * Replaces a cached record by its next version, or by nothing. One that nobody has asked for is
   * not cached: caching every record written made imports a tenth slower.
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
