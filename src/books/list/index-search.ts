/**
 * What one query looks in: the slots that are known to match, by bit sets, and a walk through them
 * in order.
 *
 * The indexes may know some books as they were: those of pending slots, those that the word index
 * has not indexed, and those that change while the query is under way. These slots are unsettled.
 * Walks pass over them and counts leave them out; who answers looks at each by its book.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import type { BookColumn } from '../engine/book-column.ts';
import type { CatalogIndexes } from '../engine/catalog-indexes.ts';
import { columnsFor } from '../engine/columns.ts';
import { OrderWalk, WALK_END, WALK_PAUSE } from '../engine/order-walk.ts';
import type { SlotOrder } from '../engine/slot-order.ts';
import type { Candidates } from '../index/book-search.ts';
import { hasTextConditions } from '../query/match-book.ts';
import type { BookFilter } from '../query/parse-query.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';
import type { ScanInputs } from './slot-filter.ts';

export type SearchInputs = ScanInputs & { readonly indexes: CatalogIndexes };

// More slots that are unsettled from the start are a reason to scan.
const KNOWN_UNSETTLED_MAX = 500;

/** What one query looks in. */
export type IndexSearch = SearchInputs & {
  /** null: ids are the order. */
  readonly order: SlotOrder | null;
  /** Whether there is an index of the order. */
  readonly hasOrder: boolean;
  /** The books that match, apart from unsettled ones; null: all. */
  readonly matches: BitSet | null;
  readonly unsettled: UnsettledSlots;
};

/** The slots whose books the indexes may know as they were. */
class UnsettledSlots {
  /** Those that were unsettled when the search was opened. */
  readonly atStart: ReadonlySet<number>;
  readonly #changes: ConcurrentChanges;

  constructor(atStart: ReadonlySet<number>, changes: ConcurrentChanges) {
    this.atStart = atStart;
    this.#changes = changes;
  }

  get isEmpty(): boolean {
    return this.atStart.size + this.#changes.changedSlots.size === 0;
  }

  has(slot: number): boolean {
    return this.atStart.has(slot) || this.#changes.changedSlots.has(slot);
  }
}

/** Null where an index that it needs is not there, or too much is unsettled. */
export function* openSearch(inputs: SearchInputs): Steps<IndexSearch | null> {
  const { query: { filter, sort }, candidates, changes, indexes } = inputs;
  if (!knowsText(filter, candidates)) return null;
  // All are asked for before any is missed, so that all are made at once.
  const columns = columnsFor(filter).map((name) => indexes.findColumn(name));
  const [firstOrder] = sort.orders;
  const order = firstOrder === undefined ? null : indexes.findOrder(firstOrder.key);
  if (!columns.every((column) => column !== null)) return null;
  const { unindexed = null, unindexedCount = 0 } = candidates ?? {};
  if (indexes.pendingSlots.size + unindexedCount > KNOWN_UNSETTLED_MAX) return null;
  const atStart = new Set(indexes.pendingSlots.keys());
  for (let slot = unindexed?.next(0) ?? -1; slot >= 0; slot = unindexed?.next(slot + 1) ?? -1) {
    atStart.add(slot);
  }
  const matches = yield* intersect(columns, filter, candidates?.slots ?? null);
  return {
    ...inputs, order, hasOrder: firstOrder === undefined || order !== null, matches,
    unsettled: new UnsettledSlots(atStart, changes),
  };
}

/** Whether the candidates are the matches of all conditions that no column answers. */
function knowsText(filter: BookFilter, candidates: Candidates | null): boolean {
  return candidates === null
    ? !hasTextConditions(filter) && filter.isbns.length === 0 : candidates.isExact;
}

/** The slots that all columns match, of `slots` if it is given. Null: there is no condition. */
function* intersect(
  columns: readonly BookColumn[], filter: BookFilter, slots: BitSet | null,
): Steps<BitSet | null> {
  const sets = slots === null ? [] : [slots];
  for (const column of columns) sets.push(yield* column.match(filter));
  const [first, ...others] = sets;
  if (first === undefined || others.length === 0) return first ?? null;
  // A set belongs to its column, or to the caller.
  const common = first.copy();
  for (const set of others) common.retain(set);
  return common;
}

/** Whether the book in a slot is known to match. */
export function matchesSettled({ matches, unsettled }: IndexSearch, slot: number): boolean {
  return (matches === null || matches.has(slot)) && !unsettled.has(slot);
}

/** Whether the order was dropped since the search was opened, so that no walk may go on. */
export function hasLostOrder({ order, indexes }: IndexSearch): boolean {
  return order !== null && !indexes.keepsOrder(order);
}

/** A walk that begins after the cursor or, where further keys sort, with the first equal book. */
export function openWalk({ collection, query: { sort, after }, order }: IndexSearch): SlotWalk {
  const { orders: [firstOrder, ...furtherOrders], isIdDescending } = sort;
  if (firstOrder === undefined || order === null) {
    return new IdWalk(collection, isIdDescending, after?.id ?? null);
  }
  const from = after === null ? null : {
    value: after.sortValues[0] ?? null, id: furtherOrders.length === 0 ? after.id : null,
  };
  return new OrderWalk(order, { isDescending: firstOrder.isDescending, isIdDescending, from });
}

/** A walk through an order, or through the ids. */
type SlotWalk = Pick<OrderWalk, 'next' | 'reads'>;

class IdWalk implements SlotWalk {
  reads = 0;
  readonly #walk: Walk;

  constructor(collection: Collection, isDescending: boolean, after: string | null) {
    this.#walk = collection.walk({ isDescending, after });
  }

  next(accepts: (slot: number) => boolean, readsMax: number): number {
    for (let count = 0; count < readsMax; count += 1) {
      this.reads += 1;
      const slot = this.#walk.next();
      if (slot < 0) return WALK_END;
      if (accepts(slot)) return slot;
    }
    return WALK_PAUSE;
  }
}
