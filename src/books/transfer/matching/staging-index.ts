/**
 * From match keys to the books that lie over the committed ones: those that are staged while a
 * transaction runs, or those that a dry run would have stored. Of these, what the index of the
 * committed books knows is out of date.
 */

export class StagingIndex {
  readonly #readKey: (bytes: Buffer) => string | null;
  /** Null for a book without a key, and for a removed one. */
  readonly #keyById = new Map<string, string | null>();
  readonly #idsByKey = new Map<string, Set<string>>();

  constructor(readKey: (bytes: Buffer) => string | null) {
    this.#readKey = readKey;
  }

  has(id: string): boolean {
    return this.#keyById.has(id);
  }

  /** `bytes` is null for a removed book. */
  put(id: string, bytes: Buffer | null): void {
    this.#forget(id);
    const key = bytes === null ? null : this.#readKey(bytes);
    this.#keyById.set(id, key);
    if (key === null) return;
    const ids = this.#idsByKey.get(key);
    if (ids === undefined) this.#idsByKey.set(key, new Set([id]));
    else ids.add(id);
  }

  find(key: string): Iterable<string> {
    return this.#idsByKey.get(key) ?? [];
  }

  #forget(id: string): void {
    const key = this.#keyById.get(id) ?? null;
    if (key === null) return;
    const ids = this.#idsByKey.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByKey.delete(key);
  }
}
