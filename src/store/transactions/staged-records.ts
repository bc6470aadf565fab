/**
 * What is staged of one collection, a map for each batch: the one that gathers, over the one that
 * is on its way to disk and was sealed before.
 *
 * A batch's map goes as a whole. Emptied one by one and filled again for ever, a Map links each of
 * its former tables to the next, and what has grown old of them keeps alive, until the next full
 * collection, whatever has passed through: that took a tenth of the time of every write.
 */
export class StagedRecords<T> {
  #gathering = new Map<string, T>();
  #inFlight = new Map<string, T>();

  /** The latest for `id`. */
  get(id: string): T | undefined {
    return this.#gathering.get(id) ?? this.#inFlight.get(id);
  }

  /** Stages `item`; what it replaces in the batch that gathers, to be given back to `undo`. */
  put(id: string, item: T): T | undefined {
    const replaced = this.#gathering.get(id);
    this.#gathering.set(id, item);
    return replaced;
  }

  undo(id: string, replaced: T | undefined): void {
    if (replaced === undefined) this.#gathering.delete(id);
    else this.#gathering.set(id, replaced);
  }

  /** The latest of every id, in no order. */
  * values(): Generator<T> {
    yield* this.#gathering.values();
    for (const [id, item] of this.#inFlight) {
      if (!this.#gathering.has(id)) yield item;
    }
  }

  /** What has gathered goes to disk. */
  startNextBatch(): void {
    this.#inFlight = this.#gathering;
    this.#gathering = new Map();
  }

  /** What was sealed is committed. */
  dropCommitted(): void {
    if (this.#inFlight.size > 0) this.#inFlight = new Map();
  }

  clear(): void {
    this.#gathering = new Map();
    this.#inFlight = new Map();
  }
}
