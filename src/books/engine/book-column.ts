/**
 * What all columns have in common. A column knows one small value of each slot, so that a condition
 * on it is answered without reading books. It has a figure for each value, too: how many books have
 * it.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { BookFilter } from '../query/parse-query.ts';
import type { ValueCount } from '../query/value-count.ts';

/** The member whose values a column has. */
export type ColumnName = 'inLanguage' | 'bookFormat' | 'datePublished' | 'isbn';

/** `match` is asked only if the filter has a condition on the column. */
export interface BookColumn {
  /** Puts what the book in a slot has; undefined: there is no book. Idempotent. */
  set(slot: number, bytes: Buffer | undefined): void;
  /** About how much memory it takes. */
  readonly bytes: number;
  /**
   * The slots of the books that match the condition of the filter. The caller must not change them;
   * `set` may. A slot that is set meanwhile may be among them or not.
   */
  match(filter: BookFilter): Steps<BitSet>;
  /** In how many books each value of its facet stands: languages, formats, decades; no ISBNs. */
  valueCounts(): Iterable<ValueCount>;
}
