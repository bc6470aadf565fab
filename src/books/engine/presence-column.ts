/** Which books have an ISBN and which have none: a bit set for either, 2 bits a slot. */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { hasIsbn } from '../query/stored-fields.ts';
import type { ValueCount } from '../query/value-count.ts';
import type { BookColumn } from './book-column.ts';

export class PresenceColumn implements BookColumn {
  readonly #withIsbn: SlotCount;
  readonly #withoutIsbn: SlotCount;

  constructor(slotBound: number) {
    this.#withIsbn = { slots: new BitSet(slotBound), count: 0 };
    this.#withoutIsbn = { slots: new BitSet(slotBound), count: 0 };
  }

  get bytes(): number {
    return this.#withIsbn.slots.words.byteLength + this.#withoutIsbn.slots.words.byteLength;
  }

  set(slot: number, bytes: Buffer | undefined): void {
    const isWith = bytes !== undefined && hasIsbn(bytes);
    put(this.#withIsbn, slot, isWith);
    put(this.#withoutIsbn, slot, bytes !== undefined && !isWith);
  }

  count(filter: BookFilter): number {
    return this.#pick(filter).count;
  }

  /** One step, as the bit sets are there already. */
  * match(filter: BookFilter): Steps<BitSet> {
    return this.#pick(filter).slots;
  }

  valueCounts(): readonly ValueCount[] {
    return [];
  }

  #pick(filter: BookFilter): SlotCount {
    assert(filter.hasIsbn !== null);
    return filter.hasIsbn ? this.#withIsbn : this.#withoutIsbn;
  }
}

type SlotCount = { readonly slots: BitSet; count: number };

function put(slotCount: SlotCount, slot: number, isIn: boolean): void {
  if (isIn) {
    if (slotCount.slots.add(slot)) slotCount.count += 1;
  } else if (slotCount.slots.delete(slot)) {
    slotCount.count -= 1;
  }
}
