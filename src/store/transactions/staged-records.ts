/**
 * The staged records of one collection, in one map for each batch: the batch that gathers, over the
 * batch that is being written.
 *
 * A batch's map is dropped as a whole. A Map that is emptied entry by entry and filled again links
 * each of its former tables to the next one. Tables that have reached the old generation then keep
 * all later entries alive until the next full garbage collection: that took a tenth of the time of
 * every write.
 */
import { assert } from '../../base/assert.ts';

export class StagedRecords<T> {
  #gathering = new Map<string, T>();
  #inFlight = new Map<string, T>();

  /** The latest item for `id`. */
  get(id: string): T | undefined {
    return this.#gathering.get(id) ?? this.#inFlight.get(id);
  }

  /** Stages `item`. Returns the item it replaces in the batch that gathers, for `undo`. */
  put(id: string, item: T): T | undefined {
    const previousItem = this.#gathering.get(id);
    this.#gathering.set(id, item);
    return previousItem;
  }

  /** Undoes `put`, which has returned `previousItem`. */
  undo(id: string, previousItem: T | undefined): void {
    if (previousItem === undefined) this.#gathering.delete(id);
    else this.#gathering.set(id, previousItem);
  }

  /** The latest item of every id, in no order. */
  * values(): Generator<T> {
    yield* this.#gathering.values();
    for (const [id, item] of this.#inFlight) {
      if (!this.#gathering.has(id)) yield item;
    }
  }

  /** The batch that gathers is going to be written; another one begins. */
  startNextBatch(): void {
    assert(this.#inFlight.size === 0, 'one batch is written at a time');
    this.#inFlight = this.#gathering;
    this.#gathering = new Map();
  }

  /** The batch that was written is committed. */
  dropCommitted(): void {
    if (this.#inFlight.size > 0) this.#inFlight = new Map();
  }

  clear(): void {
    this.#gathering = new Map();
    this.#inFlight = new Map();
  }
}
