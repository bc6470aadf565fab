/**
 * The changes to the collection while one response is made. It records which books changed, and
 * keeps the bytes of those that were found before they changed and have not been sent yet, so that
 * the response has as many books as its `X-Total-Count` says.
 *
 * It records from its construction on. `stop` ends all of it: its creator must call it when the
 * books have been read, and on an error, or it listens to the collection for ever. A whole list,
 * whose books are read only while they are sent, calls in between: `keepUntilTaken` for the books
 * found, `stopRecording` when all are found, and `take` for each book sent.
 */
import type { Change, Collection } from '../../store/store-port.ts';
import { BitSet } from '../../base/structures/bit-set.ts';

// Copies of changed books kept for one slow reader; beyond that, changed books are left out.
const COPIED_BYTES_MAX = 8 * 2 ** 20;

type KeptSlots = {
  /** Slots whose books were found and have not been sent. */
  readonly unsent: BitSet;
  /** The slots in `unsent` whose books have changed since. */
  readonly stale: BitSet;
  /** The books of stale slots as they were found, as far as there was room. */
  readonly copies: Map<number, Buffer>;
  copiedBytes: number;
};

export class ConcurrentChanges {
  readonly #collection: Collection;
  readonly #unsubscribe: () => void;
  /** null while no slot is kept, as for every page: typed arrays are dear to make. */
  #kept: KeptSlots | null = null;
  /** null once `stopRecording` was called. */
  #changedSlots: Set<number> | null = new Set();
  readonly #deletedSlots = new Map<string, number[]>();

  constructor(collection: Collection) {
    this.#collection = collection;
    this.#unsubscribe = collection.onChange((change, slot) => this.#onChange(change, slot));
  }

  /** The slots written from the start of the recording to `stopRecording`. */
  get changedSlots(): ReadonlySet<number> {
    return this.#changedSlots ?? new Set();
  }

  /** In which slots books stood that were deleted in this time, by their ids. */
  get deletedSlots(): ReadonlyMap<string, readonly number[]> {
    return this.#deletedSlots;
  }

  /** Forgets all, and records from now on: another search begins. */
  recordAnew(): void {
    this.#changedSlots = new Set();
    this.#deletedSlots.clear();
    this.#kept = null;
  }

  /** Stops recording which slots change: all books of the response have been found. */
  stopRecording(): void {
    this.#changedSlots = null;
    this.#deletedSlots.clear();
  }

  /** From now on `take` returns the bytes that the slot has now. A response has a slot once. */
  keepUntilTaken(slot: number): void {
    this.#kept ??=
      { unsent: new BitSet(), stale: new BitSet(), copies: new Map(), copiedBytes: 0 };
    this.#kept.unsent.add(slot);
  }

  /** The bytes of a slot that was kept, once; undefined if too much has changed to keep them. */
  take(slot: number): Buffer | undefined {
    const keptSlots = this.#kept;
    if (keptSlots === null || !keptSlots.unsent.delete(slot)) return undefined;
    if (!keptSlots.stale.delete(slot)) return this.#collection.bytesAt(slot);
    const bytes = keptSlots.copies.get(slot);
    keptSlots.copies.delete(slot);
    keptSlots.copiedBytes -= bytes?.length ?? 0;
    return bytes;
  }

  /** Forgets the slots that were kept: what found them has given up. */
  releaseKept(): void {
    this.#kept = null;
  }

  /** Stops following the collection, and forgets all copies. Idempotent. */
  stop(): void {
    this.#unsubscribe();
    this.#kept?.copies.clear();
  }

  #onChange({ id, before, after }: Change, slot: number): void {
    this.#changedSlots?.add(slot);
    if (after === null && this.#changedSlots !== null) {
      this.#deletedSlots.set(id, [...this.#deletedSlots.get(id) ?? [], slot]);
    }
    const keptSlots = this.#kept;
    if (keptSlots?.unsent.has(slot) !== true) return;
    if (!keptSlots.stale.add(slot) || before === null) return;
    if (keptSlots.copiedBytes + before.length > COPIED_BYTES_MAX) return;
    keptSlots.copiedBytes += before.length;
    // A copy, because a view would keep a whole block of the store in memory.
    keptSlots.copies.set(slot, Buffer.from(before));
  }
}
