/**
 * What is written to the collection while one answer is on its way. Remembers which books changed,
 * and keeps the bytes of those that were found before their change and are still to be sent, so
 * that the answer holds what its count says.
 */
import type { Change, Collection } from '../../store/port.ts';
import { Bits } from '../../base/structures/bit-set.ts';

// Copies of changed books kept for one slow reader; past that, a changed book is left out.
const KEPT_BYTES_MAX = 8 * 2 ** 20;

export class Changes {
  readonly #collection: Collection;
  readonly #unsubscribe: () => void;
  readonly #wanted = new Bits();
  readonly #kept = new Map<number, Buffer>();
  #changed: Set<number> | null = new Set();
  #keptBytes = 0;

  constructor(collection: Collection) {
    this.#collection = collection;
    this.#unsubscribe = collection.onChange((change) => this.#onChange(change));
  }

  /** The slots that were written since the start, until `settle`. */
  get changed(): ReadonlySet<number> {
    return this.#changed ?? new Set();
  }

  /** Says that the answer has all its books, and it no longer matters what else changes. */
  settle(): void {
    this.#changed = null;
  }

  /** From now on `take` gives the bytes that the slot has now. */
  keep(slot: number): void {
    this.#wanted.add(slot);
  }

  /** The bytes of a kept slot, once; undefined when too much changed to keep them. */
  take(slot: number): Buffer | undefined {
    if (this.#wanted.delete(slot)) return this.#collection.bytesAt(slot);
    const bytes = this.#kept.get(slot);
    this.#kept.delete(slot);
    this.#keptBytes -= bytes?.length ?? 0;
    return bytes;
  }

  stop(): void {
    this.#unsubscribe();
    this.#kept.clear();
  }

  #onChange({ slot, before }: Change): void {
    this.#changed?.add(slot);
    if (!this.#wanted.delete(slot) || before === null) return;
    if (this.#keptBytes + before.length > KEPT_BYTES_MAX) return;
    this.#keptBytes += before.length;
    // A copy: a view would hold on to the store's whole block.
    this.#kept.set(slot, Buffer.from(before));
  }
}
