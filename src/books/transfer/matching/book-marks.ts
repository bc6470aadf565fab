/**
 * Which books the records of an import have made or matched: two records of a file that are the
 * same book are told from a later file about it. A committed book has a bit at its slot; the ids of
 * batches under way are kept beside, as a book of theirs may have no slot yet.
 */
import { BitSet } from '../../../base/structures/bit-set.ts';
import type { Collection } from '../../../store/store-port.ts';

export type BookMarks = {
  /** Whether an earlier record made or matched the book. */
  has(id: string): boolean;
  add(id: string): void;
};

/** The marks of a batch, whose caller says how it ended. */
type BatchMarks = BookMarks & {
  /** To be called before the batch runs, as it may run again. */
  clear(): void;
  /** `isStored`: the books of the batch are committed; else its marks count for nothing. */
  end(isStored: boolean): void;
};

/** The marks of an import. Each of its batches marks books as it runs, also when it runs again. */
export class ImportMarks {
  readonly #slots: SlotMarks;
  /** The ids that each batch under way has marked, in the order of the batches. */
  readonly #batches = new Set<ReadonlySet<string>>();

  constructor(collection: Collection) {
    this.#slots = new SlotMarks(collection);
  }

  begin(): BatchMarks {
    const ids = new Set<string>();
    this.#batches.add(ids);
    return {
      has: (id) => this.#slots.has(id) || this.#hasUpTo(ids, id),
      add: (id) => ids.add(id),
      clear: () => ids.clear(),
      end: (isStored) => {
        if (isStored) for (const id of ids) this.#slots.add(id);
        this.#batches.delete(ids);
      },
    };
  }

  close(): void {
    this.#slots.close();
  }

  /** Whether the batch, or one before it, has marked the book: later ones may have run already. */
  #hasUpTo(last: ReadonlySet<string>, id: string): boolean {
    for (const batch of this.#batches) {
      if (batch.has(id)) return true;
      if (batch === last) break;
    }
    return false;
  }
}

/** The marks of a dry run: a book that is not committed can only be of an earlier record. */
export function createDryRunMarks(collection: Collection): BookMarks & { close(): void } {
  const slots = new SlotMarks(collection);
  return {
    has: (id) => collection.findSlot(id) < 0 || slots.has(id),
    add: (id) => slots.add(id),
    close: () => slots.close(),
  };
}

/** A bit a book that is committed, at its slot. */
class SlotMarks {
  readonly #collection: Collection;
  readonly #slots = new BitSet();
  readonly #unsubscribe: () => void;

  constructor(collection: Collection) {
    this.#collection = collection;
    // Another book gets the slot of a removed one.
    this.#unsubscribe = collection.onChange(({ after }, slot) => {
      if (after === null) this.#slots.delete(slot);
    });
  }

  has(id: string): boolean {
    const slot = this.#collection.findSlot(id);
    return slot >= 0 && this.#slots.has(slot);
  }

  add(id: string): void {
    const slot = this.#collection.findSlot(id);
    if (slot >= 0) this.#slots.add(slot);
  }

  close(): void {
    this.#unsubscribe();
  }
}
