/**
 * Finds the books of a list: a page, or all of them, in the order that is asked for. It chooses the
 * source of the loop (match-search.ts), and has its sinks. What they hold:
 *
 *   a page                   up to twice `limit` + 1 books
 *   all of up to SPARSE_MAX  the books
 *   all                      a slot of each, and its sort keys where no order has them
 */
import { assert } from '../../base/assert.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Steps } from '../../base/turns.ts';
import { planPage, planScan, planWhole, planWholeScan, replanPage } from '../engine/planner.ts';
import type { Plan } from '../engine/planner.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { isAfterCursor, readSortValues } from '../query/book-sort.ts';
import { createBookSource, findInOrder, findMatches } from './match-search.ts';
import type { MatchSink } from './match-search.ts';
import type { MatchSearch } from './open-search.ts';
import { NumberList, createKeyColumn } from './sort-columns.ts';
import type { KeyColumn } from './sort-columns.ts';
import { TopEntries } from './top-k.ts';
import type { BookEntry } from './top-k.ts';

type ListSearch = MatchSearch<BookQuery>;

/** How a query was answered: by which plan, and why by that. */
export type PlanExplanation = {
  /** A short name of the plan, such as `scan`. */
  readonly name: string;
  /** A sentence with the counts that led to the plan. */
  readonly explain: () => string;
};

/**
 * `entries` are the books after the cursor, in order: one more than the limit where there are so
 * many. `total` counts those before the cursor, too.
 */
export type PageResult = {
  readonly kind: 'page';
  readonly entries: readonly BookEntry[]; readonly total: number; readonly plan: PlanExplanation;
};
/** `slots` are those of the books after the cursor, in order. */
export type WholeResult = {
  readonly kind: 'whole';
  readonly slots: Uint32Array; readonly total: number; readonly plan: PlanExplanation;
};

const SLOTS_COPIED_PER_YIELD = 4096;
// So many books are held to be sorted. Beyond it all books are gone through, which holds less but
// takes longer: among a million books the walk alone takes most of the 20 ms of a search.
const SPARSE_MAX = 16_384;

/**
 * Whether all books that match are read and sorted in memory: at most SPARSE_MAX may match, and it
 * costs less than to go through an order, which reads none.
 */
export function fitsInMemory(search: ListSearch): boolean {
  const { slotCount, unsettled } = search;
  if (slotCount === null || slotCount + (unsettled?.count() ?? 0) > SPARSE_MAX) return false;
  return !canListWithoutReading(search) || !choosePlan(search, Infinity).isInOrder;
}

/** Whether an index has every match in the asked order, and nothing is pending or has changed. */
function canListWithoutReading(
  { changes, isExact, unsettled, order, query: { sort: { orders } } }: ListSearch,
): boolean {
  const hasOrder = orders.length === 0 || (orders.length === 1 && order !== null);
  return isExact && hasOrder && unsettled === null && changes.changedSlots.size === 0;
}

/** The books of a page; with the limit null all that match, which have to be few. */
export function* findPage(search: ListSearch, limit: number | null): Steps<PageResult> {
  const wantedCount = limit === null ? Infinity : limit + 1;
  let plan = choosePlan(search, wantedCount);
  for (;;) {
    const { isInOrder, looksMax } = plan;
    const { orders } = search.query.sort;
    const top = new TopEntries(search.query, wantedCount, {
      isInOrder: isInOrder || (search.slots === null && orders.length === 0),
      isAfterCursor: isInOrder && orders.length <= 1,
    });
    const end = isInOrder ? yield* findInOrder(search, top, looksMax)
      : yield* findMatches(search, top);
    if (end === null) return yield* findPage({ ...search, order: null }, limit);
    if (end === 'looks-exhausted') plan = replanPage(plan);
    else return { kind: 'page', entries: yield* top.finish(), total: end.total, plan };
  }
}

function choosePlan(
  { collection, query: { sort }, order, isExact, slotCount }: ListSearch, wantedCount: number,
): Plan {
  const { orders: [firstOrder] } = sort;
  const bookCount = collection.size;
  if (!isExact) return planScan(bookCount, slotCount);
  return planPage({
    bookCount, matchCount: slotCount, wantedCount, orderText: firstOrder?.key ?? 'id',
    hasOrder: firstOrder === undefined || order !== null,
  });
}

/**
 * The slots of all books after the cursor. `changes` keeps the bytes of these books as they are
 * when they are found, until its `take` is called for each.
 */
export function* findWhole(search: ListSearch): Steps<WholeResult> {
  return (yield* listInOrder(search)) ?? (yield* sortAll(search));
}

/** Null where no index has the order, where it fails, and where something is written meanwhile. */
function* listInOrder(search: ListSearch): Steps<WholeResult | null> {
  const { collection, changes, slotCount, query: { sort: { orders } } } = search;
  if (!canListWithoutReading(search)) return null;
  const slots = new Uint32Array(slotCount ?? collection.size);
  let count = 0;
  const end = yield* findInOrder(search, {
    readsBooks: false,
    take(_, slot) {
      slots[count] = slot;
      count += 1;
      changes.keepUntilTaken(slot);
      return changes.changedSlots.size === 0;
    },
  });
  if (end === null || end === 'looks-exhausted' || changes.changedSlots.size > 0) {
    changes.releaseKept();
    return null;
  }
  changes.stopRecording();
  const plan = planWhole(collection.size, slotCount, orders[0]?.key ?? 'id');
  return { kind: 'whole', slots: slots.subarray(0, count), total: end.total, plan };
}

function* sortAll(search: ListSearch): Steps<WholeResult> {
  const { changes, collection, slotCount } = search;
  const plan = planWholeScan(collection.size, slotCount, SPARSE_MAX);
  const sink = new KeyedSlots(search);
  const end = yield* findMatches(search, sink, createBookSource(search));
  assert(end !== 'looks-exhausted');
  // To sort may take long, and need not record more.
  changes.stopRecording();
  return { kind: 'whole', slots: yield* sink.finish(), total: end.total, plan };
}

/** Slots with their sort keys, which come by their ids: ties stay so. */
class KeyedSlots implements MatchSink {
  readonly readsBooks = true;
  readonly #search: ListSearch;
  readonly #slots = new NumberList();
  // Empty if the books come in the order of the response.
  readonly #columns: readonly KeyColumn[];

  constructor(search: ListSearch) {
    this.#search = search;
    this.#columns = search.query.sort.orders.map(createKeyColumn);
  }

  take(bytes: Buffer, slot: number): boolean {
    const { changes, query: { sort, after } } = this.#search;
    const sortValues = readSortValues(sort, bytes);
    if (!isAfterCursor(after, sort, sortValues, bytes)) return true;
    for (const [index, column] of this.#columns.entries()) column.push(sortValues[index] ?? null);
    this.#slots.push(slot);
    changes.keepUntilTaken(slot);
    return true;
  }

  * finish(): Steps<Uint32Array> {
    const order = this.#columns.length === 0 ? null
      : yield* sortIndexes(this.#slots.length, (left, right) => this.#compare(left, right));
    const slots = new Uint32Array(this.#slots.length);
    for (let index = 0; index < slots.length; index += 1) {
      slots[index] = this.#slots.at(order?.[index] ?? index);
      if (index % SLOTS_COPIED_PER_YIELD === 0) yield;
    }
    return slots;
  }

  #compare(left: number, right: number): number {
    for (const column of this.#columns) {
      const order = column.compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  }
}
