/**
 * The loop by which every query finds its books. A query is a source of slots, what is still to be
 * checked of their books, and a sink that takes what matches:
 *
 *   source      an order or the ids, from a cursor on; the slots that match; all books, by id
 *   check       the conditions that no index has answered
 *   sink        a page, a whole answer (find-books.ts); facets, suggestions, duplicates
 *
 * The indexes say which slots match: those of the word index and of the columns are intersected as
 * bits. Where they answer all conditions, no book is read to know that it matches.
 *
 * **Changes.** The indexes may know a book as it was: the books of pending slots, those that the
 * word index has not seen yet, and those that change while the query runs. These slots are
 * unsettled. A source by indexes passes over them, and the loop looks at their books in the end. A
 * book that the sink has taken is not looked at again, even if it changes. So a book that does not
 * change is found as it is, and one that changes is found once at most, as it was at some time
 * while the query ran. All books as a source can be relied on without an index: they are the scan.
 *
 * **Turns.** The loop yields after a few books or some thousand looks. Whoever runs it stops it
 * between two turns when nobody waits any more; it holds nothing that needs closing.
 */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import { OrderWalk, WALK_END, WALK_PAUSE } from '../engine/order-walk.ts';
import type { SlotOrder } from '../engine/slot-order.ts';
import type { ValueColumn } from '../engine/value-column.ts';
import type { IndexHost } from '../index/index-host.ts';
import { createValueCheck, hasConditions, isAboutTexts } from '../query/book-filter.ts';
import type { BookFilter, ValueQuestion } from '../query/book-filter.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';
import { TextFilter } from './text-filter.ts';

/** The inputs from which a query is answered. */
type SearchInputs<Query = Pick<BookQuery, 'filter' | 'sort'>> = {
  readonly collection: Collection;
  readonly query: Query;
  /** They record since before the indexes are asked. */
  readonly changes: ConcurrentChanges;
  /** null: every query is a scan. */
  readonly indexes: SearchIndexes | null;
};

/** The part of the indexes that a search needs. */
export type SearchIndexes = Pick<IndexHost,
  'openWords' | 'findColumn' | 'findOrder' | 'copyPending' | 'askOrDrop'>;

export type MatchSearch<Query = Pick<BookQuery, 'filter' | 'sort'>> =
  SearchInputs<Query> & IndexAnswer;

/** The knowledge of the indexes about a query. */
type IndexAnswer = {
  /** The order of the first key; null: there is no index of it, or ids are the order. */
  readonly order: SlotOrder | null;
  /**
   * Slots that were settled at the start: all of them that match are among these. Null: all may
   * match. The set does not follow changes.
   */
  readonly slots: BitSet | null;
  /** How many slots these are; null for all. */
  readonly slotCount: number | null;
  /** Whether the books of these slots match the text conditions, so that no text is read. */
  readonly areTermsKnown: boolean;
  /** Whether all of these slots match, so that no book is read to know it. */
  readonly isExact: boolean;
  /** Whether no book has the words, as far as the word index is settled. */
  readonly lacksWords: boolean;
  /** The slots that were pending at the start; null: none was. */
  readonly pending: BitSet | null;
  /** The slots that were unsettled at the start, those pending among them; null: none was. */
  readonly unsettled: BitSet | null;
  /** Whether an index is relied on, so that slots that change are unsettled. */
  readonly isIndexed: boolean;
};

/**
 * The sources of slots:
 *
 *   order   those after the cursor, in order of the first key or the ids. The sink may end it, so
 *           the matches are counted without it
 *   slots   those that may match, as the indexes say
 *   books   all books by id, without relying on any index
 */
type SlotSource =
  /** It is given up after `looksMax` looks. */
  | { readonly kind: 'order'; readonly walk: OrderedWalk; readonly looksMax: number }
  | { readonly kind: 'slots' | 'books'; readonly walk: SlotWalk };

interface SlotWalk {
  /**
   * The next slot that is accepted, or `WALK_END`. A walk may pause: it gives `WALK_PAUSE` after
   * `looksMax` looks, and the next call goes on from there. Walks of books and of an order pause;
   * `SlotSetWalk` never does. `accepts` may be asked about a slot twice.
   */
  next(accepts: (slot: number) => boolean, looksMax: number): number;
}

interface OrderedWalk extends SlotWalk {
  /** How many slots were looked at. */
  readonly looks: number;
}

