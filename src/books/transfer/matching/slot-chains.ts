/**
 * From the hash of a key to the slots of the books that may have it, in about 16 bytes a book.
 *
 * The slots of one bucket form a chain. There is one bucket for two slots; when there are more, the
 * oldest bucket that has not been split is divided into two (linear hashing), so that no slot waits
 * for a table to be made anew: of a million slots that would hold the event loop for 50 ms.
 */
import { growInt32 } from '../../../base/structures/typed-arrays.ts';

const SLOTS_PER_BUCKET = 2;
const NONE = -1;
/** In `#previous`, of a slot that is in no chain. */
const ABSENT = -2;

export class SlotChains {
  /** The first slot of each bucket, plus one; 0 for none, as new arrays are full of zeros. */
  #heads = new Int32Array(1);
  #bucketCount = 1;
  #size = 0;
  readonly #slots: SlotLinks;

  /** With room for the slots below `slotBound`; others may come. */
  constructor(slotBound: number) {
    this.#slots = new SlotLinks(slotBound);
  }

  /** How many slots have a hash. */
  get size(): number {
    return this.#size;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#heads.byteLength + this.#slots.bytes;
  }

  /** Gives a slot the 32 bits of a hash, in the place of the one that it had. */
  put(slot: number, hash: number): void {
    this.#slots.reserve(slot);
    if (this.#slots.has(slot)) {
      if (this.#slots.hashOf(slot) === (hash | 0)) return;
      this.delete(slot);
    }
    this.#slots.setHash(slot, hash);
    this.#link(slot);
    this.#size += 1;
    if (this.#size > this.#bucketCount * SLOTS_PER_BUCKET) this.#split();
  }

  /** Does nothing for a slot without a hash. */
  delete(slot: number): void {
    if (!this.#slots.has(slot)) return;
    this.#unlink(slot);
    this.#slots.markAbsent(slot);
    this.#size -= 1;
  }

  /** The slots with this hash, in no order; none may be changed meanwhile. */
  * find(hash: number): Generator<number> {
    let slot = this.#headOf(this.#bucketOf(hash));
    for (; slot !== NONE; slot = this.#slots.next(slot)) {
      if (this.#slots.hashOf(slot) === (hash | 0)) yield slot;
    }
  }

  #split(): void {
    const added = this.#bucketCount;
    this.#heads = growInt32(this.#heads, added + 1);
    this.#bucketCount += 1;
    // The bucket whose hashes differ from the added one's in their highest bit alone.
    const divided = added - powerOfTwoUpTo(added);
    let slot = this.#headOf(divided);
    while (slot !== NONE) {
      const next = this.#slots.next(slot);
      if (this.#bucketOf(this.#slots.hashOf(slot)) === added) {
        this.#unlinkFrom(divided, slot);
        this.#link(slot);
      }
      slot = next;
    }
  }

  #bucketOf(hash: number): number {
    const half = powerOfTwoUpTo(this.#bucketCount);
    const bucket = hash & (half * 2 - 1);
    return bucket < this.#bucketCount ? bucket : bucket - half;
  }

  #headOf(bucket: number): number {
    return (this.#heads[bucket] ?? 0) - 1;
  }

  /** Puts the slot before the others of its bucket. */
  #link(slot: number): void {
    const bucket = this.#bucketOf(this.#slots.hashOf(slot));
    const head = this.#headOf(bucket);
    this.#slots.setLinks(slot, NONE, head);
    if (head !== NONE) this.#slots.setPrevious(head, slot);
    this.#heads[bucket] = slot + 1;
  }

  #unlink(slot: number): void {
    this.#unlinkFrom(this.#bucketOf(this.#slots.hashOf(slot)), slot);
  }

  #unlinkFrom(bucket: number, slot: number): void {
    const previous = this.#slots.previous(slot);
    const next = this.#slots.next(slot);
    if (previous === NONE) this.#heads[bucket] = next + 1;
    else this.#slots.setNext(previous, next);
    if (next !== NONE) this.#slots.setPrevious(next, previous);
  }
}

/** The hash of each slot and its neighbours in its chain: 12 bytes. */
class SlotLinks {
  #hashes: Int32Array<ArrayBuffer>;
  #next: Int32Array<ArrayBuffer>;
  #previous: Int32Array<ArrayBuffer>;

  constructor(slotBound: number) {
    const length = Math.max(1, slotBound);
    this.#hashes = new Int32Array(length);
    this.#next = new Int32Array(length);
    this.#previous = new Int32Array(length).fill(ABSENT);
  }

  get bytes(): number {
    return this.#hashes.byteLength * 3;
  }

  reserve(slot: number): void {
    const { length } = this.#hashes;
    if (slot < length) return;
    this.#hashes = growInt32(this.#hashes, slot + 1);
    this.#next = growInt32(this.#next, slot + 1);
    this.#previous = growInt32(this.#previous, slot + 1);
    this.#previous.fill(ABSENT, length);
  }

  has(slot: number): boolean {
    return (this.#previous[slot] ?? ABSENT) !== ABSENT;
  }

  hashOf(slot: number): number {
    return this.#hashes[slot] ?? 0;
  }

  setHash(slot: number, hash: number): void {
    this.#hashes[slot] = hash;
  }

  next(slot: number): number {
    return this.#next[slot] ?? NONE;
  }

  setNext(slot: number, next: number): void {
    this.#next[slot] = next;
  }

  previous(slot: number): number {
    return this.#previous[slot] ?? NONE;
  }

  setPrevious(slot: number, previous: number): void {
    this.#previous[slot] = previous;
  }

  setLinks(slot: number, previous: number, next: number): void {
    this.#previous[slot] = previous;
    this.#next[slot] = next;
  }

  markAbsent(slot: number): void {
    this.#previous[slot] = ABSENT;
  }
}

/** The largest power of two that is not above `count`, which is at least 1. */
function powerOfTwoUpTo(count: number): number {
  return 2 ** (31 - Math.clz32(count));
}
