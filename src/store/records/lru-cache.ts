/**
 * The records asked for lately, by id, so that a hot read costs one look-up and finds what the
 * serving layer has kept beside the bytes. Two maps, the younger replacing the older when it is
 * full: bounded, and never a step that costs more than one insertion.
 */
import type { StoredRecord } from '../port.ts';

export class HotRecords {
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
   * Puts a new version, or nothing, in the place of one that is kept. A record that nobody has
   * asked for is not kept: holding every record written made imports a tenth slower.
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