/** Takes what matches. */
export interface MatchSink {
  /** Whether it reads the books; else it gets none. */
  readonly readsBooks: boolean;
  /** `isLate`: after the source has ended. Returns whether further books of it are of use. */
  take(bytes: Buffer, slot: number, isLate: boolean): boolean;
}

type SearchEnd = 'looks-exhausted' | { readonly total: number };

const LOOKS_PER_STEP = 4096;
// The work between two looks at the clock: as much as to read some 20 books.
const WORK_PER_YIELD = 32;
const BYTES_PER_WORK = 512;
// A look for words costs as much as to read so many members.
const TEXT_WORK = 4;
// To keep a slot that is not read.
const SLOT_WORK = 1 / 2;
/** Passed in place of a book to a sink that reads no books. */
export const NO_BOOK = Buffer.alloc(0);

export function* openSearch<Query extends Pick<BookQuery, 'filter' | 'sort'>>(
  { collection, query, changes, indexes }: SearchInputs<Query>,
): Steps<MatchSearch<Query>> {
  const answer = indexes === null ? createScan(query.filter)
    : yield* askIndexes(indexes, query);
  return { collection, query, changes, indexes, ...answer };
}

function createScan(filter: BookFilter): IndexAnswer {
  return {
    order: null, slots: null, slotCount: null, pending: null, unsettled: null, isIndexed: false,
    areTermsKnown: !isAboutTexts(filter), isExact: !hasConditions(filter), lacksWords: false,
  };
}

/** If an index fails meanwhile, its conditions are checked by reading books. */
function* askIndexes(
  indexes: SearchIndexes, { filter, sort }: Pick<BookQuery, 'filter' | 'sort'>,
): Steps<IndexAnswer> {
  const [firstOrder] = sort.orders;
  // All are asked for before any is missed, so that all are made at once.
  const words = indexes.openWords(filter);
  const order = firstOrder === undefined ? null : indexes.findOrder(firstOrder.key);
  const questions = filter.values.flatMap((condition) => {
    const { column: name } = condition.row;
    return name === undefined ? [] : [{ condition, column: indexes.findColumn(name) }];
  });
  const isIndexed = words !== null || order !== null
    || questions.some(({ column }) => column !== null);
  // Books that change from now on are among the changes that are recorded.
  const pending = isIndexed ? indexes.copyPending() : null;
  const unsettled = unite(pending, words?.unseen ?? null);
  let slots = words === null ? null : yield* words.find();
  const areTermsKnown = slots === null ? !isAboutTexts(filter) : words?.isExact === true;
  if (unsettled !== null) slots?.subtract(unsettled);
  const lacksWords = slots !== null && slots.next(0) < 0;
  // A condition that no index knows is checked by reading.
  let isExact = areTermsKnown
    && filter.values.every(({ row: { column, term } }) => (column ?? term) !== undefined);
  for (const { condition, column } of questions) {
    const matching = column === null ? null
      : yield* indexes.askOrDrop([column], () => column.match(condition));
    if (matching === null) {
      isExact = false;
    } else if (slots === null) {
      // A column's set is its own, and follows changes.
      slots = matching.copy();
      if (unsettled !== null) slots.subtract(unsettled);
    } else {
      slots.retain(matching);
    }
  }
  return {
    order, slots, slotCount: slots?.count() ?? null, pending, unsettled, isIndexed, areTermsKnown,
    isExact, lacksWords,
  };
}

/** The search among those of its books alone that a column finds; null where the column fails. */
export function* narrowSearch<Query>(
  search: MatchSearch<Query>, indexes: SearchIndexes, column: ValueColumn, question: ValueQuestion,
): Steps<MatchSearch<Query> | null> {
  const unsettled = unite(search.unsettled, indexes.copyPending());
  const matching = yield* indexes.askOrDrop([column], () => column.match(question));
  if (matching === null) return null;
  const slots = matching.copy();
  if (search.slots !== null) slots.retain(search.slots);
  return searchAmong(search, slots, unsettled);
}

/**
 * The search for a sink that reads columns in place of books: slots that the columns have not taken
 * in are unsettled.
 */
export function* settleSearch<Query>(
  search: MatchSearch<Query>, indexes: SearchIndexes,
): Steps<MatchSearch<Query>> {
  const unsettled = unite(search.unsettled, indexes.copyPending());
  const slots = search.slots?.copy() ?? (yield* listSlots(search.collection));
  return searchAmong(search, slots, unsettled);
}

