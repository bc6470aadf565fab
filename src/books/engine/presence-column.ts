/** Which books have an ISBN and which have none: a bit set for either, 2 bits a slot. */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { BookFilter } from '../query/parse-query.ts';
import { hasIsbn } from '../query/stored-fields.ts';
import type { ValueCount } from '../query/value-count.ts';
import type { BookColumn } from './book-column.ts';

export class PresenceColumn implements BookColumn {
  readonly #withIsbn: BitSet;
  readonly #withoutIsbn: BitSet;

  constructor(slotBound: number) {
    this.#withIsbn = new BitSet(slotBound);
    this.#withoutIsbn = new BitSet(slotBound);
  }

  get bytes(): number {
    return this.#withIsbn.words.byteLength + this.#withoutIsbn.words.byteLength;
  }

  set(slot: number, bytes: Buffer | undefined): void {
    this.#withIsbn.delete(slot);
    this.#withoutIsbn.delete(slot);
    if (bytes !== undefined) (hasIsbn(bytes) ? this.#withIsbn : this.#withoutIsbn).add(slot);
  }

  /** One step, as the bit sets are there already. */
  * match(filter: BookFilter): Steps<BitSet> {
    assert(filter.hasIsbn !== null);
    return filter.hasIsbn ? this.#withIsbn : this.#withoutIsbn;
  }

  valueCounts(): readonly ValueCount[] {
    return [];
  }
}
