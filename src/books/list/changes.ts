/**
 * The changes to the collection during one answer. It records which books changed, and keeps the
 * bytes of those that were found before they changed and have not been sent yet, so that the answer
 * has as many books as its `X-Total-Count` says.
 */
import type { Change, Collection } from '../../store/port.ts';
import { Bits } from '../../base/structures/bit-set.ts';

// Copies of changed books kept for one slow reader; beyond that, changed books are left out.
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

  /** The slots written between the start and `settle`. */
  get changed(): ReadonlySet<number> {
    return this.#changed ?? new Set();
  }

  /** Stops recording which slots change: all books of the answer have been found. */
  settle(): void {
    this.#changed = null;
  }

  /** From now on `take` returns the bytes that the slot has now. */
  keep(slot: number): void {
    this.#wanted.add(slot);
  }

  /** The bytes of a kept slot, once; undefined if too much has changed to keep them. */
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
    // A copy, because a view would keep a whole block of the store in memory.
    this.#kept.set(slot, Buffer.from(before));
  }
}