/** The search among these slots, but the unsettled ones, which are looked at in the end. */
function searchAmong<Query>(
  search: MatchSearch<Query>, slots: BitSet, unsettled: BitSet | null,
): MatchSearch<Query> {
  if (unsettled !== null) slots.subtract(unsettled);
  return { ...search, slots, slotCount: slots.count(), unsettled, isIndexed: true };
}

/** All slots, rising: columns read the values of neighbouring slots fast. */
function* listSlots(collection: Collection): Steps<BitSet> {
  const slots = new BitSet(collection.slotBound);
  const walk = collection.walk();
  let looks = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    slots.add(slot);
    looks += 1;
    if (looks % LOOKS_PER_STEP === 0) yield;
  }
  return slots;
}

function unite(left: BitSet | null, right: BitSet | null): BitSet | null {
  if (left === null || right === null) return left ?? right;
  const both = left.copy();
  both.unite(right);
  return both;
}

/** Has the sink take what matches of the source, and of the slots that are unsettled. */
export function* findMatches(
  search: MatchSearch, source: SlotSource, sink: MatchSink,
): Steps<SearchEnd> {
  const { collection, changes: { changedSlots, deletedSlots }, slots, unsettled } = search;
  const { walk, kind } = source;
  const check = createBookCheck(search.query.filter);
  const textWork = search.query.filter.words.length > 0 ? TEXT_WORK : 0;
  // The slots that were taken: few of an order, perhaps many of all.
  const takenSlots: Pick<BitSet, 'has'> & { add(slot: number): unknown } =
    kind === 'order' ? new Set<number>() : new BitSet();
  const mayComeTwice = search.isIndexed || kind === 'books';
  const isSettled = (slot: number): boolean => !search.isIndexed
    || (unsettled?.has(slot) !== true && !changedSlots.has(slot));
  // Most slots that do not match are told by their bit alone.
  const acceptsOfBooks = (slot: number): boolean => slots?.has(slot) !== false || !isSettled(slot);
  const acceptsSettled = (slot: number): boolean => slots?.has(slot) !== false && isSettled(slot);
  const accepts = kind === 'books' ? acceptsOfBooks : acceptsSettled;
  let work = 0;
  let takenCount = 0;
  const take = (slot: number, isLate: boolean): boolean => {
    const isUnsettled = isLate || (kind === 'books' && !isSettled(slot));
    const isKnown = search.isExact && !isUnsettled;
    const bytes = isKnown && !sink.readsBooks ? NO_BOOK : collection.bytesAt(slot);
    work += bytes === NO_BOOK ? SLOT_WORK : 1 + (bytes?.length ?? 0) / BYTES_PER_WORK;
    if (bytes === undefined || takenSlots.has(slot)) return true;
    if (!isKnown) {
      work += textWork;
      if (!check(bytes, search.areTermsKnown && !isUnsettled)) return true;
    }
    // The same book may have been taken in a slot that it was deleted from later.
    const slotsBefore = isLate && deletedSlots.size > 0 ? deletedSlots.get(readId(bytes)) : null;
    if (slotsBefore?.some((before) => takenSlots.has(before)) === true) return true;
    if (mayComeTwice) takenSlots.add(slot);
    takenCount += 1;
    return sink.take(bytes, slot, isLate);
  };
  for (let isWanted = true; isWanted || kind !== 'order';) {
    const slot = walk.next(accepts, LOOKS_PER_STEP);
    if (slot === WALK_END) break;
    if (source.kind === 'order' && source.walk.looks > source.looksMax) return 'looks-exhausted';
    if (slot !== WALK_PAUSE) isWanted = take(slot, false);
    if (slot !== WALK_PAUSE && work < WORK_PER_YIELD) continue;
    work = 0;
    yield;
  }
  if (kind === 'books') return { total: takenCount };
  const earlyCount = takenCount;
  let changedCount = 0;
  for (const slot of listUnsettled(search)) {
    if (kind === 'order' && !takenSlots.has(slot) && slots?.has(slot) === true) changedCount += 1;
    take(slot, true);
    if (work < WORK_PER_YIELD) continue;
    work = 0;
    yield;
  }
  return {
    total: kind === 'order' ? countInOrder(search, changedCount, takenCount - earlyCount)
      : takenCount,
  };
}

/**
 * The number of matches where an order is the source. The order may end early, so the books that it
 * gave are not counted. All slots match, but the `changedCount` that have changed and were not
 * taken before; of the unsettled slots `lateCount` were found to match in the end. Without a set of
 * slots all books match.
 */
function countInOrder(
  { collection, slots, slotCount }: MatchSearch, changedCount: number, lateCount: number,
): number {
  return slots === null ? collection.size : (slotCount ?? 0) - changedCount + lateCount;
}

/** The unsettled slots. One that changes meanwhile comes last, and so in its turn. */
function* listUnsettled(
  { unsettled, isIndexed, changes: { changedSlots } }: MatchSearch,
): Iterable<number> {
  for (let slot = unsettled?.next(0) ?? -1; slot >= 0; slot = unsettled?.next(slot + 1) ?? -1) {
    if (!changedSlots.has(slot)) yield slot;
  }
  if (isIndexed) yield* changedSlots;
}

/**
 * The same through the first key's order, of which there is an index, or the ids, from the cursor
 * on. Null where the order fails: then what the sink has taken is void. An error of the sink, of
 * the check or of a read drops the order too, as it cannot be told from an error of the order.
 */
export function* findInOrder(
  search: MatchSearch<BookQuery>, sink: MatchSink, looksMax = Infinity,
): Steps<SearchEnd | null> {
  const { indexes, order, isExact } = search;
  assert(isExact, 'in order, matches are counted without a look at their books');
  const find = (): Steps<SearchEnd> =>
    findMatches(search, createOrderSource(search, looksMax), sink);
  if (indexes === null || order === null) return yield* find();
  return yield* indexes.askOrDrop([order], find);
}

function createOrderSource(
  { collection, query: { sort, after }, order, pending, changes }: MatchSearch<BookQuery>,
  looksMax: number,
): SlotSource {
  const { orders: [firstOrder, ...furtherOrders], isIdDescending } = sort;
  const kind = 'order';
  if (firstOrder === undefined || order === null) {
    const walk = new IdWalk(collection, isIdDescending, after?.id ?? null);
    return { kind, looksMax, walk };
  }
  // If further keys sort, the walk begins with the first book of the cursor's value.
  const from = after === null ? null : {
    value: after.sortValues[0] ?? null, id: furtherOrders.length === 0 ? after.id : null,
  };
  const { changedSlots } = changes;
  const readBook = (slot: number): Buffer | undefined =>
    pending?.has(slot) === true || changedSlots.has(slot) ? undefined : collection.bytesAt(slot);
  const { isDescending } = firstOrder;
  const walk = new OrderWalk(order, { isDescending, isIdDescending, from, readBook });
  return { kind, looksMax, walk };
}

/** The slots that may match or, where no index says which, all books. */
export function createSlotSource(search: MatchSearch): SlotSource {
  const { slots } = search;
  if (slots === null) return createBookSource(search);
  return { kind: 'slots', walk: new SlotSetWalk(slots) };
}

/** All books, in the order of ids that ties have. */
export function createBookSource(
  { collection, query: { sort: { isIdDescending } } }: MatchSearch,
): SlotSource {
  return { kind: 'books', walk: new IdWalk(collection, isIdDescending, null) };
}

class IdWalk implements OrderedWalk {
  looks = 0;
  readonly #walk: Walk;

  constructor(collection: Collection, isDescending: boolean, after: string | null) {
    this.#walk = collection.walk({ isDescending, after });
  }

  next(accepts: (slot: number) => boolean, looksMax: number): number {
    for (let count = 0; count < looksMax; count += 1) {
      this.looks += 1;
      const slot = this.#walk.next();
      if (slot < 0) return WALK_END;
      if (accepts(slot)) return slot;
    }
    return WALK_PAUSE;
  }
}

class SlotSetWalk implements SlotWalk {
  readonly #slots: BitSet;
  #slot = -1;

  constructor(slots: BitSet) {
    this.#slots = slots;
  }

  next(accepts: (slot: number) => boolean): number {
    do {
      this.#slot = this.#slots.next(this.#slot + 1);
    } while (this.#slot >= 0 && !accepts(this.#slot));
    return this.#slot < 0 ? WALK_END : this.#slot;
  }
}

/** Checks a stored book for all conditions, or with `areTermsKnown` for those on values alone. */
export function createBookCheck(
  filter: BookFilter,
): (bytes: Buffer, areTermsKnown?: boolean) => boolean {
  const hasText = filter.words.length > 0;
  const matchesValues = createValueCheck(filter);
  let textFilter: TextFilter | null = null;
  return (bytes, areTermsKnown = false) => {
    if (!matchesValues(bytes)) return false;
    if (!hasText || areTermsKnown) return true;
    textFilter ??= new TextFilter(filter);
    return textFilter.matches(bytes);
  };
}
